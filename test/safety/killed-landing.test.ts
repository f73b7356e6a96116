import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectLandedOnce, expectUntouched, newScene, type Scene } from '../support/killed-landing.ts';
import { Repository, readFiles } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const POINTS = [
  'operation-started',
  'sources-captured',
  'snapshots-anchored',
  'merged',
  'candidate-anchored',
  'gate-passed',
  'landing-prepared',
  'target-moved',
  'checkout-advanced',
  'landing-recorded',
  'cleaned-up',
];

/** Kills a command at a point, as a power cut would. */
async function killAt(point: string, args: readonly string[], { repo }: Scene): Promise<void> {
  const run = await runSennit(args, { cwd: repo, env: { SENNIT_TEST_CRASH_AT: point } });
  expect(run.signal, run.story()).toBe('SIGKILL');
}

for (const point of POINTS) {
  test(`a landing killed at ${point} is finished or rolled back, and lands exactly once`, async () => {
    const scene = newScene(['--gate', 'test -e deep/new']);
    await killAt(point, scene.args, scene);
    await askSennit(['status'], 0, { cwd: scene.repo });
    await expectLandedOnce(scene);
  });
}

for (const point of ['landing-prepared', 'pushed', 'target-moved', 'landing-recorded']) {
  test(`a pushed landing killed at ${point} is on the remote exactly once`, async () => {
    const scene = newScene(['--no-gate', '--push']);
    const { repo } = scene;
    repo.git('init', '-q', '--bare', '../origin.git');
    repo.git('remote', 'add', 'origin', join(repo.place.root, 'origin.git'));
    repo.git('push', '-q', 'origin', 'main');
    await killAt(point, scene.args, scene);
    await expectLandedOnce({ ...scene, args: [...scene.args] });
    const remote = new Repository(repo.place, join(repo.place.root, 'origin.git'));
    expect(remote.oid('main')).toBe(repo.oid('main'));
  });
}

test('conflicts handed over by a process that was killed wait, and are resolved by the next', async () => {
  const scene = newScene(['--no-gate']);
  const { repo } = scene;
  repo.commitTo('other', { 'src/cart.ts': 'all anew\n' });
  const args = ['land', '../one', '../two', 'other', '--into', 'main', '--no-gate'];
  await killAt('handed-over', args, scene);
  const waiting = await askSennit(['conflicts'], 0, { cwd: repo });
  expect(waiting.conflicts.map(({ path }) => path)).toEqual(['src/cart.ts']);
  await askSennit(['resolve', 'src/cart.ts', '--take', 'target'], 0, { cwd: repo });
  for (const point of ['candidate-anchored', 'target-moved']) {
    const run = await runSennit(['continue'], { cwd: repo, env: { SENNIT_TEST_CRASH_AT: point } });
    if (run.signal === null) break;
  }
  // Whatever came of it, the same landing again ends with everything in, once.
  const end = await runSennit([...args, '--json'], { cwd: repo });
  if (end.code === 3) {
    await askSennit(['resolve', 'src/cart.ts', '--take', 'target'], 0, { cwd: repo });
    await askSennit(['continue'], 0, { cwd: repo });
  } else end.expectCode(0);
  expect(
    repo.git('log', '--format=%H', '--grep=^Sennit-Source: other ', 'main').split('\n').filter(Boolean),
  ).toHaveLength(1);
  expectUntouched(scene);
});

test('a landing killed while nothing has the target checked out moves it once', async () => {
  const scene = newScene(['--no-gate']);
  const { repo } = scene;
  repo.git('checkout', '-q', '-b', 'elsewhere');
  await killAt('target-moved', scene.args, scene);
  await askSennit(scene.args, 0, { cwd: repo });
  expect(repo.blob('main', 'deep/new')).toBe('new\n');
  expect(readFiles(repo.dir)['deep/new']).toBeUndefined();
  expectUntouched(scene);
});
