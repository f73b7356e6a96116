// The user's own checkout, branches, stashes and remotes: what is not Sennit's is never overwritten, moved or
// thrown away, and where it is in the way the command stops before anything has changed.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { type Answer, askSennit, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: '1\n', g: '1\n', '.gitignore': '*.log\n' });
});

/** Lands although an earlier attempt may wait: runs the command that the stopped answer proposes. */
async function goOn(stopped: Answer, repo: Repository, ...land: string[]): Promise<Answer> {
  const proposed = stopped.next.some((command) => /^sennit continue\b/.test(command));
  return await askSennit(proposed ? ['continue'] : land, 0, { cwd: repo });
}

test("a landing does not overwrite the user's uncommitted edit of the same file (M05)", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'agent\n');
  repo.write('f', 'user WIP\n');
  const before = readState(repo);

  const stopped = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(JSON.stringify(stopped)).toContain('"f"');
  expect(stopped.error?.code).toBe('target_dirty');
  expect(stopped.error?.hint).toMatch(/\S/);
  expect(readState(repo)).toEqual(before);
  expect(repo.read('f')).toBe('user WIP\n');
  expect(a.read('f')).toBe('agent\n');

  // Once the user has put the edit away, the parked landing goes through; the edit is still theirs.
  repo.git('stash', 'push', '-q');
  await goOn(stopped, repo, 'land', '../a', '--into', 'main', '--no-gate');
  expect(repo.read('f')).toBe('agent\n');
  expect(repo.git('stash', 'show', '-p')).toContain('+user WIP');
});

test("a landing does not overwrite the user's staged edit of the same file (M05)", async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', 'agent\n');
  repo.write('f', 'staged by the user\n');
  repo.git('add', 'f');
  const before = readState(repo);
  const stopped = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(stopped.error?.code).toBe('target_dirty');
  expect(readState(repo)).toEqual(before);
});

test('unrelated edits of the user stay exactly as they are through a landing (M05)', async () => {
  const repo = newRepo();
  repo.worktree('a').writeAll({ f: 'agent\n', 'new/file': 'agent\n' });
  repo.write('g', 'edited by the user\n');
  repo.write('staged', 'staged by the user\n');
  repo.git('add', 'staged');
  repo.write('staged', 'and edited again\n');
  repo.write('notes.log', 'ignored\n');
  repo.write('untracked', 'untracked\n');
  const status = repo.status();

  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.status()).toEqual(status);
  expect(repo.git('show', ':staged')).toBe('staged by the user');
  expect(repo.read('staged')).toBe('and edited again\n');
  expect(repo.read('g')).toBe('edited by the user\n');
  expect(repo.read('f')).toBe('agent\n');
  expect(repo.blob('main', 'g')).toBe('1\n');
});

test('an untracked file in the way is not overwritten, and the refusal is not taken for success (M06)', async () => {
  const repo = newRepo();
  repo.commitTo('task', { f: '2\n', 'new.ts': 'n\n' });
  repo.write('new.ts', 'wip\n');
  const before = readState(repo);

  const stopped = await askSennit(['land', 'task', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(stopped.error?.code).toBe('target_dirty');
  expect(JSON.stringify(stopped)).toContain('new.ts');
  expect(stopped.conflicts ?? []).toEqual([]);
  expect(readState(repo)).toEqual(before);

  // Clean-up does not believe that it landed.
  await runSennit(['gc', '--apply'], { cwd: repo });
  expect(repo.oid('task')).toBe(before.refs['refs/heads/task']);

  renameSync(repo.path('new.ts'), repo.path('mine.ts'));
  await goOn(stopped, repo, 'land', 'task', '--into', 'main', '--no-gate');
  expect(repo.read('new.ts')).toBe('n\n');
  expect(repo.read('mine.ts')).toBe('wip\n');
});

test('an ignored file in the way is not overwritten (M06)', async () => {
  const repo = newRepo();
  repo.commitTo('task', { 'build.log': 'from the task\n' });
  repo.write('build.log', 'the only copy\n');
  const before = readState(repo);
  const stopped = await askSennit(['land', 'task', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(JSON.stringify(stopped)).toContain('build.log');
  expect(readState(repo)).toEqual(before);
  expect(repo.read('build.log')).toBe('the only copy\n');
});

test('an untracked folder where a landed file goes is not removed (M06)', async () => {
  const repo = newRepo();
  repo.commitTo('task', { thing: 'a file\n' });
  repo.write('thing/inside', 'the only copy\n');
  const before = readState(repo);
  await askSennit(['land', 'task', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(readState(repo)).toEqual(before);
});

test('a file that the landing deletes is not deleted where the user has edited it (M05)', async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', null);
  repo.write('f', 'user WIP\n');
  const before = readState(repo);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(readState(repo)).toEqual(before);
});

test("another git's lock on the checkout leaves branch and checkout together (G03)", async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', 'agent\n');
  const lock = repo.path('.git/index.lock');
  writeFileSync(lock, '');
  const before = readState(repo);
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  expect([1, 5], run.story()).toContain(run.code);
  expect(`${run.json().error?.message} ${run.json().error?.hint}`).toContain('index.lock');
  expect(readState(repo)).toEqual(before);
  expect(existsSync(lock)).toBe(true);
  rmSync(lock);
  await goOn(run.json(), repo, 'land', '../a', '--into', 'main', '--no-gate');
  expect(repo.read('f')).toBe('agent\n');
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('an edit of the root by absolute path is told, not landed and not discarded (I04)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  writeFileSync(join(repo.dir, 'f'), 'agent\n');
  const before = readState(repo);
  const empty = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(empty.result).toBe('nothing_new');
  expect(JSON.stringify(empty.findings)).toContain('"f"');
  expect(readState(repo)).toEqual(before);

  a.write('new.ts', 'work\n');
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(JSON.stringify(answer.findings)).toContain('"f"');
  expect(repo.blob('main', 'f')).toBe('1\n');
  expect(repo.read('f')).toBe('agent\n');
  expect(repo.git('status', '--porcelain')).toBe(' M f');
});

test("other people's stashes are neither popped, dropped nor landed (I01)", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const b = repo.worktree('b');
  a.write('f', 'A\n');
  a.git('stash', 'push', '-q');
  b.write('g', 'B\n');
  b.git('stash', 'push', '-q');
  a.write('a.ts', 'a\n');
  b.write('b.ts', 'b\n');
  const stashes = repo.git('stash', 'list', '--format=%H %gs');

  await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  await askSennit(['gc', '../a', '../b', '--apply'], 0, { cwd: repo });
  expect(repo.git('stash', 'list', '--format=%H %gs')).toBe(stashes);
  expect(repo.files('main')).toEqual(['.gitignore', 'a.ts', 'b.ts', 'f', 'g']);
  expect(repo.blob('main', 'f')).toBe('1\n');
  await askSennit(['undo'], 0, { cwd: repo });
  await askSennit(['undo'], 0, { cwd: repo });
  expect(repo.git('stash', 'list', '--format=%H %gs')).toBe(stashes);
});
