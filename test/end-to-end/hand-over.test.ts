// What no rung settles: it stops before anything has changed, hands the conflict over with all that is needed to
// settle it, takes the decision, remembers it, and lands.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProject, lines, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { type Answer, askSennit, expectRefusal, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

/** Line 10 of the cart, changed by worktrees `a` and `b` in different ways; `b` has a clean change besides. */
function collide(repo: Repository): void {
  repo.worktree('a').write('src/cart.ts', lines('cart', 40, { 10: 'ten by a' }));
  repo.worktree('b').writeAll({ 'src/cart.ts': lines('cart', 40, { 10: 'ten by b' }), 'from-b': 'b\n' });
}

const LAND = ['land', '../a', '../b', '--into', 'main', '--no-gate'];

function scratchOf(repo: Repository, answer: Answer): Repository {
  expect(answer.handover?.worktree).toMatch(/\S/);
  return new Repository(repo.place, answer.handover?.worktree ?? '');
}

test('two edits of one line stop the landing before anything has changed', async () => {
  const repo = newProject();
  collide(repo);
  const before = readState(repo);
  const answer = await askSennit(LAND, 3, { cwd: repo });
  expect(answer.result).toBe('conflicts');
  expect(answer.conflicts).toMatchObject([{ path: 'src/cart.ts', kind: 'content' }]);
  expect([...(answer.conflicts[0]?.sources ?? [])].sort()).toEqual(['a', 'b']);
  expect(answer.commit ?? null).toBeNull();
  const next = answer.next.join('\n');
  expect(next).toContain('sennit continue');
  expect(next).toContain('sennit abort');

  const after = readState(repo);
  expect(after.refs).toEqual(before.refs);
  expect(after.files).toEqual(before.files);
  expect(after.worktrees).toMatchObject(before.worktrees);

  // The merge as far as it came, with diff3 markers that name the sides, under the common git dir.
  const scratch = scratchOf(repo, answer);
  expect(scratch.dir.startsWith(join(repo.commonDir(), 'sennit'))).toBe(true);
  const text = scratch.read('src/cart.ts');
  expect(text).toMatch(/^<<<<<<< \S+/m);
  expect(text).toMatch(/^\|\|\|\|\|\|\|/m);
  expect(text).toMatch(/^>>>>>>> b$/m);
  expect(text).toContain('ten by a\n');
  expect(text).toContain('ten by b\n');
  expect(text).toContain('cart 10\n');
  expect(scratch.read('from-b')).toBe('b\n');

  // The packet, for programs and for people.
  const packet = JSON.parse(readFileSync(answer.handover?.packet ?? '', 'utf8'));
  expect(packet.conflicts).toMatchObject([{ path: 'src/cart.ts', kind: 'content' }]);
  const markdown = readFileSync(join(dirname(answer.handover?.packet ?? ''), 'conflicts.md'), 'utf8');
  expect(markdown).toContain('src/cart.ts');
  expect(markdown).toContain('sennit resolve src/cart.ts --take');

  const listed = await askSennit(['conflicts'], 0, { cwd: repo });
  expect(listed.conflicts).toMatchObject([{ path: 'src/cart.ts', kind: 'content' }]);
  const status = await runSennit(['status'], { cwd: repo });
  expect(status.expectCode(0).stdout).toContain(answer.operation);
  expect(status.stdout).toContain('sennit continue');
});

for (const take of ['base', 'target', 'change'] as const) {
  test(`resolve --take ${take}, then continue`, async () => {
    const repo = newProject();
    collide(repo);
    const old = repo.oid('main');
    const stopped = await askSennit(LAND, 3, { cwd: repo });
    const change = stopped.conflicts[0]?.sources.at(-1) ?? '';
    await askSennit(['resolve', 'src/cart.ts', '--take', take], 0, { cwd: repo });
    expect((await askSennit(['conflicts'], 0, { cwd: repo })).conflicts).toEqual([]);
    const answer = await askSennit(['continue'], 0, { cwd: repo });
    expect(answer.result).toBe('landed');
    expect(answer.operation).toBe(stopped.operation);
    const expected = {
      base: 'cart 10',
      target: `ten by ${change === 'b' ? 'a' : 'b'}`,
      change: `ten by ${change}`,
    }[take];
    expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 10: expected }));
    expect(repo.blob('main', 'from-b')).toBe('b\n');
    expect(repo.parents('main')).toEqual([old]);
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(answer.paths.find((path) => path.path === 'src/cart.ts')?.rung).toBe('hand-over');
    expect(existsSync(stopped.handover?.worktree ?? '')).toBe(false);
    expect(repo.git('worktree', 'list').split('\n')).toHaveLength(3);
  });
}

