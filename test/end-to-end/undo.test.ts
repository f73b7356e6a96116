// Everything can be taken back: `undo` restores refs, checkouts and workspaces, or says what stands in the way.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildProject, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, expectRefusal } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

test('a landing is taken back, from the branch and from its checkout', async () => {
  const repo = newProject();
  repo.worktree('a').writeAll({ 'README.md': 'agent\n', 'new/file': 'new\n', 'src/login.ts': null });
  repo.write('untracked', 'mine\n');
  const before = readState(repo);
  const landed = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.read('README.md')).toBe('agent\n');
  await askSennit(['undo'], 0, { cwd: repo });
  const after = readState(repo);
  expect(after.refs).toEqual(before.refs);
  expect(after.files).toEqual(before.files);
  expect(repo.git('status', '--porcelain')).toBe('?? untracked');

  // What was landed stays within reach, and the log tells both.
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  expect(repo.git('cat-file', '-t', landed.commit ?? '')).toBe('commit');
  const log = await askSennit(['log'], 0, { cwd: repo });
  expect(JSON.stringify(log)).toContain(landed.operation);
  expect(JSON.stringify(log)).toContain('undo');
});

test('landings are taken back one after the other, the last first', async () => {
  const repo = newProject();
  const tips = [repo.oid('main')];
  for (const name of ['a', 'b']) {
    repo.worktree(name).write(name, `${name}\n`);
    await askSennit(['land', `../${name}`, '--into', 'main', '--no-gate'], 0, { cwd: repo });
    tips.push(repo.oid('main'));
  }
  expect(new Set(tips).size).toBe(3);
  await askSennit(['undo'], 0, { cwd: repo });
  expect(repo.oid('main')).toBe(tips[1]);
  await askSennit(['undo'], 0, { cwd: repo });
  expect(repo.oid('main')).toBe(tips[0]);
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('with nothing to take back it says so', async () => {
  const repo = newProject();
  const before = readState(repo, { sennitRefs: true });
  await expectRefusal(['undo'], { exit: 2, code: 'operation_none' }, { cwd: repo });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});

test("a commit on top is somebody's work: the landing below it is not taken back", async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.commit('on top', { top: 'top\n' });
  const before = readState(repo);
  const answer = await expectRefusal(['undo'], { exit: 1, code: 'undo_blocked' }, { cwd: repo });
  expect(`${answer.error?.message} ${answer.error?.hint}`).toMatch(/main/);
  expect(readState(repo)).toEqual(before);
});

test("an edit in the checkout is somebody's work: it is not overwritten by taking back", async () => {
  const repo = newProject();
  repo.worktree('a').write('README.md', 'agent\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.write('README.md', 'agent, and the user went on\n');
  const before = readState(repo);
  const answer = await askSennit(['undo'], 1, { cwd: repo });
  expect(['undo_blocked', 'target_dirty']).toContain(answer.error?.code);
  expect(JSON.stringify(answer)).toContain('README.md');
  expect(readState(repo)).toEqual(before);
  expect(repo.read('README.md')).toBe('agent, and the user went on\n');
});

test('a landing on a new branch is taken back with the branch', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  await askSennit(['land', '../a', '--into', 'main', '--branch', 'wave', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('wave', 'new')).toBe('new\n');
  await askSennit(['undo'], 0, { cwd: repo });
  expect(readState(repo).refs).toEqual(before.refs);
});

test('a new branch that has moved on is not deleted by taking back', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--branch', 'wave', '--no-gate'], 0, { cwd: repo });
  const tip = repo.commitTo('wave', { more: 'more\n' });
  await askSennit(['undo'], 1, { cwd: repo });
  expect(repo.oid('wave')).toBe(tip);
});

test('a clean-up is taken back: the workspace is there again with what it held', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'agent' });
  a.commit('work', { committed: 'committed\n' });
  a.write('loose', 'loose\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  expect(existsSync(a.dir)).toBe(false);
  await askSennit(['undo'], 0, { cwd: repo });
  expect(a.read('loose')).toBe('loose\n');
  expect(a.read('committed')).toBe('committed\n');
  expect(a.git('rev-parse', '--show-toplevel')).toBe(a.dir);
  expect(repo.git('log', '-1', '--format=%s', 'agent')).toBe('work');
});

test('a dry run of undo changes nothing', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const before = readState(repo, { sennitRefs: true });
  const dry = await askSennit(['undo', '--dry-run'], 0, { cwd: repo });
  expect(dry.result).toBe('dry_run');
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});
