// Git that looks in the wrong place: a lost or moved .git, or variables that a hook leaves behind. Sennit names the
// git dir and the work tree of every call itself, so another repository is neither read nor written.

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Repository, readFiles, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: '1\n', g: '1\n' });
});

test('git in a workspace that lost its .git does not answer for the root (I06)', async () => {
  const repo = newRepo();
  mkdirSync(join(repo.commonDir(), 'info'), { recursive: true });
  appendFileSync(join(repo.commonDir(), 'info/exclude'), '.agents/\n');
  repo.git('worktree', 'add', '-q', '--detach', '.agents/a');
  rmSync(repo.path('.agents/a/.git'));
  repo.write('.agents/a/f', 'work of the agent\n');
  repo.write('f', 'work of the user\n');
  const before = readState(repo);

  for (const cwd of [repo, new Repository(repo.place, repo.path('.agents/a'))]) {
    const source = cwd === repo ? '.agents/a' : '.';
    const answer = await askSennit(['land', source, '--into', 'main', '--no-gate'], 1, { cwd });
    const said = `${answer.error?.message} ${answer.error?.hint} ${answer.next.join(' ')}`;
    expect(said).toContain('.agents/a');
    expect(said).toContain('worktree repair');
  }
  await runSennit(['gc', '.agents/a', '--apply'], { cwd: repo });
  expect(readState(repo)).toEqual(before);

  repo.git('worktree', 'repair');
  repo.git('checkout', '-q', '--', 'f');
  await askSennit(['land', '.agents/a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('work of the agent\n');
});

test('GIT_DIR of a hook does not make the gate or Sennit write to the shared config (I08)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a', { branch: 'a' });
  a.write('new.ts', 'work\n');
  const config = readFileSync(join(repo.commonDir(), 'config'), 'utf8');
  const seen = join(repo.place.root, 'seen');
  const gate = `env | grep -E '^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|PREFIX)=' > '${seen}'; cd "$(mktemp -d)" && git init -q && git config core.bare`;
  // What git exports to the hooks of a push from the linked worktree.
  const env = {
    GIT_DIR: a.gitDir(),
    GIT_INDEX_FILE: join(a.gitDir(), 'index'),
    GIT_PREFIX: '',
    GIT_WORK_TREE: a.dir,
  };
  const before = readState(a);

  await askSennit(['land', a.dir, '--into', 'main', '--gate', gate], 0, { cwd: a, env });
  expect(readFileSync(seen, 'utf8')).toBe('');
  expect(readFileSync(join(repo.commonDir(), 'config'), 'utf8')).toBe(config);
  expect(repo.git('config', 'core.bare')).toBe('false');
  expect(repo.blob('main', 'new.ts')).toBe('work\n');
  expect(readState(a).files).toEqual(before.files);
  expect(readState(a).worktrees['a']).toBe(before.worktrees['a']);
});

test('GIT_DIR of another repository does not make Sennit land there (I08)', async () => {
  const repo = newRepo();
  const stranger = Repository.create(repo.place, 'stranger');
  stranger.commit('theirs', { f: 'theirs\n' });
  const before = readState(stranger, { sennitRefs: true });
  repo.worktree('a').write('f', 'work\n');
  const env = {
    GIT_DIR: stranger.gitDir(),
    GIT_WORK_TREE: stranger.dir,
    GIT_INDEX_FILE: join(stranger.gitDir(), 'index'),
    GIT_OBJECT_DIRECTORY: join(stranger.gitDir(), 'objects'),
    GIT_COMMON_DIR: stranger.gitDir(),
    GIT_NAMESPACE: 'x',
    GIT_CONFIG_PARAMETERS: "'core.bare=true'",
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: stranger.dir,
  };
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo, env });
  expect(repo.blob('main', 'f')).toBe('work\n');
  expect(repo.read('f')).toBe('work\n');
  expect(readState(stranger, { sennitRefs: true })).toEqual(before);
  expect(existsSync(join(stranger.gitDir(), 'sennit'))).toBe(false);
});

test('a repository that was moved does not cut off the work in its worktrees (G08)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', '2\n');
  const moved = new Repository(repo.place, join(repo.place.root, 'moved'));
  renameSync(repo.dir, moved.dir);
  const work = readFiles(a.dir);

  let run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: moved });
  expect(a.read('f')).toBe('2\n');
  if (run.code !== 0) {
    const said = `${run.json().error?.hint} ${run.json().next.join(' ')}`;
    expect(said, run.story()).toContain('worktree repair');
    expect(moved.blob('main', 'f')).toBe('1\n');
    moved.git('worktree', 'repair', '../a');
    run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: moved });
  }
  run.expectCode(0);
  expect(moved.blob('main', 'f')).toBe('2\n');
  expect(readFiles(a.dir)).toEqual(work);
});

test('a worktree whose folder was moved by hand is not taken for gone work (G08)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', '2\n');
  renameSync(a.dir, join(repo.place.root, 'a-moved'));
  await runSennit(['gc', '--apply'], { cwd: repo });
  await runSennit(['doctor', '--fix'], { cwd: repo });
  // Its private git dir, and with it the agent's HEAD and index, is still there.
  repo.git('worktree', 'repair', '../a-moved');
  await askSennit(['land', '../a-moved', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('2\n');
});
