// Hooks of the user's repository: never run as a side effect of Sennit's own git calls, and never silently absent
// when `--verify` asks for them.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: '1\n', g: '1\n' });
});

/** Puts hooks into a folder, each of which notes that it ran; gives the file in which they note it. */
function installHooks(repo: Repository, folder: string, exit = 0): string {
  const ran = join(repo.place.root, 'hooks-ran');
  mkdirSync(folder, { recursive: true });
  for (const hook of [
    'pre-commit',
    'commit-msg',
    'prepare-commit-msg',
    'post-commit',
    'pre-merge-commit',
    'post-merge',
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'pre-push',
    'post-rewrite',
  ]) {
    writeFileSync(join(folder, hook), `#!/bin/sh\necho ${hook} >> '${ran}'\nexit ${exit}\n`);
    chmodSync(join(folder, hook), 0o755);
  }
  return ran;
}

test('hooks do not run, and do not stop a landing, unless they are asked for (I10)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'work\n');
  const ran = installHooks(repo, join(repo.commonDir(), 'hooks'), 1);
  await askSennit(['land', '../a', '--into', 'main', '--gate', 'true'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('work\n');
  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  await askSennit(['undo'], 0, { cwd: repo });
  expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
});

test('with --verify a red pre-commit hook keeps the landing out (I10)', async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', 'work\n');
  const hook = join(repo.commonDir(), 'hooks/pre-commit');
  mkdirSync(join(repo.commonDir(), 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho HOOK says no >&2; exit 1\n');
  chmodSync(hook, 0o755);
  const before = readState(repo);
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate', '--verify'], 1, {
    cwd: repo,
  });
  expect(answer.error?.code).toBe('hook_failed');
  expect(JSON.stringify(answer)).toContain('HOOK says no');
  expect(readState(repo)).toEqual(before);
});

test('with --verify a green hook sees the merged work, and the landing goes through (I10)', async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', 'work\n');
  const seen = join(repo.place.root, 'seen');
  const hook = join(repo.commonDir(), 'hooks/pre-commit');
  mkdirSync(join(repo.commonDir(), 'hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ngit show :f > '${seen}'\n`);
  chmodSync(hook, 0o755);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate', '--verify'], 0, { cwd: repo });
  expect(readFileSync(seen, 'utf8')).toBe('work\n');
  expect(repo.blob('main', 'f')).toBe('work\n');
});

test('with --verify a hook that exists only in the root is not silently absent (I10)', async () => {
  const repo = newRepo();
  repo.commit('husky', { '.husky/.gitignore': '_\n' });
  repo.worktree('a').write('f', 'work\n');
  const ran = installHooks(repo, repo.path('.husky/_'), 1);
  repo.git('config', 'core.hooksPath', '.husky/_');
  const before = repo.oid('main');
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--verify', '--json'], {
    cwd: repo,
  });
  expect(run.code, run.story()).toBe(1);
  expect(run.json().error?.code).toBe('hook_failed');
  expect(readFileSync(ran, 'utf8')).toContain('pre-commit');
  expect(repo.oid('main')).toBe(before);
});
