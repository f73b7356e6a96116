// Where a landing may go: a branch that is checked out here, elsewhere or nowhere, in every kind of repository and
// from every place in it.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProject, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, expectRefusal } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

/** A bare clone of the project: `root/bare.git`. */
function newBare(): Repository {
  const repo = newProject();
  repo.git('clone', '-q', '--bare', repo.dir, join(repo.place.root, 'bare.git'));
  const bare = new Repository(repo.place, join(repo.place.root, 'bare.git'));
  bare.git('remote', 'remove', 'origin');
  return bare;
}

test('without --into it lands on the branch that is checked out here', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'dev');
  repo.worktree('a').write('new', 'new\n');
  const main = repo.oid('main');
  const answer = await askSennit(['land', '../a', '--no-gate'], 0, { cwd: repo });
  expect(answer.target).toMatch(/dev$/);
  expect(repo.blob('dev', 'new')).toBe('new\n');
  expect(repo.read('new')).toBe('new\n');
  expect(repo.oid('main')).toBe(main);
});

test('a target that is checked out in another worktree is brought forward there, and only there', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'dev');
  repo.git('worktree', 'add', '-q', '../main-wt', 'main');
  const mainWt = new Repository(repo.place, join(repo.place.root, 'main-wt'));
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(mainWt.read('new')).toBe('new\n');
  expect(mainWt.git('status', '--porcelain')).toBe('');
  const after = readState(repo);
  expect(after.files).toEqual(before.files);
  expect(after.head).toBe(before.head);
  expect(after.worktrees['']).toBe(before.worktrees['']);
});

test('a dirty file in the way in another worktree of the target stops the landing (M05)', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'dev');
  repo.git('worktree', 'add', '-q', '../main-wt', 'main');
  const mainWt = new Repository(repo.place, join(repo.place.root, 'main-wt'));
  mainWt.write('README.md', 'somebody is editing\n');
  repo.worktree('a').write('README.md', 'agent\n');
  const before = [readState(repo), readState(mainWt)];
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(answer.error?.code).toBe('target_dirty');
  expect(JSON.stringify(answer.error)).toContain('README.md');
  expect(JSON.stringify(answer.error)).toContain('main-wt');
  expect([readState(repo), readState(mainWt)]).toEqual(before);
});

test('a target that is checked out nowhere moves, and no checkout does', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'dev');
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'new')).toBe('new\n');
  const after = readState(repo);
  expect(after.files).toEqual(before.files);
  expect(after.worktrees).toEqual(before.worktrees);
  expect(repo.git('reflog', 'show', '--format=%gs', 'main').split('\n')[0]).toMatch(/sennit/);
});

test('a bare repository without worktrees', async () => {
  const bare = newBare();
  bare.commitTo('a', { new: 'new\n' });
  const answer = await askSennit(['land', 'a', '--into', 'main', '--gate', 'test -e new'], 0, { cwd: bare });
  expect(answer.commit).toBe(bare.oid('main'));
  expect(bare.blob('main', 'new')).toBe('new\n');
  expect(bare.git('rev-parse', '--is-bare-repository')).toBe('true');
  expect(Object.keys(readState(bare).worktrees)).toEqual(['']);
});

test('a bare repository with worktrees, from inside it and from inside a worktree', async () => {
  const bare = newBare();
  bare.git('worktree', 'add', '-q', '../main-wt', 'main');
  const mainWt = new Repository(bare.place, join(bare.place.root, 'main-wt'));
  const a = bare.worktree('a', { at: 'main' });
  const b = bare.worktree('b', { at: 'main' });
  a.write('from-a', 'a\n');
  b.write('from-b', 'b\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: bare });
  expect(mainWt.read('from-a')).toBe('a\n');
  await askSennit(['land', '../b', '--no-gate'], 0, { cwd: mainWt });
  expect(mainWt.read('from-b')).toBe('b\n');
  expect(mainWt.git('status', '--porcelain')).toBe('');
  expect(bare.files('main')).toContain('from-a');
});

test('a repository whose git dir is kept apart, with a .git file', async () => {
  const repo = newProject();
  repo.git('init', '-q', `--separate-git-dir=${join(repo.place.root, 'apart')}`);
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.read('new')).toBe('new\n');
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('from inside a source worktree, and from a folder below it', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'a' });
  a.write('one', '1\n');
  await askSennit(['land', '.', '--into', 'main', '--no-gate'], 0, { cwd: a });
  expect(repo.read('one')).toBe('1\n');
  a.write('src/two', '2\n');
  const below = a.place.at('a/src');
  await askSennit(['land', '..', '--into', 'main', '--no-gate'], 0, { cwd: below });
  expect(repo.read('src/two')).toBe('2\n');
  expect(a.git('symbolic-ref', 'HEAD')).toBe('refs/heads/a');
  expect(a.git('status', '--porcelain', '-uall')).toBe('?? one\n?? src/two');
});

test('relative paths start where the command is run', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../../a', '--into', 'main', '--no-gate'], 0, { cwd: repo.place.at('repo/src') });
  expect(repo.read('new')).toBe('new\n');
});

test('a detached HEAD is no target, but with --into it does not matter', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '--detach');
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo, { sennitRefs: true });
  await expectRefusal(
    ['land', '../a', '--no-gate'],
    { exit: 2, code: 'target_detached', says: /--into/ },
    { cwd: repo },
  );
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'new')).toBe('new\n');
  expect(repo.has('new')).toBe(false);
  expect(readState(repo).head).toBe(before.head);
});

