// A workspace lives on after a landing: landed again, only what is new since counts.

import { expect, test } from 'vitest';
import { buildProject, lines, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

test('only the new work of a workspace counts when it lands again', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('src/cart.ts', lines('cart', 40, { 2: 'first' }));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  // Somebody changes the landed line on main; the workspace still has the old text of it.
  repo.commit('review', { 'src/cart.ts': lines('cart', 40, { 2: 'first, reviewed' }) });
  a.write('src/cart.ts', lines('cart', 40, { 2: 'first', 30: 'second' }));
  a.write('new', 'new\n');
  const before = repo.oid('main');
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.parents('main')).toEqual([before]);
  expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 2: 'first, reviewed', 30: 'second' }));
  expect(repo.changed(before, 'main')).toEqual(['new', 'src/cart.ts']);
});

test('work that was reverted on the target does not come back with the next landing', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('bad', 'bad idea\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.commit('revert it', { bad: null });
  a.write('good', 'good idea\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'good')).toBe('good idea\n');
  expect(repo.blob('main', 'bad')).toBeUndefined();
});

test('what the workspace takes back after a landing is taken back by the next one', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.writeAll({ one: '1\n', two: '2\n' });
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  a.write('one', null);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'one')).toBeUndefined();
  expect(repo.blob('main', 'two')).toBe('2\n');
});

test('with nothing new it says so, changes nothing and exits 0', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  repo.commitTo('b', { other: 'other\n' });
  await askSennit(['land', '../a', 'b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const before = readState(repo);
  for (const sources of [['../a'], ['b'], ['../a', 'b']]) {
    const answer = await askSennit(['land', ...sources, '--into', 'main', '--no-gate'], 0, { cwd: repo });
    expect(answer.result).toBe('nothing_new');
  }
  const run = (await runSennit(['land', '../a', '--into', 'main', '--no-gate'], { cwd: repo })).expectCode(0);
  expect(run.stdout).toMatch(/nothing (is )?new/i);
  expect(readState(repo)).toEqual(before);
});

test('an untouched worktree and a merged branch have nothing new either', async () => {
  const repo = newProject();
  repo.worktree('idle');
  repo.git('branch', 'merged', 'main');
  repo.commit('main goes on', { new: 'new\n' });
  const before = readState(repo);
  const answer = await askSennit(['land', '../idle', 'merged', '--into', 'main', '--no-gate'], 0, {
    cwd: repo,
  });
  expect(answer.result).toBe('nothing_new');
  expect(readState(repo)).toEqual(before);
});

test('a branch that goes on after a landing brings only its new commits', async () => {
  const repo = newProject();
  repo.commitTo('b', { 'src/cart.ts': lines('cart', 40, { 2: 'first' }) });
  await askSennit(['land', 'b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.commit('review', { 'src/cart.ts': lines('cart', 40, { 2: 'reviewed' }) });
  repo.commitTo('b', { 'src/cart.ts': lines('cart', 40, { 2: 'first', 20: 'second' }) });
  await askSennit(['land', 'b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 2: 'reviewed', 20: 'second' }));
});

test('uncommitted work that landed and is committed afterwards is not new', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'a' });
  a.write('src/cart.ts', lines('cart', 40, { 2: 'first' }));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  a.commit('now committed');
  const again = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(again.result).toBe('nothing_new');
});

test('a workspace that was brought up to date with the target lands its new work only', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'a' });
  a.commit('first', { one: '1\n' });
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.commit('main goes on', { other: 'other\n' });
  a.git('merge', '-q', '--no-edit', 'main');
  a.write('two', '2\n');
  const before = repo.oid('main');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.changed(before, 'main')).toEqual(['two']);
});

test('the same workspace lands on two targets, and each counts for itself', async () => {
  const repo = newProject();
  repo.git('branch', 'release', 'main');
  repo.worktree('a').write('fix', 'fix\n');
  for (const target of ['main', 'release']) {
    const answer = await askSennit(['land', '../a', '--into', target, '--no-gate'], 0, { cwd: repo });
    expect(answer.result).toBe('landed');
    expect(repo.blob(target, 'fix')).toBe('fix\n');
  }
});

test('after a landing was taken back the work counts as new again', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  await askSennit(['undo'], 0, { cwd: repo });
  const again = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(again.result).toBe('landed');
  expect(repo.blob('main', 'new')).toBe('new\n');
});

test('a landing whose commit was amended or rebased still counts: its trailers say what it holds', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('src/cart.ts', lines('cart', 40, { 2: 'first' }));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  repo.git('commit', '-q', '--amend', '-m', repo.message('main').replace(/^.*\n/, 'A better subject\n'));
  a.write('src/cart.ts', lines('cart', 40, { 2: 'first', 3: 'second, next to it' }));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 2: 'first', 3: 'second, next to it' }));
  const again = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(again.result).toBe('nothing_new');
});