test('resolve --take file, from a folder below the root', async () => {
  const repo = newProject();
  collide(repo);
  await askSennit(LAND, 3, { cwd: repo });
  const cwd = repo.place.at('elsewhere');
  writeFileSync(join(cwd.dir, 'mine'), 'written by hand\n');
  await askSennit(['resolve', 'src/cart.ts', '--take', 'file', join(cwd.dir, 'mine')], 0, { cwd: repo });
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/cart.ts')).toBe('written by hand\n');
});

test('editing in place, then continue', async () => {
  const repo = newProject();
  collide(repo);
  const scratch = scratchOf(repo, await askSennit(LAND, 3, { cwd: repo }));
  await askSennit(['continue'], 3, { cwd: repo });
  scratch.write('src/cart.ts', lines('cart', 40, { 10: 'ten by both' }));
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 10: 'ten by both' }));
});

test('continue also works from inside the scratch worktree', async () => {
  const repo = newProject();
  collide(repo);
  const scratch = scratchOf(repo, await askSennit(LAND, 3, { cwd: repo }));
  scratch.write('src/cart.ts', 'resolved inside\n');
  scratch.git('add', 'src/cart.ts');
  await askSennit(['continue'], 0, { cwd: scratch });
  expect(repo.blob('main', 'src/cart.ts')).toBe('resolved inside\n');
});

test('continue with a conflict left says which, and lands nothing', async () => {
  const repo = newProject();
  collide(repo);
  const before = readState(repo);
  await askSennit(LAND, 3, { cwd: repo });
  const answer = await askSennit(['continue'], 3, { cwd: repo });
  expect(JSON.stringify(answer)).toContain('src/cart.ts');
  expect(readState(repo).refs).toEqual(before.refs);
});

test('abort gives up and leaves everything as it was', async () => {
  const repo = newProject();
  collide(repo);
  const before = readState(repo);
  const stopped = await askSennit(LAND, 3, { cwd: repo });
  await askSennit(['abort'], 0, { cwd: repo });
  expect(readState(repo)).toEqual(before);
  expect(existsSync(stopped.handover?.worktree ?? '')).toBe(false);
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(3);
  expect((await askSennit(['conflicts'], 0, { cwd: repo })).conflicts).toEqual([]);
  await expectRefusal(['continue'], { exit: 2, code: 'operation_none' }, { cwd: repo });
  // The work is still there to be landed.
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
});

test('without a waiting operation there is nothing to continue, abort or resolve', async () => {
  const repo = newProject();
  for (const args of [['continue'], ['abort'], ['resolve', 'src/cart.ts', '--take', 'base']]) {
    await expectRefusal(args, { exit: 2, code: 'operation_none' }, { cwd: repo });
  }
});

test('a path that is not in conflict cannot be resolved', async () => {
  const repo = newProject();
  collide(repo);
  await askSennit(LAND, 3, { cwd: repo });
  for (const path of ['src/login.ts', 'nosuch']) {
    await expectRefusal(
      ['resolve', path, '--take', 'base'],
      { exit: 2, code: 'conflict_unknown', says: /src\/cart\.ts/ },
      { cwd: repo },
    );
  }
  await expectRefusal(
    ['resolve', 'src/cart.ts', '--take', 'file', 'no-such-file'],
    { exit: 2, code: 'usage_wrong', says: /no-such-file/ },
    { cwd: repo },
  );
});

