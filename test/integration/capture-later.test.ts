// What is asked of a workspace after its snapshot: is it still the same, and what would go with it.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asOid } from '../../src/model/ids.ts';
import { capture, gitWrapper, requestFor, workspacesOf } from '../support/captures.ts';
import { linkTo, type Repository, readState, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    f: 'v1\n',
    'dir/a': 'a\n',
    'dir/b': 'b\n',
    '.gitignore': 'node_modules/\n*.log\n.env\n',
  });
});

async function taken(options: { kept: boolean } = { kept: true }) {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: 'v2\n', 'dir/new': 'new\n', 'x.log': 'x\n' });
  const request = await requestFor(repo, a);
  const store = await workspacesOf(repo);
  const { tree } = await store.capture(request);
  if (!options.kept) rmSync(request.scratch, { recursive: true });
  return { repo, a, request, store, tree };
}

function looseObjects(repo: Repository): string {
  return repo.git('count-objects', '-v');
}

test('a workspace that stayed as it was does not differ, with or without what the capture kept', async () => {
  for (const kept of [true, false]) {
    const { repo, a, request, store, tree } = await taken({ kept });
    const before = [readState(a, { sennitRefs: true }), looseObjects(repo)];
    expect(await store.compare(request, tree)).toEqual([]);
    // Touched, ignored and re-indexed is not changed.
    utimesSync(a.path('f'), new Date(1), new Date(1));
    a.write('y.log', 'y\n');
    expect(await store.compare(request, tree)).toEqual([]);
    expect([readState(a), looseObjects(repo)][1]).toEqual(before[1]);
    a.git('add', '-A');
    expect(await store.compare(request, tree)).toEqual([]);
  }
});

test('every way to change a workspace after its capture is seen', async () => {
  const ways: readonly (readonly [path: string, change: (a: Repository) => void])[] = [
    ['f', (a) => a.write('f', 'v3\n')],
    ['f', (a) => a.write('f', null)],
    ['f', (a) => chmodSync(a.path('f'), 0o755)],
    ['dir/new', (a) => a.write('dir/new', 'NEW\n')],
    ['dir/late', (a) => a.write('dir/late', 'late\n')],
    ['dir/a', (a) => a.write('dir/a', linkTo('b'))],
    ['dir/b', (a) => a.commit('later', { 'dir/b': 'committed\n' })],
    ['sub/.gitignore', (a) => a.writeAll({ 'sub/.gitignore': '*\n' })],
    [
      'dir/a',
      (a) => {
        a.git('update-index', '--assume-unchanged', 'dir/a');
        a.write('dir/a', 'hidden\n');
      },
    ],
  ];
  for (const kept of [true, false]) {
    for (const [i, [path, change]] of ways.entries()) {
      const { a, request, store, tree } = await taken({ kept });
      change(a);
      expect(await store.compare(request, tree), `${i} ${kept}`).toEqual([path]);
    }
  }
});

test('work that a rule hides after the capture is seen, when the rule was there before', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('.gitignore', `${a.read('.gitignore')}*.ts\nf*\n`);
  const request = await requestFor(repo, a);
  const store = await workspacesOf(repo);
  const { tree } = await store.capture(request);
  expect(await store.compare(request, tree)).toEqual([]);
  a.write('fresh', 'hidden by a rule for names that are tracked\n');
  expect(await store.compare(request, tree)).toEqual(['fresh']);
});

test('a change back to the tree that is asked for is no difference', async () => {
  const { repo, a, request, store } = await taken();
  a.writeAll({ f: 'v1\n', 'dir/new': null });
  expect(await store.compare(request, asOid(repo.tree('main')))).toEqual([]);
});

test('another tree than the captured one is compared as it is asked for', async () => {
  const { repo, request, store } = await taken();
  expect(await store.compare(request, asOid(repo.tree('main')))).toEqual(['dir/new', 'f']);
});

test('comparing an untouched workspace is one look, without hashing', async () => {
  const { repo, request, tree } = await taken();
  const log = join(repo.place.root, 'calls');
  const program = gitWrapper(repo, `echo "$1" >> '${log}'`);
  expect(await (await workspacesOf(repo, { program })).compare(request, tree)).toEqual([]);
  expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(['config', 'status']);
});

test('what a capture kept does not change what the next capture holds', async () => {
  const { repo, a, request, store } = await taken();
  // Captured before, ignored now: the same as for a workspace that is captured for the first time.
  a.writeAll({ '.gitignore': `${a.read('.gitignore')}/dir/new\n`, 'dir/generated': 'x\n' });
  const again = await store.capture(request);
  rmSync(request.scratch, { recursive: true });
  expect(again).toEqual(await store.capture(request));
  expect(repo.entry(again.tree, 'dir/new')).toBeUndefined();
});

test('a failed capture leaves nothing that a later question could believe', async () => {
  const { a, request, store } = await taken();
  a.write('f', 'x'.repeat(100));
  await expect(store.capture({ ...request, maxFileBytes: 10 })).rejects.toMatchObject({
    code: 'snapshot_incomplete',
  });
  expect(existsSync(join(request.scratch, 'kept.json'))).toBe(false);
});

test('leftovers are all that a snapshot does not take, and tell junk from what cannot be made again', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({
    'node_modules/dep/index.js': 'x'.repeat(100),
    'node_modules/dep/more.js': 'x'.repeat(50),
    'notes.log': 'notes\n',
    '.env': 'SECRET=1\n',
    'dir/new': 'work\n',
    'dir/cache.pyc.log': 'x\n',
  });
  a.write('.gitignore', `${a.read('.gitignore')}dist/\n*.pyc\ndata/\n.DS_Store\n`);
  a.writeAll({ 'dist/out.js': 'x\n', 'dir/m.pyc': 'x\n', 'data/app.sqlite': 'rows\n', '.DS_Store': 'x\n' });
  execFileSync('mkfifo', [a.path('dir/pipe'), a.path('node_modules/pipe')]);
  const before = readState(a);
  const { ignored, special } = await (await workspacesOf(repo)).listLeftovers(
    (await requestFor(repo, a)).worktree,
  );
  const shown = ignored.map(
    ({ path, reproducible, bytes }) => `${path} ${reproducible ? 'junk' : 'keep'} ${bytes}`,
  );
  expect(shown.sort()).toEqual([
    '.DS_Store junk 2',
    '.env keep 9',
    'data/ keep 5',
    'dir/cache.pyc.log keep 2',
    'dir/m.pyc junk 2',
    'dist/ junk 2',
    'node_modules/ junk 150',
    'notes.log keep 6',
  ]);
  expect(special).toEqual(['dir/pipe']);
  expect(readState(a)).toEqual(before);
});

test('git dirs that no snapshot shows are leftovers too', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.git('init', '-q', 'dir');
  mkdirSync(a.path('empty'));
  writeFileSync(a.path('dir/.git/stash-of-mine'), 'history\n');
  const { ignored } = await (await workspacesOf(repo)).listLeftovers((await requestFor(repo, a)).worktree);
  expect(ignored.map(({ path, reproducible }) => [path, reproducible])).toEqual([['dir/.git/', false]]);
  expect((await capture(repo, a)).tree).toBe(repo.tree('main'));
});
