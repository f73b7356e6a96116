// A push that meets somebody else's commits: nobody's work is forced over, and the landing is not thrown away.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Repository, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: '1\n', g: '1\n' });
});

/** A bare remote `origin` of a new repository, up to date, and a second clone of it: a colleague's. */
function withRemote(): { repo: Repository; origin: Repository; other: Repository } {
  const repo = newRepo();
  const origin = Repository.create(repo.place, 'origin', { bare: true });
  repo.git('remote', 'add', 'origin', origin.dir);
  repo.git('push', '-q', '-u', 'origin', 'main');
  repo.git('clone', '-q', origin.dir, join(repo.place.root, 'other'));
  return { repo, origin, other: new Repository(repo.place, join(repo.place.root, 'other')) };
}

test("a colleague's commit on the remote is merged, validated again and never forced over (M28)", async () => {
  const { repo, origin, other } = withRemote();
  const human = other.commit('human', { 'human.ts': 'h\n' });
  other.git('push', '-q');
  repo.worktree('a').write('f', '2\n');

  const runs = join(repo.place.root, 'gate-runs');
  const gate = `git rev-parse 'HEAD^{tree}' >> '${runs}'`;
  const answer = await askSennit(['land', '../a', '--into', 'main', '--gate', gate, '--push'], 0, {
    cwd: repo,
  });
  expect(origin.blob('main', 'human.ts')).toBe('h\n');
  expect(origin.blob('main', 'f')).toBe('2\n');
  expect(origin.git('merge-base', '--is-ancestor', human, 'main')).toBe('');
  expect(origin.oid('main')).toBe(answer.commit);
  // What was pushed is what the gate saw last.
  expect(readFileSync(runs, 'utf8').trim().split('\n').at(-1)).toBe(origin.tree('main'));
});

test('a commit that arrives on the remote while the gate runs is not forced over (M28)', async () => {
  const { repo, origin, other } = withRemote();
  repo.worktree('a').write('f', '2\n');
  const runs = join(repo.place.root, 'gate-runs');
  other.commit('human', { 'human.ts': 'h\n' });
  const gate = `git rev-parse 'HEAD^{tree}' >> '${runs}'; git -C '${other.dir}' push -q origin main`;
  const answer = await askSennit(['land', '../a', '--into', 'main', '--gate', gate, '--push'], 0, {
    cwd: repo,
  });
  expect(origin.oid('main')).toBe(answer.commit);
  expect(origin.blob('main', 'human.ts')).toBe('h\n');
  expect(origin.blob('main', 'f')).toBe('2\n');
  const trees = readFileSync(runs, 'utf8').trim().split('\n');
  expect(trees).toHaveLength(2);
  expect(trees[1]).toBe(origin.tree('main'));
});

test('when the two collide, both survive and the conflict is handed over (M28)', async () => {
  const { repo, origin, other } = withRemote();
  const a = repo.worktree('a');
  a.write('f', 'agent\n');
  const human = other.commit('human', { f: 'human\n' });
  other.git('push', '-q');
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--push', '--json'], {
    cwd: repo,
  });
  run.expectCode(3);
  expect(run.json().conflicts.map((conflict) => conflict.path)).toEqual(['f']);
  expect(origin.oid('main')).toBe(human);
  expect(a.read('f')).toBe('agent\n');
});

test('a landing that can never be pushed survives locally under a ref (M28)', async () => {
  const { repo, origin } = withRemote();
  const before = origin.oid('main');
  const count = join(repo.place.root, 'push-attempts');
  const hook = join(origin.dir, 'hooks/pre-receive');
  mkdirSync(join(origin.dir, 'hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\necho x >> '${count}'\necho 'protected branch' >&2\nexit 1\n`);
  chmodSync(hook, 0o755);
  const a = repo.worktree('a');
  a.write('f', '2\n');

  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--push', '--json'], {
    cwd: repo,
  });
  expect([1, 5], run.story()).toContain(run.code);
  expect(['push_failed', 'push_rejected']).toContain(run.json().error?.code);
  expect(`${run.json().error?.message}`).toContain('protected branch');
  expect(origin.oid('main')).toBe(before);
  expect(readFileSync(count, 'utf8').split('\n').length - 1).toBeLessThanOrEqual(10);
  expect(a.read('f')).toBe('2\n');
  const blob = repo.gitWith({ input: '2\n' }, 'hash-object', '--stdin');
  expect(repo.git('rev-list', '--objects', '--no-object-names', '--all').split('\n')).toContain(blob);
});

test('a remote that cannot be reached loses nothing (M28)', async () => {
  const { repo, origin } = withRemote();
  repo.git('remote', 'set-url', 'origin', join(repo.place.root, 'nowhere'));
  const a = repo.worktree('a');
  a.write('f', '2\n');
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--push', '--json'], {
    cwd: repo,
  });
  expect(run.code, run.story()).toBe(1);
  expect(run.json().error?.hint).toMatch(/\S/);
  expect(a.read('f')).toBe('2\n');
  expect(existsSync(join(repo.place.root, 'nowhere'))).toBe(false);
  repo.requireSound();

  // The way out that it names works once the remote is there again.
  repo.git('remote', 'set-url', 'origin', origin.dir);
  const waits = `${run.json().error?.hint} ${run.json().next.join(' ')}`.includes('sennit continue');
  const again = waits ? ['continue'] : ['land', '../a', '--into', 'main', '--no-gate', '--push'];
  await askSennit(again, 0, { cwd: repo });
  expect(origin.blob('main', 'f')).toBe('2\n');
});
