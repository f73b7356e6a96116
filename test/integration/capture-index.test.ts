// An index can hide work in many ways. None of them works on a snapshot, and the workspace's own index stays as it is.

import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { capture, checksOf, contents, findingsOf } from '../support/captures.ts';
import { executable, linkTo, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    f: 'v1\n',
    other: 'x\n',
    'dir/a': 'a\n',
    'dir/b': 'b\n',
    script: executable('#!/bin/sh\n'),
    link: linkTo('f'),
    '.gitignore': 'node_modules/\n*.log\n',
  });
});

test('an index.lock of a killed agent hides nothing and stays where it is', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: 'v2\n', 'new.ts': 'new\n' });
  const lock = join(a.gitDir(), 'index.lock');
  writeFileSync(lock, 'half an index');
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toMatchObject({ f: 'v2\n', 'new.ts': 'new\n' });
  expect(readFileSync(lock, 'utf8')).toBe('half an index');
});

test('edits behind assume-unchanged and skip-worktree bits are captured', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.git('update-index', '--assume-unchanged', 'f', 'dir/a');
  a.git('update-index', '--skip-worktree', 'other');
  a.writeAll({ f: 'assumed\n', other: 'skipped\n', 'dir/a': null });
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toMatchObject({ f: 'assumed\n', other: 'skipped\n' });
  expect(repo.entry(taken.tree, 'dir/a')).toBeUndefined();
  expect(taken.findings).toEqual([]);
  // The workspace keeps its bits.
  expect(a.git('ls-files', '-v')).toMatch(/^h f$/m);
});

test('a skip-worktree file that is not there is no deletion, and is told', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.git('update-index', '--skip-worktree', 'other');
  a.write('other', null);
  const taken = await capture(repo, a);
  expect(taken.tree).toBe(repo.tree('main'));
  expect(findingsOf(taken, 'skip_worktree_absent')[0]?.paths).toEqual(['other']);
});

test('an unfinished merge is captured as it is on the disk, and is told', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  repo.commitTo('theirs', { f: 'theirs\n', 'dir/a': null, 'dir/b': 'b theirs\n' });
  a.commit('mine', { f: 'mine\n', 'dir/a': 'a mine\n', 'dir/b': null });
  expect(a.tryGit(['merge', 'theirs']).code).toBe(1);
  a.writeAll({ 'dir/a': null, 'dir/b': 'decided\n' });
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)['f']).toContain('<<<<<<<');
  expect(contents(repo, taken.tree)['dir/b']).toBe('decided\n');
  expect(repo.entry(taken.tree, 'dir/a')).toBeUndefined();
  expect(findingsOf(taken, 'workspace_unmerged')[0]?.paths).toEqual(['dir/a', 'dir/b', 'f']);
});

test('split index, untracked cache, version 4 and intent-to-add hide nothing', async () => {
  const repo = newRepo();
  const ways: readonly (readonly string[])[] = [
    ['update-index', '--split-index'],
    ['update-index', '--untracked-cache'],
    ['update-index', '--index-version', '4'],
  ];
  for (const [i, way] of ways.entries()) {
    const a = repo.worktree(`a${i}`);
    a.git(...way);
    a.git('status');
    a.writeAll({ f: 'v2\n', 'dir/b': null, 'new.ts': 'new\n', 'dir/intended': 'soon\n' });
    a.git('add', '-N', 'dir/intended');
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree), way.join(' ')).toMatchObject({
      f: 'v2\n',
      'new.ts': 'new\n',
      'dir/intended': 'soon\n',
    });
    expect(repo.entry(taken.tree, 'dir/b'), way.join(' ')).toBeUndefined();
    expect(taken.findings).toEqual([]);
  }
});

test('a sparse checkout keeps what is outside of it and gets what was made there', async () => {
  const repo = newRepo();
  for (const index of ['full', 'sparse'] as const) {
    const a = repo.worktree(`a-${index}`);
    a.git(
      'sparse-checkout',
      'set',
      '--cone',
      index === 'sparse' ? '--sparse-index' : '--no-sparse-index',
      'elsewhere',
    );
    expect(a.has('dir')).toBe(false);
    repo.git('config', 'sparse.expectFilesOutsideOfPatterns', 'true');
    a.writeAll({ f: 'v2\n', 'dir/made': 'outside of the cone\n', 'dir/b': 'edited outside\n' });
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree), index).toEqual({
      ...contents(repo, 'main'),
      f: 'v2\n',
      'dir/made': 'outside of the cone\n',
      'dir/b': 'edited outside\n',
    });
    expect(taken.findings).toEqual([]);
  }
});

test('an edit that keeps size and time is an edit', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  repo.git('config', 'core.trustctime', 'false');
  repo.git('config', 'core.checkStat', 'minimal');
  // Much older than the index, which git would otherwise not trust about it.
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(a.path('f'), old, old);
  a.git('update-index', '--refresh');
  await new Promise((resolve) => setTimeout(resolve, 1100)); // git counts times in seconds
  a.write('f', 'w1\n');
  utimesSync(a.path('f'), old, old);
  expect(a.status()).toEqual([]);
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)['f']).toBe('w1\n');
});

test('a workspace whose index is lost or broken is captured from its commit and its files', async () => {
  const repo = newRepo();
  for (const [i, content] of [null, 'no index at all'].entries()) {
    const a = repo.worktree(`a${i}`);
    const index = join(a.gitDir(), 'index');
    rmSync(index);
    if (content !== null) writeFileSync(index, content);
    a.writeAll({ f: 'v2\n', 'new.ts': 'new\n', 'x.log': 'ignored\n' });
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree)).toEqual({ ...contents(repo, 'main'), f: 'v2\n', 'new.ts': 'new\n' });
    expect(checksOf(taken)).toEqual(['workspace_index_lost']);
  }
});

test('content that was staged into objects of another store is hashed again from the disk', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: 'v2\n', 'x.log': 'ignored, but staged\n' });
  mkdirSync(join(repo.place.root, 'elsewhere'));
  const env = {
    GIT_OBJECT_DIRECTORY: join(repo.place.root, 'elsewhere'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.commonDir(), 'objects'),
  };
  a.gitWith({ env }, 'add', '-f', 'f', 'x.log');
  expect(a.tryGit(['write-tree']).code).not.toBe(0);
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toMatchObject({ f: 'v2\n', 'x.log': 'ignored, but staged\n' });
  repo.git('fsck', '--connectivity-only', taken.tree);
});
