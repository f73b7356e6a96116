// Clean-up: a dry run unless told otherwise, only with proof, only what is Sennit's or was named, and every archive can
// be shown and restored.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  buildProject,
  lines,
  Repository,
  readFiles,
  readState,
  repositoryTemplate,
} from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

/** A worktree on a branch of its own whose work, committed and loose, has landed. */
async function landedWorkspace(repo: Repository, name: string): Promise<Repository> {
  const wt = repo.worktree(name, { branch: `agent/${name}` });
  wt.commit(`work of ${name}`, { [`${name}-committed`]: 'committed\n' });
  wt.write(`${name}-loose`, 'loose\n');
  await askSennit(['land', `../${name}`, '--into', 'main', '--no-gate'], 0, { cwd: repo });
  return wt;
}

test('gc without --apply is a dry run', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  const before = readState(repo, { sennitRefs: true });
  const answer = await askSennit(['gc', '../a'], 0, { cwd: repo });
  expect(JSON.stringify(answer)).toContain(a.dir);
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  expect(a.read('a-loose')).toBe('loose\n');
  expect(nextText(answer)).toContain('--apply');
});

function nextText(answer: { readonly next: readonly unknown[] }): string {
  return JSON.stringify(answer.next);
}

test('gc --apply removes a landed workspace that was named: folder, record and nothing else', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  const b = repo.worktree('b');
  b.write('b', 'b\n');
  const beforeB = readState(b);
  const main = repo.oid('main');
  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  expect(existsSync(a.dir)).toBe(false);
  expect(repo.git('worktree', 'list', '--porcelain')).not.toContain(a.dir);
  expect(repo.oid('main')).toBe(main);
  expect(readState(b).files).toEqual(beforeB.files);
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(2);
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(readdirSync(repo.place.root).filter((name) => name.includes('trash'))).toEqual([]);
});

test('worktrees that Sennit did not make are untouched unless they are named', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  const idle = repo.worktree('idle');
  const before = readState(repo);
  await askSennit(['gc'], 0, { cwd: repo });
  await askSennit(['gc', '--apply'], 0, { cwd: repo });
  expect(readState(repo)).toEqual(before);
  expect(a.read('a-loose')).toBe('loose\n');
  expect(existsSync(idle.dir)).toBe(true);
});

test('a workspace with work that has not landed is kept, and the work is named', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  a.write('later', 'not landed\n');
  const before = readFiles(a.dir);
  const run = await runSennit(['gc', '../a', '--apply', '--json'], { cwd: repo });
  expect(readFiles(a.dir), run.story()).toEqual(before);
  expect(run.stdout).toContain('later');
});

test('one workspace that must stay does not keep another from going, and the other way round', async () => {
  const repo = newProject();
  const done = await landedWorkspace(repo, 'done');
  const open = repo.worktree('open');
  open.write('only-here', 'only here\n');
  await runSennit(['gc', '../open', '../done', '--apply'], { cwd: repo });
  expect(open.read('only-here')).toBe('only here\n');
  // Either both are judged apart, or the whole call is refused: `open` is safe in both.
  await askSennit(['gc', '../done', '--apply'], 0, { cwd: repo });
  expect(existsSync(done.dir)).toBe(false);
});

test('work that came to the target by another way is proved contained', async () => {
  const repo = newProject();
  const text = lines('cart', 40, { 10: 'squashed by somebody' });
  const a = repo.worktree('a', { branch: 'agent' });
  a.commit('work', { 'src/cart.ts': text });
  // A squash merge of a forge, with more on top.
  repo.commit('squash of agent (#1)', { 'src/cart.ts': text });
  repo.commit('main goes on', {
    'src/cart.ts': lines('cart', 40, { 10: 'squashed by somebody', 30: 'more' }),
  });
  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  expect(existsSync(a.dir)).toBe(false);
  // Its own commit has not become unreachable.
  expect(repo.git('for-each-ref', '--contains', 'agent@{0}', '--format=%(refname)')).toMatch(/\S/);
});

test('ignored files that nothing can make again are listed before anything goes', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  a.commit('ignore', { '.gitignore': 'node_modules/\n*.log\n.env\n' });
  a.writeAll({
    '.env': 'SECRET=1\n',
    'node_modules/dep/index.js': '1\n',
    'notes.log': 'a week of measuring\n',
  });
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const answer = await askSennit(['gc', '../a'], 0, { cwd: repo });
  const told = JSON.stringify(answer.findings);
  expect(told).toContain('.env');
  expect(told).toContain('notes.log');
  expect(told).not.toContain('dep/index.js');
  expect(JSON.stringify(answer)).not.toContain('SECRET');
  expect(a.read('.env')).toBe('SECRET=1\n');
  const run = (await runSennit(['gc', '../a'], { cwd: repo })).expectCode(0);
  expect(run.stdout + run.stderr).toContain('.env');
});

