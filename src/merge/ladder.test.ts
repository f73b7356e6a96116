import { expect, test } from 'vitest';
import type { Conflict } from '../model/conflict.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { RungName } from '../model/settings.ts';
import { type Attempt, climb, type Rung } from './ladder.ts';

const ENTRY = { mode: '100644' as const, oid: '1'.repeat(40) as Oid };

function conflict(path: string, kind: Conflict['kind'] = 'content'): Conflict {
  return {
    path: path as GitPath,
    kind,
    sides: { base: ENTRY, target: ENTRY, change: ENTRY },
    message: '',
    related: [],
    leftover: ENTRY,
    sources: ['a'],
    tried: [{ rung: 'text', reason: 'git stopped' }],
  };
}

/** A rung that settles the paths it is told to, and notes what it was asked. */
function rung(name: RungName, settles: readonly string[], asked: string[] = []): Rung {
  return {
    name,
    canTry: ({ kind }) => kind === 'content',
    attempt: ({ path }): Promise<Attempt> => {
      asked.push(`${name} ${path}`);
      return Promise.resolve(
        settles.includes(path)
          ? { outcome: 'settled', entry: ENTRY, reason: `by ${name}` }
          : { outcome: 'declined', reason: `${name} cannot` },
      );
    },
  };
}

const clock = (): (() => number) => {
  let at = 0;
  return () => {
    at += 1.4;
    return at;
  };
};

test('each conflict is settled by the first rung that can, and by no later one', async () => {
  const asked: string[] = [];
  const rungs = [rung('structure', ['x'], asked), rung('patch', ['x', 'y'], asked)];
  const { settled, left } = await climb([conflict('x'), conflict('y')], rungs, clock());
  expect(settled.map(({ path, rung }) => `${path} ${rung}`)).toEqual(['x structure', 'y patch']);
  expect(left).toEqual([]);
  expect(asked).toEqual(['structure x', 'structure y', 'patch y']);
});

test('what no rung settles is left with every reason, for the person who has to', async () => {
  const { settled, left } = await climb([conflict('x')], [rung('structure', []), rung('patch', [])], clock());
  expect(settled).toEqual([]);
  expect(left[0]?.tried).toEqual([
    { rung: 'text', reason: 'git stopped' },
    { rung: 'structure', reason: 'structure cannot' },
    { rung: 'patch', reason: 'patch cannot' },
  ]);
});

test('a rung is never asked about a kind that it is not for', async () => {
  const asked: string[] = [];
  const { left } = await climb([conflict('x', 'binary')], [rung('patch', ['x'], asked)], clock());
  expect(asked).toEqual([]);
  expect(left).toHaveLength(1);
});

test('a rung that fails fails the merge: its conflict is not passed on as if it had declined', async () => {
  const broken: Rung = {
    name: 'structure',
    canTry: () => true,
    attempt: () => Promise.reject(new Error('broken')),
  };
  await expect(climb([conflict('x')], [broken, rung('patch', ['x'])], clock())).rejects.toThrow('broken');
});

test('an empty ladder leaves everything as it was', async () => {
  const one = conflict('x');
  expect(await climb([one], [], clock())).toEqual({ settled: [], left: [one] });
});
