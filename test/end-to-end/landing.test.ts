// The main job: worktrees and branches in, one commit out, and nothing else touched.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildProject, executable, lines, linkTo, readState, repositoryTemplate } from '../support/repo.ts';
import { USER } from '../support/sealed.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

test('two worktrees and a branch become one commit on main', async () => {
  const repo = newProject();
  const cart = repo.worktree('wt-cart', { branch: 'cart' });
  cart.commit('cart: first', { 'src/cart.ts': lines('cart', 40, { 3: 'third line of the cart' }) });
  cart.commit('cart: second', { 'src/cart-total.ts': 'total\n' });
  const search = repo.worktree('wt-search');
  search.write('src/search.ts', lines('search', 40, { 7: 'staged' }));
  search.git('add', 'src/search.ts');
  search.write('src/search.ts', lines('search', 40, { 7: 'staged', 30: 'unstaged' }));
  search.write('docs/search.md', 'untracked\n');
  search.write('debug.log', 'ignored\n');
  repo.commitTo('feature-login', { 'src/login.ts': lines('login', 40, { 1: 'new login' }) });
  const old = repo.oid('main');
  const before = readState(repo);
  const beforeCart = readState(cart);
  const beforeSearch = readState(search);

  const answer = await askSennit(
    ['land', '../wt-cart', '../wt-search', 'feature-login', '--into', 'main', '--no-gate'],
    0,
    { cwd: repo },
  );

  expect(answer.result).toBe('landed');
  expect(answer.commit).toBe(repo.oid('main'));
  expect(answer.tree).toBe(repo.tree('main'));
  expect(answer.operation).toMatch(/^\d{8}-\d{6}-[0-9a-z]{4}$/);
  expect(answer.sources.map((source) => source.name).sort()).toEqual([
    'feature-login',
    'wt-cart',
    'wt-search',
  ]);

  // One commit, on top of the old tip, by the user.
  expect(repo.parents('main')).toEqual([old]);
  expect(repo.git('show', '-s', '--format=%an <%ae> / %cn <%ce>', 'main')).toBe(
    `${USER.name} <${USER.email}> / ${USER.name} <${USER.email}>`,
  );
  expect(repo.changed(old, 'main')).toEqual([
    'docs/search.md',
    'src/cart-total.ts',
    'src/cart.ts',
    'src/login.ts',
    'src/search.ts',
  ]);
  expect(repo.blob('main', 'src/search.ts')).toBe(lines('search', 40, { 7: 'staged', 30: 'unstaged' }));
  expect(repo.blob('main', 'docs/search.md')).toBe('untracked\n');

  // Trailers name each source and the snapshot that was taken of it.
  expect(repo.trailers('main', 'Sennit-Operation')).toEqual([answer.operation]);
  const snapshots = Object.fromEntries(
    repo.trailers('main', 'Sennit-Source').map((line) => line.split(' ') as [string, string]),
  );
  expect(Object.keys(snapshots).sort()).toEqual(['feature-login', 'wt-cart', 'wt-search']);
  expect(snapshots['feature-login']).toBe(repo.oid('feature-login'));
  expect(repo.blob(snapshots['wt-cart'] ?? '', 'src/cart-total.ts')).toBe('total\n');
  expect(repo.git('merge-base', '--is-ancestor', 'cart', snapshots['wt-cart'] ?? '')).toBe('');
  expect(repo.blob(snapshots['wt-search'] ?? '', 'docs/search.md')).toBe('untracked\n');

  // The checkout of main has come along; everything else is as it was.
  const after = readState(repo);
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(repo.read('docs/search.md')).toBe('untracked\n');
  expect(after.head).toBe('ref: refs/heads/main\n');
  expect({ ...after.refs, 'refs/heads/main': old }).toEqual(before.refs);
  expect(after.config).toBe(before.config);
  expect(after.stash).toBe(before.stash);
  expect({ ...after.worktrees, '': '' }).toEqual({ ...before.worktrees, '': '' });
  expect(readState(cart).files).toEqual(beforeCart.files);
  expect(readState(search).files).toEqual(beforeSearch.files);
  expect(search.read('debug.log')).toBe('ignored\n');
  expect(search.status()).toEqual(['MM src/search.ts', '?? docs/search.md', '!! debug.log']);
  repo.requireSound();
});

