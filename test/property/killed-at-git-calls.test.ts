// A landing is killed at its calls of git, one after another: before git does its work, after it, or while git goes on
// alone. Every run of the tests looks at some of the calls, spread over the whole landing; SENNIT_TEST_RUNS=20 looks at
// all of them. What was cut short is ended by the next command, and everything is landed exactly once.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectLandedOnce, expectUntouched, newScene, type Scene } from '../support/killed-landing.ts';
import { KillingGit, type Moment } from '../support/killing-git.ts';
import { cases } from '../support/random.ts';
import { executable, type Files, lines, linkTo, Repository } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const MOMENTS: readonly Moment[] = ['before', 'after', 'alone'];

/** Some of `all` calls, spread over all of them, each with one of the moments. Other seeds take other ones. */
function someOf(all: number, runs: number): { call: number; moment: Moment }[] {
  const { seed = 0, numRuns = runs } = cases(runs);
  const count = Math.min(numRuns, all * MOMENTS.length);
  return Array.from({ length: count }, (_, i) => {
    const at = Math.floor(((i + (seed % 97) / 97) * all * MOMENTS.length) / count);
    return {
      call: 1 + Math.floor(at / MOMENTS.length),
      moment: MOMENTS[(count < all ? i + seed : at) % MOMENTS.length] ?? 'before',
    };
  });
}

const QUITE_LONG = { timeout: 600_000 };

test('a landing killed at any of its calls of git lands exactly once', QUITE_LONG, async () => {
  const landing = ['--gate', 'test -e deep/new'];
  const whole = newScene(landing);
  const counting = new KillingGit(whole.repo.place);
  await askSennit(whole.args, 0, { cwd: whole.repo, env: counting.env(Number.MAX_SAFE_INTEGER, 'before') });
  for (const { call, moment } of someOf(counting.calls().length, 9)) {
    const scene = newScene(landing);
    const git = new KillingGit(scene.repo.place);
    const run = await runSennit(scene.args, { cwd: scene.repo, env: git.env(call, moment) });
    const where = `killed ${moment} call ${call}: ${git.killedAt()}`;
    expect(run.signal, `${where}\n${run.story()}`).toBe('SIGKILL');
    await expectLandedOnce(scene).catch((error: unknown) => {
      throw new Error(`${where}\n${String(error)}`);
    });
  }
});

/** A landing with a conflict, handed over and resolved. */
async function resolvedScene(): Promise<{ scene: Scene; args: readonly string[] }> {
  const scene = newScene();
  scene.repo.commitTo('other', { 'src/cart.ts': 'all anew\n' });
  const args = ['land', '../one', '../two', 'other', '--into', 'main', '--no-gate'];
  await askSennit(args, 3, { cwd: scene.repo });
  await askSennit(['resolve', 'src/cart.ts', '--take', 'target'], 0, { cwd: scene.repo });
  return { scene, args };
}

test(
  'a hand-over that is killed while it is taken up again keeps what was resolved',
  QUITE_LONG,
  async () => {
    const whole = await resolvedScene();
    const counting = new KillingGit(whole.scene.repo.place);
    const { repo: counted } = whole.scene;
    await askSennit(['continue'], 0, { cwd: counted, env: counting.env(Number.MAX_SAFE_INTEGER, 'before') });
    for (const { call, moment } of someOf(counting.calls().length, 6)) {
      const { scene, args } = await resolvedScene();
      const { repo } = scene;
      const git = new KillingGit(repo.place);
      const run = await runSennit(['continue'], { cwd: repo, env: git.env(call, moment) });
      const where = `killed ${moment} call ${call}: ${git.killedAt()}`;
      expect(run.signal, `${where}\n${run.story()}`).toBe('SIGKILL');
      // Either it still waits, or it was ended one way or the other; what was decided is not asked again.
      const next = await runSennit(['continue', '--json'], { cwd: repo });
      if (next.code !== 0) await askSennit(args, 0, { cwd: repo });
      for (const name of ['one', 'two', 'other']) {
        const landings = repo.git('log', '--format=%H', `--grep=^Sennit-Source: ${name} `, 'main');
        expect(landings.split('\n').filter(Boolean), where).toHaveLength(1);
      }
      expect(repo.blob('main', 'deep/new'), where).toBe('new\n');
      expectUntouched(scene);
      expect(repo.status().sort(), where).toEqual([' M README.md', '?? users own']);
    }
  },
);