test('a remembered resolution is replayed when the same three versions meet again', async () => {
  const repo = newProject();
  collide(repo);
  const scratch = scratchOf(repo, await askSennit(LAND, 3, { cwd: repo }));
  scratch.write('src/cart.ts', lines('cart', 40, { 10: 'ten by both' }));
  await askSennit(['continue'], 0, { cwd: repo });
  await askSennit(['undo'], 0, { cwd: repo });
  const again = await askSennit(LAND, 0, { cwd: repo });
  expect(again.result).toBe('landed');
  expect(repo.blob('main', 'src/cart.ts')).toBe(lines('cart', 40, { 10: 'ten by both' }));
  expect(again.paths.find((path) => path.path === 'src/cart.ts')?.reason).toMatch(/replay|remember|earlier/i);
});

test('a resolution is not replayed where one of the versions differs', async () => {
  const repo = newProject();
  collide(repo);
  await askSennit(LAND, 3, { cwd: repo });
  await askSennit(['resolve', 'src/cart.ts', '--take', 'target'], 0, { cwd: repo });
  await askSennit(['continue'], 0, { cwd: repo });
  await askSennit(['undo'], 0, { cwd: repo });
  new Repository(repo.place, join(repo.place.root, 'b')).write(
    'src/cart.ts',
    lines('cart', 40, { 10: 'ten, anew' }),
  );
  const again = await askSennit(LAND, 3, { cwd: repo });
  expect(again.conflicts.map((conflict) => conflict.path)).toEqual(['src/cart.ts']);
});

test('the target that moved while a person decided is merged again, and the decision is kept', async () => {
  const repo = newProject();
  collide(repo);
  await askSennit(LAND, 3, { cwd: repo });
  repo.commit('main goes on', { meanwhile: 'meanwhile\n' });
  const tip = repo.oid('main');
  await askSennit(['resolve', 'src/cart.ts', '--take', 'change'], 0, { cwd: repo });
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.parents('main')).toEqual([tip]);
  expect(repo.blob('main', 'meanwhile')).toBe('meanwhile\n');
  expect(repo.blob('main', 'src/cart.ts')).toContain('ten by ');
});

test('what the workspaces did after the hand-over is not in the landing', async () => {
  const repo = newProject();
  collide(repo);
  await askSennit(LAND, 3, { cwd: repo });
  new Repository(repo.place, join(repo.place.root, 'a')).write('later', 'later\n');
  await askSennit(['resolve', 'src/cart.ts', '--take', 'change'], 0, { cwd: repo });
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.blob('main', 'later')).toBeUndefined();
});

test('conflicts of several sources are handed over one source after the other', async () => {
  const repo = newProject();
  collide(repo);
  repo.commitTo('c', { 'src/cart.ts': lines('cart', 40, { 10: 'ten by c' }), 'from-c': 'c\n' });
  const stopped = await askSennit([...LAND.slice(0, 3), 'c', ...LAND.slice(3)], 3, { cwd: repo });
  expect(stopped.conflicts).toHaveLength(1);
  await askSennit(['resolve', 'src/cart.ts', '--take', 'target'], 0, { cwd: repo });
  const second = await askSennit(['continue'], 3, { cwd: repo });
  expect(second.conflicts.map((conflict) => conflict.path)).toEqual(['src/cart.ts']);
  await askSennit(['resolve', 'src/cart.ts', '--take', 'change'], 0, { cwd: repo });
  const landed = await askSennit(['continue'], 0, { cwd: repo });
  expect(landed.result).toBe('landed');
  expect(repo.files('main')).toEqual(expect.arrayContaining(['from-b', 'from-c']));
  expect(repo.parents('main')).toHaveLength(1);
});

test('a conflict in a path with an odd name can be settled by the command that is proposed', async () => {
  const repo = newProject();
  const name = 'odd "name"\nof ü.txt';
  repo.commit('odd', { [name]: 'base\n' });
  repo.commitTo('a', { [name]: 'a\n' });
  repo.commitTo('b', { [name]: 'b\n' });
  const stopped = await askSennit(['land', 'a', 'b', '--into', 'main', '--no-gate'], 3, { cwd: repo });
  const shown = stopped.conflicts[0]?.path ?? '';
  expect(shown).not.toContain('\n');
  await askSennit(['resolve', shown, '--take', 'change'], 0, { cwd: repo });
  await askSennit(['continue'], 0, { cwd: repo });
  expect(['a\n', 'b\n']).toContain(repo.blob('main', name));
});