test('a nested repository keeps its workspace from going', async () => {
  const repo = newProject();
  await landedWorkspace(repo, 'a');
  const nested = Repository.create(repo.place, 'a/node_modules/dep');
  nested.commit('history of its own', { inner: 'inner\n' });
  await runSennit(['gc', '../a', '--apply'], { cwd: repo });
  const kept = repo
    .git('rev-list', '--objects', '--no-object-names', '--glob=refs/sennit/*')
    .includes(nested.oid('HEAD:inner'));
  expect(nested.has('inner') || kept).toBe(true);
});

test('a locked worktree and the primary checkout are never removed', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  repo.git('worktree', 'lock', '--reason', 'on a USB stick', '../a');
  await runSennit(['gc', '../a', '--apply'], { cwd: repo });
  expect(a.read('a-loose')).toBe('loose\n');
  const before = readState(repo);
  const run = await runSennit(['gc', '.', '--apply', '--json'], { cwd: repo });
  expect(run.code, run.story()).not.toBe(0);
  expect(readState(repo)).toEqual(before);
});

test('records of other worktrees whose folders are away are not pruned along', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  const away = repo.worktree('away');
  away.write('f', 'f\n');
  away.git('add', 'f');
  rmSync(away.dir, { recursive: true });
  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  expect(existsSync(a.dir)).toBe(false);
  expect(repo.git('worktree', 'list', '--porcelain')).toContain(away.dir);
});

test('gc from inside the workspace that shall go is refused', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  const run = await runSennit(['gc', '.', '--apply', '--json'], { cwd: a });
  if (run.code === 0) expect(existsSync(a.dir)).toBe(true);
  else expect(run.json().error?.hint, run.story()).toMatch(/\S/);
  expect(a.read('a-loose')).toBe('loose\n');
});

test('an archive is listed, shown and restored', async () => {
  const repo = newProject();
  repo.commitTo('good', { good: 'good\n' });
  const bad = repo.worktree('bad');
  bad.write('bad', 'only here\n');
  const args = ['land', 'good', '../bad', '--into', 'main', '--gate', 'test ! -e bad', '--drop-culprits'];
  await askSennit(args, 0, { cwd: repo });
  rmSync(bad.dir, { recursive: true });
  repo.git('worktree', 'prune');

  const listed = await runSennit(['archive', 'list', '--json'], { cwd: repo });
  listed.expectCode(0);
  const [ref] = Object.keys(repo.refs('refs/sennit/archive/'));
  const id = (ref ?? '').replace('refs/sennit/archive/', '');
  expect(id).toMatch(/\S/);
  expect(listed.stdout).toContain(id);
  const shown = (await runSennit(['archive', 'show', id], { cwd: repo })).expectCode(0);
  expect(shown.stdout).toContain('bad');

  const before = readState(repo);
  await askSennit(['archive', 'restore', id], 0, { cwd: repo });
  // The work is within reach of the user again: as a branch, or in a worktree.
  const after = readState(repo);
  const branches = Object.keys(after.refs).filter((name) => !(name in before.refs));
  const folders = repo
    .git('worktree', 'list', '--porcelain')
    .split('\n')
    .filter((line) => line.startsWith('worktree '))
    .map((line) => line.slice('worktree '.length));
  const found =
    branches.some((name) => repo.blob(name, 'bad') === 'only here\n') ||
    folders.some((folder) => readFiles(folder)['bad'] !== undefined);
  expect(found).toBe(true);
  expect(repo.oid('main')).toBe(before.refs['refs/heads/main']);
  expect(after.files).toEqual(before.files);
  // Restoring does not use the archive up.
  expect(Object.keys(repo.refs('refs/sennit/archive/'))).toContain(ref);
});

test('an unknown archive is an error, an empty list is none', async () => {
  const repo = newProject();
  const run = await runSennit(['archive', 'show', 'nosuch', '--json'], { cwd: repo });
  run.expectCode(2);
  expect(run.json().error?.code).toBe('archive_unknown');
  expect((await askSennit(['archive', 'list'], 0, { cwd: repo })).ok).toBe(true);
});

test('gc --dry-run changes nothing, not even with --apply', async () => {
  const repo = newProject();
  await landedWorkspace(repo, 'a');
  const before = readState(repo, { sennitRefs: true });
  await askSennit(['gc', '../a', '--dry-run'], 0, { cwd: repo });
  await runSennit(['gc', '../a', '--apply', '--dry-run'], { cwd: repo });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});

test('work that index bits hide from git status keeps its workspace from going', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  a.git('update-index', '--assume-unchanged', 'README.md');
  a.write('README.md', 'late\n');
  expect(a.git('status', '--porcelain')).not.toContain('README.md');
  await runSennit(['gc', '../a', '--apply'], { cwd: repo });
  expect(a.read('README.md')).toBe('late\n');
});