test('additions, deletions, modes, links and moves arrive as they were made', async () => {
  const repo = newProject();
  const wt = repo.worktree('wt');
  wt.write('bin/run', executable('#!/bin/sh\n'));
  wt.write('src/login.ts', null);
  wt.write('link', linkTo('src/cart.ts'));
  wt.git('mv', 'src/search.ts', 'src/find.ts');
  wt.write('README.md', executable(repo.read('README.md')));
  wt.write('empty', '');
  await askSennit(['land', '../wt', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.git('diff', '--no-renames', '--name-status', 'main~1', 'main').split('\n')).toEqual([
    'M\tREADME.md',
    'A\tbin/run',
    'A\tempty',
    'A\tlink',
    'A\tsrc/find.ts',
    'D\tsrc/login.ts',
    'D\tsrc/search.ts',
  ]);
  expect(repo.entry('main', 'bin/run')?.mode).toBe('100755');
  expect(repo.entry('main', 'README.md')?.mode).toBe('100755');
  expect(repo.entry('main', 'link')?.mode).toBe('120000');
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('changes of several sources to different parts of one file are joined, and the rung is told', async () => {
  const repo = newProject();
  repo.worktree('a').write('src/cart.ts', lines('cart', 40, { 2: 'from a' }));
  repo.worktree('b').write('src/cart.ts', lines('cart', 40, { 20: 'from b' }));
  repo.commitTo('c', { 'src/cart.ts': lines('cart', 40, { 38: 'from c' }) });
  const answer = await askSennit(['land', '../a', '../b', 'c', '--into', 'main', '--no-gate'], 0, {
    cwd: repo,
  });
  expect(repo.blob('main', 'src/cart.ts')).toBe(
    lines('cart', 40, { 2: 'from a', 20: 'from b', 38: 'from c' }),
  );
  const joined = answer.paths.filter((path) => path.path === 'src/cart.ts');
  expect(joined.length).toBeGreaterThan(0);
  expect(joined.every((path) => path.rung === 'text' && path.reason !== '' && path.ms >= 0)).toBe(true);
  expect(repo.parents('main')).toHaveLength(1);
});

test('a rename in one source and an edit in another meet in the renamed file', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.git('mv', 'src/cart.ts', 'src/basket.ts');
  repo.worktree('b').write('src/cart.ts', lines('cart', 40, { 20: 'from b' }));
  await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/basket.ts')).toBe(lines('cart', 40, { 20: 'from b' }));
  expect(repo.blob('main', 'src/cart.ts')).toBeUndefined();
});

test('the same change in two sources lands once', async () => {
  const repo = newProject();
  for (const name of ['a', 'b']) repo.worktree(name).writeAll({ 'src/cart.ts': 'same\n', new: 'same\n' });
  await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/cart.ts')).toBe('same\n');
});

test('the message is the one given, with the trailers after it', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate', '-m', 'Add the new file\n\nBecause.'], 0, {
    cwd: repo,
  });
  const message = repo.message('main');
  expect(message).toMatch(/^Add the new file\n\nBecause\.\n\nSennit-Operation: /);
  expect(repo.trailers('main', 'Sennit-Source')).toHaveLength(1);
});

test('trailers of the message that is given stay trailers', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const message = 'Add the new file\n\nBecause.\n\nFixes: 12\nCo-authored-by: Someone <someone@test.invalid>';
  await askSennit(['land', '../a', '--into', 'main', '--no-gate', '-m', message], 0, { cwd: repo });
  expect(repo.trailers('main', 'Fixes')).toEqual(['12']);
  expect(repo.trailers('main', 'Co-authored-by')).toEqual(['Someone <someone@test.invalid>']);
  expect(repo.trailers('main', 'Sennit-Source')).toHaveLength(1);
});