test('--branch lands on a new branch and leaves the target where it is', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  const answer = await askSennit(['land', '../a', '--into', 'main', '--branch', 'wave/one', '--no-gate'], 0, {
    cwd: repo,
  });
  expect(repo.oid('wave/one')).toBe(answer.commit);
  expect(repo.parents('wave/one')).toEqual([repo.oid('main')]);
  const after = readState(repo);
  expect(after.files).toEqual(before.files);
  expect(Object.keys(after.refs)).toEqual([...Object.keys(before.refs), 'refs/heads/wave/one'].sort());
  expect(after.refs['refs/heads/main']).toBe(before.refs['refs/heads/main']);

  const again = readState(repo);
  repo.worktree('b').write('other', 'other\n');
  await expectRefusal(
    ['land', '../b', '--into', 'main', '--branch', 'wave/one', '--no-gate'],
    { exit: 2, code: 'target_exists', says: /wave\/one/ },
    { cwd: repo },
  );
  expect(readState(repo).refs).toEqual(again.refs);
});

test('--branch does not care about a dirty checkout of the target', async () => {
  const repo = newProject();
  repo.worktree('a').write('README.md', 'agent\n');
  repo.write('README.md', 'user WIP\n');
  await askSennit(['land', '../a', '--into', 'main', '--branch', 'wave', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('wave', 'README.md')).toBe('agent\n');
  expect(repo.read('README.md')).toBe('user WIP\n');
});

test('a repository with SHA-256 ids', async () => {
  const { place } = newProject();
  const repo = new Repository(place, place.at('sha256').dir);
  repo.git('init', '-q', '--object-format=sha256', '--template=');
  buildProject(repo);
  repo.worktree('a').write('src/cart.ts', 'a\n');
  repo.commitTo('b', { new: 'b\n' });
  const answer = await askSennit(['land', '../a', 'b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.commit).toMatch(/^[0-9a-f]{64}$/);
  expect(repo.read('src/cart.ts')).toBe('a\n');
});

test('the primary checkout is a source like any other when it is not on the target', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'dev');
  repo.commit('dev work', { dev: 'committed\n' });
  repo.write('loose', 'not committed\n');
  await askSennit(['land', '.', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'dev')).toBe('committed\n');
  expect(repo.blob('main', 'loose')).toBe('not committed\n');
  expect(repo.git('status', '--porcelain')).toBe('?? loose');
  expect(repo.git('symbolic-ref', 'HEAD')).toBe('refs/heads/dev');
});

test('a target that is checked out twice is brought forward in both', async () => {
  const repo = newProject();
  repo.git('worktree', 'add', '-q', '-f', '../twin', 'main');
  const twin = new Repository(repo.place, join(repo.place.root, 'twin'));
  repo.worktree('a').write('README.md', 'agent\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  for (const checkout of [repo, twin]) {
    expect(checkout.read('README.md')).toBe('agent\n');
    expect(checkout.git('status', '--porcelain')).toBe('');
  }
});

test('a checkout in the middle of a merge stops the landing and keeps the merge', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  repo.commitTo('other', { 'README.md': 'theirs\n' });
  repo.commit('mine', { 'README.md': 'mine\n' });
  expect(repo.tryGit(['merge', '-q', 'other']).code).toBe(1);
  const before = readState(repo);
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(answer.error?.code).toBe('target_dirty');
  expect(readState(repo)).toEqual(before);
  expect(repo.git('rev-parse', 'MERGE_HEAD')).toBe(repo.oid('other'));
});

test('a sparse checkout of the target stays sparse, and hides nothing that is in the way', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.writeAll({ 'docs/new.md': 'new\n', 'docs/guide.md': 'rewritten\n' });
  repo.git('sparse-checkout', 'set', 'src');
  expect(repo.has('docs')).toBe(false);
  repo.write('docs/new.md', 'mine, outside the cone\n');
  const before = readState(repo);
  const stopped = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo });
  expect(JSON.stringify(stopped)).toContain('docs/new.md');
  expect(readState(repo)).toEqual(before);
  repo.write('docs', null);
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(repo.has('docs/guide.md')).toBe(false);
  expect(repo.blob('main', 'docs/guide.md')).toBe('rewritten\n');
});

test('a checkout with CRLF line ends keeps them, and the commit has none', async () => {
  const repo = newProject();
  repo.git('config', 'core.autocrlf', 'true');
  const a = repo.worktree('a');
  expect(a.read('README.md')).toContain('\r\n');
  a.write('README.md', '# Shop\r\n\r\nA big shop.\r\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'README.md')).toBe('# Shop\n\nA big shop.\n');
  expect(repo.read('README.md')).toBe('# Shop\r\n\r\nA big shop.\r\n');
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('split, sparse and old index formats are read and left in working order', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  repo.git('config', 'core.splitIndex', 'true');
  repo.git('update-index', '--split-index');
  a.git('sparse-checkout', 'set', '--sparse-index', 'src');
  a.write('src/cart.ts', 'agent\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.changed('main~1', 'main')).toEqual(['src/cart.ts']);
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(a.git('status', '--porcelain')).toBe(' M src/cart.ts');
});
