import { expect, test } from 'vitest';
import type { ProcessEntry } from './platform.ts';
import { planMembers } from './process-tree.ts';

const TREE = { marker: 'mine', leader: 100 };

function entry(pid: number, more: Partial<ProcessEntry> = {}): ProcessEntry {
  return { pid, parent: 1, group: pid, session: pid, started: String(pid), runs: '', ...more };
}

function pids(all: ProcessEntry[], leaderEnded: boolean): number[] {
  return planMembers(all, TREE, { leaderEnded, self: 7 }).map(({ pid }) => pid);
}

test('members are known by marker, group, session and descent, in whatever order they are listed', () => {
  const all = [
    entry(9, { parent: 8 }),
    entry(8, { parent: 203 }),
    entry(100, { runs: 'mine' }),
    entry(201, { runs: 'outer:mine:inner' }),
    entry(202, { group: 100 }),
    entry(203, { session: 100 }),
    entry(300, { runs: 'minefield:other' }),
    entry(301),
  ];
  expect(pids(all, false).sort((a, b) => a - b)).toEqual([8, 9, 100, 201, 202, 203]);
});

test('this process is never a member, not even inside a run of its own marker', () => {
  expect(pids([entry(7, { runs: 'mine', group: 100 }), entry(70, { parent: 7 })], false)).toEqual([]);
});

test('a stranger that got the number of the ended shell, and its group, are left alone', () => {
  const stranger = [entry(100), entry(101, { group: 100, session: 100 })];
  expect(pids(stranger, true)).toEqual([]);
  expect(pids([...stranger, entry(102, { runs: 'mine' })], true)).toEqual([102]);
  expect(pids([entry(101, { group: 100, session: 100 })], true)).toEqual([101]);
});

test('with the marker alone, only what carries it and descends from it is found', () => {
  const all = [
    entry(100),
    entry(101, { group: 100 }),
    entry(200, { runs: 'mine' }),
    entry(201, { parent: 200 }),
  ];
  const found = planMembers(all, { marker: 'mine', leader: undefined }, { leaderEnded: true, self: 7 });
  expect(found.map(({ pid }) => pid)).toEqual([200, 201]);
});
