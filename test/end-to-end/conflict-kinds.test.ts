// Every kind of conflict arrives in the packet with its kind, and can be settled by the commands that are proposed.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  executable,
  type Files,
  lines,
  linkTo,
  Repository,
  readState,
  repositoryTemplate,
} from '../support/repo.ts';
import { askSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    text: lines('text', 20),
    other: 'other\n',
    run: '#!/bin/sh\nexit 0\n',
    link: linkTo('text'),
    bin: Buffer.from([0, 1, 2, 3, 4]),
  });
});

const commit = (digit: string): { mode: '160000'; content: string } => ({
  mode: '160000',
  content: digit.repeat(40),
});

interface Case {
  readonly kind: string;
  /** Another kind by which git may know it. */
  readonly or?: string;
  readonly base?: Files;
  readonly a: Files;
  readonly b: Files;
  /** One of the conflicted paths. */
  readonly path: string;
  /** What the paths hold when every conflict was settled with `--take change`, for either order of the sources. */
  readonly settled: (repo: Repository) => void;
}

const CASES: readonly Case[] = [
  {
    kind: 'content',
    a: { text: lines('text', 20, { 5: 'a' }) },
    b: { text: lines('text', 20, { 5: 'b' }) },
    path: 'text',
    settled: (repo) =>
      expect(['a', 'b'].map((by) => lines('text', 20, { 5: by }))).toContain(repo.blob('main', 'text')),
  },
  {
    kind: 'add-add',
    a: { new: 'by a\n' },
    b: { new: 'by b\n' },
    path: 'new',
    settled: (repo) => expect(['by a\n', 'by b\n']).toContain(repo.blob('main', 'new')),
  },
  {
    kind: 'modify-delete',
    a: { text: null },
    b: { text: lines('text', 20, { 5: 'b' }) },
    path: 'text',
    settled: (repo) =>
      expect([undefined, lines('text', 20, { 5: 'b' })]).toContain(repo.blob('main', 'text')),
  },
  {
    kind: 'rename-rename',
    a: { text: null, 'text-a': lines('text', 20) },
    b: { text: null, 'text-b': lines('text', 20) },
    path: 'text-a',
    settled: (repo) => {
      const kept = repo.files('main').filter((path) => path.startsWith('text'));
      expect(kept.length).toBeGreaterThan(0);
      for (const path of kept) expect(repo.blob('main', path)).toBe(lines('text', 20));
    },
  },
  {
    kind: 'rename-delete',
    a: { text: null, 'text-a': lines('text', 20, { 5: 'a' }) },
    b: { text: null },
    path: 'text-a',
    settled: (repo) => {
      expect([undefined, lines('text', 20, { 5: 'a' })]).toContain(repo.blob('main', 'text-a'));
      expect(repo.blob('main', 'text')).toBeUndefined();
    },
  },
  {
    kind: 'rename-add',
    or: 'add-add',
    a: { text: null, new: lines('text', 20) },
    b: { new: 'something else\n' },
    path: 'new',
    settled: (repo) => expect([lines('text', 20), 'something else\n']).toContain(repo.blob('main', 'new')),
  },
  {
    kind: 'file-directory',
    a: { thing: 'a file\n' },
    b: { 'thing/inside': 'in a folder\n' },
    path: 'thing',
    settled: (repo) => {
      const kept = repo.files('main').filter((path) => path.startsWith('thing'));
      expect(kept.length).toBeGreaterThan(0);
    },
  },
  {
    kind: 'mode',
    a: { tool: executable('#!/bin/sh\n') },
    b: { tool: '#!/bin/sh\n' },
    path: 'tool',
    settled: (repo) => expect(repo.blob('main', 'tool')).toBe('#!/bin/sh\n'),
  },
  {
    kind: 'symlink',
    a: { link: linkTo('other') },
    b: { link: linkTo('run') },
    path: 'link',
    settled: (repo) => {
      expect(repo.entry('main', 'link')?.mode).toBe('120000');
      expect(['other', 'run']).toContain(repo.blob('main', 'link'));
    },
  },
  {
    kind: 'submodule',
    base: { '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n', sub: commit('1') },
    a: { sub: commit('2') },
    b: { sub: commit('3') },
    path: 'sub',
    settled: (repo) =>
      expect([commit('2').content, commit('3').content]).toContain(repo.entry('main', 'sub')?.oid),
  },
  {
    kind: 'binary',
    a: { bin: Buffer.from([0, 1, 2, 3, 5]) },
    b: { bin: Buffer.from([0, 1, 2, 3, 6]) },
    path: 'bin',
    settled: (repo) =>
      expect(['\0\u0001\u0002\u0003\u0005', '\0\u0001\u0002\u0003\u0006']).toContain(
        repo.blob('main', 'bin'),
      ),
  },
];