/** Files of all kinds, and what one landing does to them. */
function manyFiles(): { before: Files; change: Files } {
  const before: Record<string, Files[string]> = { own: 'x\n' };
  const change: Record<string, Files[string]> = {};
  for (let i = 0; i < 120; i += 1) {
    before[`d${i % 7}/f${i}`] = lines(`f${i}`, 60);
    if (i % 2 === 0) change[`d${i % 7}/f${i}`] = lines(`f${i}`, 60, { 5: 'changed' });
    change[`new${i % 5}/n${i}`] = lines(`n${i}`, 100);
  }
  for (let i = 0; i < 5; i += 1) {
    Object.assign(before, { [`mode/${i}`]: 'run\n', [`gone/${i}`]: 'old\n', [`link/${i}`]: linkTo('a') });
    Object.assign(before, { [`file/${i}`]: 'old\n', [`to-link/${i}`]: 'old\n', [`folder/${i}/x`]: 'old\n' });
    Object.assign(change, {
      [`mode/${i}`]: executable('run\n'),
      [`gone/${i}`]: null,
      [`link/${i}`]: linkTo('b'),
    });
    Object.assign(change, { [`file/${i}`]: null, [`file/${i}/x`]: 'new\n', [`to-link/${i}`]: linkTo('a') });
    Object.assign(change, { [`folder/${i}/x`]: null, [`folder/${i}`]: 'new\n' });
  }
  return { before, change };
}

test(
  'a checkout that git was just bringing forward is whole after the next command',
  QUITE_LONG,
  async () => {
    const { before, change } = manyFiles();
    for (const delay of [0, 0.02, 0.04]) {
      const repo = Repository.create(sealedPlace());
      repo.commit('start', before);
      repo.commitTo('work', change);
      repo.writeAll({ own: 'dirty\n', loose: 'loose\n' });
      const git = new KillingGit(repo.place);
      const args = ['land', 'work', '--into', 'main', '--no-gate'];
      const run = await runSennit(args, {
        cwd: repo,
        env: git.env('read-tree -m -u [0-9a-f]*', 'amid', delay),
      });
      expect(git.killedAt(), run.story()).toMatch(/^read-tree -m -u/);
      await askSennit(args, 0, { cwd: repo });
      expect(repo.status().sort()).toEqual([' M own', '?? loose']);
    }
  },
);

test('the record of a worktree that git had only begun to make does not stay', async () => {
  const scene = newScene(['--gate', 'true']);
  const git = new KillingGit(scene.repo.place);
  await runSennit(scene.args, { cwd: scene.repo, env: git.env('worktree add *', 'before') });
  // What git does first: `git worktree prune` never takes it away, since it is locked.
  const path = / (\S*\/gate-\S+) /.exec(git.killedAt() ?? '')?.[1] ?? '';
  const record = join(scene.repo.commonDir(), 'worktrees', path.split('/').at(-1) ?? '');
  mkdirSync(record);
  writeFileSync(join(record, 'locked'), 'initializing');
  await expectLandedOnce(scene);
});

test('a push that went through although it was cut short is followed by the branch', async () => {
  const scene = newScene(['--no-gate', '--push']);
  const { repo } = scene;
  repo.git('init', '-q', '--bare', '../origin.git');
  repo.git('remote', 'add', 'origin', join(repo.place.root, 'origin.git'));
  repo.git('push', '-q', 'origin', 'main');
  await runSennit(scene.args, { cwd: repo, env: { SENNIT_TEST_CRASH_AT: 'landing-prepared' } });
  // The remote took it; that it did was never heard here.
  const [candidate = ''] = Object.values(repo.refs('refs/sennit/candidates/'));
  repo.git('push', '-q', join(repo.place.root, 'origin.git'), `${candidate}:refs/heads/main`);
  await expectLandedOnce(scene);
  expect(repo.oid('main')).toBe(candidate);
});