test('without a message it tells what the sources are about', async () => {
  const repo = newProject();
  repo.commitTo('feature-login', { new: 'new\n' }, { message: 'login: remember the user' });
  repo.worktree('wt-cart').write('cart', 'cart\n');
  await askSennit(['land', 'feature-login', '../wt-cart', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const message = repo.message('main');
  expect(message).toContain('feature-login');
  expect(message).toContain('wt-cart');
  expect(message).toContain('login: remember the user');
  expect(message.split('\n')[0]?.length ?? 0).toBeLessThanOrEqual(100);
});

test('a dry run changes nothing and foretells the tree', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('src/cart.ts', lines('cart', 40, { 2: 'from a' }));
  repo.commitTo('b', { 'src/cart.ts': lines('cart', 40, { 39: 'from b' }) });
  const before = readState(repo, { sennitRefs: true });
  const dry = await askSennit(['land', '../a', 'b', '--into', 'main', '--no-gate', '--dry-run'], 0, {
    cwd: repo,
  });
  expect(dry.result).toBe('dry_run');
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  const landed = await askSennit(['land', '../a', 'b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(dry.tree).toBe(landed.tree);
});

test('a dry run tells conflicts and keeps nothing of them', async () => {
  const repo = newProject();
  repo.commitTo('a', { 'src/cart.ts': 'a\n' });
  repo.commitTo('b', { 'src/cart.ts': 'b\n' });
  const before = readState(repo, { sennitRefs: true });
  const dry = await askSennit(['land', 'a', 'b', '--into', 'main', '--no-gate', '--dry-run'], 3, {
    cwd: repo,
  });
  expect(dry.conflicts.map((conflict) => conflict.path)).toEqual(['src/cart.ts']);
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  const conflicts = await askSennit(['conflicts'], 0, { cwd: repo });
  expect(conflicts.conflicts).toEqual([]);
});

test('globs name branches and worktrees, tags and commit ids name commits', async () => {
  const repo = newProject();
  repo.commitTo('wt/one', { one: '1\n' });
  repo.commitTo('wt/two', { two: '2\n' });
  repo.worktree('agent-a').write('three', '3\n');
  repo.worktree('agent-b').write('four', '4\n');
  repo.commitTo('tagged', { five: '5\n' });
  repo.git('tag', '-a', 'v1', 'tagged', '-m', 'annotated');
  const commit = repo.commitTo('by-id', { six: '6\n' });
  const answer = await askSennit(
    ['land', 'wt/*', '../agent-*', 'v1', commit, '--into', 'main', '--no-gate'],
    0,
    {
      cwd: repo,
    },
  );
  expect(answer.sources).toHaveLength(6);
  expect(repo.changed('main~1', 'main')).toEqual(['five', 'four', 'one', 'six', 'three', 'two']);
});

test('for people it says what landed, that no gate ran, and how to take it back', async () => {
  const repo = newProject();
  repo.worktree('wt-cart').write('new', 'new\n');
  const run = (await runSennit(['land', '../wt-cart', '--into', 'main'], { cwd: repo })).expectCode(0);
  expect(run.stdout).toContain(repo.oid('main').slice(0, 7));
  expect(run.stdout).toContain('main');
  expect(run.stdout).toContain('wt-cart');
  expect(run.stdout).toMatch(/no gate|not gated|without a gate/i);
  expect(run.stdout).toContain('sennit undo');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NO_COLOR is set, so there must be none
  expect(run.stdout).not.toMatch(/\u001b\[/);
});

test('sources that land nothing but a file mode or an empty folder are no surprise', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('src/cart.ts', executable(repo.read('src/cart.ts')));
  a.place.at('a/empty-folder');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.entry('main', 'src/cart.ts')?.mode).toBe('100755');
  expect(repo.changed('main~1', 'main')).toEqual(['src/cart.ts']);
  expect(existsSync(a.path('empty-folder'))).toBe(true);
});

test('twelve sources land in one commit', async () => {
  const repo = newProject();
  const names = Array.from({ length: 12 }, (_, i) => `branch-${i}`);
  for (const [i, name] of names.entries()) {
    repo.commitTo(name, {
      [`new-${i}`]: `${i}\n`,
      'src/cart.ts': lines('cart', 40, { [3 * i + 1]: `by ${name}` }),
    });
  }
  await askSennit(['land', ...names, '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.parents('main')).toHaveLength(1);
  expect(repo.changed('main~1', 'main')).toHaveLength(13);
  expect(repo.trailers('main', 'Sennit-Source')).toHaveLength(12);
  for (const name of names) expect(repo.blob('main', 'src/cart.ts')).toContain(`by ${name}\n`);
});