for (const one of CASES) {
  for (const take of ['change', 'target'] as const) {
    test(`a ${one.kind} conflict is handed over and settled with --take ${take}`, async () => {
      const repo = newRepo();
      if (one.base !== undefined) {
        repo.git('checkout', '-q', '--detach');
        repo.commitTo('main', one.base);
      }
      repo.git('checkout', '-q', '-B', 'elsewhere', 'main');
      repo.commitTo('a', one.a);
      repo.commitTo('b', one.b);
      const before = readState(repo);

      const stopped = await askSennit(['land', 'a', 'b', '--into', 'main', '--no-gate'], 3, { cwd: repo });
      expect(stopped.result).toBe('conflicts');
      const found = stopped.conflicts.find(({ kind }) => kind === one.kind || kind === one.or);
      expect(found, JSON.stringify(stopped.conflicts, null, 2)).toBeDefined();
      const packet = readFileSync(stopped.handover?.packet ?? '', 'utf8');
      expect(packet).toContain(`"${found?.kind}"`);
      expect(packet).toContain(one.path);
      const mentioned = stopped.conflicts.map((conflict) => JSON.stringify(conflict)).join('');
      expect(mentioned).toContain(one.path);
      expect(readState(repo).refs).toEqual(before.refs);

      // One side for every path: each answer tells what is still open.
      let open = stopped.conflicts.map((conflict) => conflict.path);
      for (let round = 0; round < 6 && open[0] !== undefined; round += 1) {
        const left = await askSennit(['resolve', open[0], '--take', take], 0, { cwd: repo });
        open = left.conflicts.map((conflict) => conflict.path);
      }
      expect(open).toEqual([]);
      const answer = await askSennit(['continue'], 0, { cwd: repo });
      expect(answer.result).toBe('landed');
      one.settled(repo);
      // Nothing but the contested names has changed.
      const stray = repo
        .changed('main~1', 'main')
        .filter((path) => !/^(text|new|thing|tool|link|sub|bin)/.test(path));
      expect(stray).toEqual([]);
      if (one.kind !== 'submodule') repo.requireSound();
    });
  }
}

test('a side that deletes is taken as a deletion', async () => {
  const repo = newRepo();
  repo.commitTo('deletes', { text: null });
  repo.commit('main edits', { text: lines('text', 20, { 5: 'main' }) });
  await askSennit(['land', 'deletes', '--into', 'main', '--no-gate'], 3, { cwd: repo });
  await askSennit(['resolve', 'text', '--take', 'change'], 0, { cwd: repo });
  const answer = await askSennit(['continue'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.blob('main', 'text')).toBeUndefined();
  expect(repo.has('text')).toBe(false);
});

test('a conflict over a deletion can be settled in place by deleting or keeping the file', async () => {
  for (const keep of [true, false]) {
    const repo = newRepo();
    repo.commitTo('deletes', { text: null, marker: `${keep}\n` });
    repo.commit('main edits', { text: lines('text', 20, { 5: 'main' }) });
    const stopped = await askSennit(['land', 'deletes', '--into', 'main', '--no-gate'], 3, { cwd: repo });
    const scratch = new Repository(repo.place, stopped.handover?.worktree ?? '');
    if (keep) scratch.git('add', 'text');
    else scratch.write('text', null);
    await askSennit(['continue'], 0, { cwd: repo });
    expect(repo.blob('main', 'text') !== undefined).toBe(keep);
  }
});
