// A machine or a repository that cannot do what is needed: nobody to be the author, a read-only git dir, objects that
// are not there, no git. A clear error, and nothing changed.

import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { throughMounts } from '../support/mounts.ts';
import { buildProject, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, expectRefusal } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

interface Refusal {
  readonly args: readonly string[];
  readonly exit: number;
  readonly code: string;
  readonly says?: RegExp;
}

/** Runs a command that must be refused and checks that all refs, checkouts and settings are as they were. */
async function expectUntouched(repo: Repository, { args, ...expected }: Refusal): Promise<void> {
  const before = readState(repo, { sennitRefs: true });
  await expectRefusal(args, expected, { cwd: repo });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
}

test('nobody to be the author', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  repo.git('config', '--global', '--unset', 'user.name');
  repo.git('config', '--global', '--unset', 'user.email');
  repo.git('config', '--global', 'user.useConfigOnly', 'true');
  await expectUntouched(repo, {
    args: ['land', 'a', '--into', 'main', '--no-gate'],
    exit: 2,
    code: 'identity_missing',
    says: /user\.(name|email)/,
  });
});

test('a read-only git dir', async (context) => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  const git = repo.commonDir();
  // Rights do not stop root: for root it is mounted read-only.
  const root = process.getuid?.() === 0;
  const through = root
    ? throughMounts(repo.place, `mount --bind '${git}' '${git}'; mount -o remount,ro,bind '${git}'`)
    : [];
  if (through === undefined) {
    context.skip('as root this needs the right to mount in a mount namespace of its own');
    return;
  }
  if (!root) repo.place.setWritable(git, false);
  const before = readState(repo, { sennitRefs: true });
  for (const args of [
    ['land', '../a', '--into', 'main', '--no-gate'],
    ['land', '../a', '--into', 'main', '--no-gate', '--branch', 'b'],
  ]) {
    await expectRefusal(args, { exit: 1, code: 'repository_readonly' }, { cwd: repo, through });
  }
  await askSennit(['status'], 0, { cwd: repo, through });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  expect(a.read('new')).toBe('new\n');
  if (!root) repo.place.setWritable(git, true);
});

test('a shallow clone in which the common base is missing, and one in which it is not', async () => {
  const full = newProject();
  full.commitTo('feature', { new: 'new\n' });
  full.commit('main goes on', { more: 'more\n' });
  full.git(
    'clone',
    '-q',
    '--depth=1',
    '--no-single-branch',
    `file://${full.dir}`,
    join(full.place.root, 'shallow'),
  );
  const repo = new Repository(full.place, join(full.place.root, 'shallow'));
  expect(repo.git('rev-parse', '--is-shallow-repository')).toBe('true');
  await expectUntouched(repo, {
    args: ['land', 'origin/feature', '--into', 'main', '--no-gate'],
    exit: 1,
    code: 'repository_shallow',
    says: /unshallow/,
  });
  repo.worktree('a').write('work', 'work\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'work')).toBe('work\n');
});

test('a partial clone that lacks a file and cannot fetch it', async () => {
  const full = newProject();
  full.git('config', 'uploadpack.allowFilter', 'true');
  full.commitTo('feature', { 'README.md': 'theirs\n' });
  full.commit('main goes on', { 'README.md': 'mine\n' });
  full.git('clone', '-q', '--filter=blob:none', `file://${full.dir}`, join(full.place.root, 'partial'));
  const repo = new Repository(full.place, join(full.place.root, 'partial'));
  renameSync(full.dir, join(full.place.root, 'away'));
  await expectUntouched(repo, {
    args: ['land', 'origin/feature', '--into', 'main', '--no-gate'],
    exit: 1,
    code: 'object_missing',
    says: /fetch/,
  });
});

test('no git, and a git that is too old', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  const before = readState(repo, { sennitRefs: true });
  const empty = repo.place.at('empty');
  const env = { PATH: empty.dir };
  await expectRefusal(['land', 'a', '--into', 'main'], { exit: 1, code: 'git_missing' }, { cwd: repo, env });

  const git = join(repo.place.bin, 'git');
  writeFileSync(
    git,
    '#!/bin/sh\nfor word in "$@"; do case $word in version|--version) echo "git version 2.38.1"; exit 0;; esac; done\n' +
      'PATH=$(echo "$PATH" | cut -d: -f2-); exec git "$@"\n',
  );
  chmodSync(git, 0o755);
  await expectRefusal(
    ['land', 'a', '--into', 'main'],
    { exit: 1, code: 'git_too_old', says: /2\.39/ },
    { cwd: repo },
  );
  rmSync(git);
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});
