// Wrong or missing input: a clear error with code and hint, the right exit code, and nothing changed.

import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProject, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';
import { askSennit, expectRefusal, runSennit } from '../support/sennit.ts';

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

test('no repository', async () => {
  const place = sealedPlace();
  const cwd = place.at('plain');
  for (const args of [
    ['land', 'a', '--into', 'main'],
    ['forecast', 'a', 'b'],
    ['status'],
    ['undo'],
    ['gc'],
    ['conflicts'],
    ['log'],
  ]) {
    await expectRefusal(args, { exit: 2, code: 'repository_missing', says: /repository/ }, { cwd });
  }
  // A folder above that is one does not count when the user's ceiling says so; a file is no repository either.
  writeFileSync(join(cwd.dir, '.git'), 'gitdir: /nowhere\n');
  await expectRefusal(['land', 'a', '--into', 'main'], { exit: 2, code: 'repository_missing' }, { cwd });
});

test('no commit yet', async () => {
  const repo = Repository.create(sealedPlace());
  repo.write('f', 'f\n');
  await expectRefusal(
    ['land', 'a', '--no-gate'],
    { exit: 2, code: 'repository_empty', says: /commit/ },
    { cwd: repo },
  );
  expect(repo.refs()).toEqual({});
  expect(repo.status()).toEqual(['?? f']);
});

test('no source', async () => {
  const repo = newProject();
  await expectUntouched(repo, {
    args: ['land', '--into', 'main'],
    exit: 2,
    code: 'usage_wrong',
    says: /source/,
  });
});

test('an unknown option and an unknown command', async () => {
  const repo = newProject();
  await expectUntouched(repo, {
    args: ['land', 'main', '--frobnicate'],
    exit: 2,
    code: 'usage_wrong',
    says: /frobnicate/,
  });
  await expectUntouched(repo, { args: ['lnad', 'main'], exit: 2, code: 'usage_wrong', says: /lnad/ });
  await expectUntouched(repo, { args: ['archive', 'shwo'], exit: 2, code: 'usage_wrong', says: /shwo/ });
});

test('an unknown source, also among known ones', async () => {
  const repo = newProject();
  repo.commitTo('known', { new: 'new\n' });
  for (const name of ['nosuch', '../nosuch', 'nosuch/*', '', 'refs/heads/nosuch', '-', 'HEAD~99', '@{u}']) {
    await expectUntouched(repo, {
      args: ['land', '--into', 'main', '--no-gate', 'known', name],
      exit: 2,
      code: 'source_unknown',
    });
  }
});

test('a source that is not a commit', async () => {
  const repo = newProject();
  repo.git('tag', 'a-blob', 'main:README.md');
  for (const name of ['a-blob', repo.oid('main:README.md'), repo.tree('main')]) {
    await expectUntouched(repo, {
      args: ['land', name, '--into', 'main', '--no-gate'],
      exit: 2,
      code: 'source_unknown',
    });
  }
});

test('an unknown target', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  const says = /nosuch/;
  await expectUntouched(repo, {
    args: ['land', 'a', '--into', 'nosuch'],
    exit: 2,
    code: 'target_unknown',
    says,
  });
  repo.git('tag', 'v1');
  await expectUntouched(repo, {
    args: ['land', 'a', '--into', 'v1'],
    exit: 2,
    code: 'target_unknown',
    says: /v1/,
  });
  await expectUntouched(repo, {
    args: ['land', 'a', '--into', repo.oid('main')],
    exit: 2,
    code: 'target_unknown',
  });
});

test('a source that is the target', async () => {
  const repo = newProject();
  const answer = { exit: 2, code: 'source_is_target' };
  await expectUntouched(repo, { args: ['land', 'main', '--into', 'main', '--no-gate'], ...answer });
  await expectUntouched(repo, {
    args: ['land', 'refs/heads/main', '--into', 'main', '--no-gate'],
    ...answer,
  });
  await expectUntouched(repo, { args: ['land', '.', '--into', 'main', '--no-gate'], ...answer });
});

test('a new branch with a name that git does not allow', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  for (const name of ['has space', 'ends.lock', '-dash', 'two..dots', '']) {
    const before = readState(repo, { sennitRefs: true });
    const run = await runSennit(['land', 'a', '--into', 'main', '--no-gate', `--branch=${name}`, '--json'], {
      cwd: repo,
    });
    run.expectCode(2);
    expect(run.json().error?.hint, run.story()).toMatch(/\S/);
    expect(readState(repo, { sennitRefs: true })).toEqual(before);
  }
});

test('a name that is both a branch and a tag', async () => {
  const repo = newProject();
  repo.commitTo('both', { new: 'new\n' });
  repo.git('tag', 'both', 'main');
  await expectUntouched(repo, {
    args: ['land', 'both', '--into', 'main', '--no-gate'],
    exit: 2,
    code: 'source_ambiguous',
    says: /refs\/heads\/both/,
  });
});

test("another repository's worktree", async () => {
  const repo = newProject();
  const other = Repository.create(repo.place, 'other');
  buildProject(other);
  const theirs = other.worktree('theirs');
  theirs.write('new', 'new\n');
  const before = readState(theirs, { sennitRefs: true });
  for (const dir of [theirs.dir, other.dir]) {
    await expectUntouched(repo, {
      args: ['land', dir, '--into', 'main', '--no-gate'],
      exit: 2,
      code: 'source_foreign',
    });
  }
  expect(readState(theirs, { sennitRefs: true })).toEqual(before);
});

test('a plain folder as source', async () => {
  const repo = newProject();
  repo.place.at('plain');
  await expectUntouched(repo, {
    args: ['land', '../plain', '--into', 'main'],
    exit: 2,
    code: 'source_foreign',
  });
  await expectUntouched(repo, { args: ['land', './src', '--into', 'main'], exit: 2, code: 'source_foreign' });
});

test('a worktree that is gone', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'agent' });
  a.commit('work', { new: 'new\n' });
  rmSync(a.dir, { recursive: true });
  await expectUntouched(repo, {
    args: ['land', '../a', '--into', 'main', '--no-gate'],
    exit: 1,
    code: 'source_gone',
    says: /agent/,
  });
  // The work that was committed is still there to be landed.
  await askSennit(['land', 'agent', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'new')).toBe('new\n');
});

test('a detached HEAD without --into', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  repo.git('checkout', '-q', '--detach');
  await expectUntouched(repo, { args: ['land', 'a'], exit: 2, code: 'target_detached', says: /--into/ });
});

test('an untracked, a dirty and an ignored file in the way', async () => {
  const repo = newProject();
  repo.commitTo('untracked', { new: 'new\n' });
  repo.commitTo('dirty', { 'README.md': 'theirs\n' });
  repo.commitTo('ignored', { 'x.log': 'theirs\n' });
  repo.writeAll({ new: 'mine\n', 'README.md': 'mine\n', 'x.log': 'mine\n' });
  for (const [source, path] of Object.entries({ untracked: 'new', dirty: 'README.md', ignored: 'x.log' })) {
    const before = readState(repo);
    const answer = await expectRefusal(
      ['land', source, '--into', 'main', '--no-gate'],
      { exit: 1, code: 'target_dirty' },
      { cwd: repo },
    );
    expect(JSON.stringify(answer)).toContain(`"${path}"`);
    expect(readState(repo)).toEqual(before);
    await runSennit(['abort'], { cwd: repo });
    expect(readState(repo)).toEqual(before);
  }
});

test('broken settings, with line and column', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  const broken: Record<string, RegExp> = {
    'gates:\n  root: [npm test\n': /sennit\.yaml:\d+:\d+/,
    'gates:\n  roof: npm test\n': /sennit\.yaml:2:3[\s\S]*roof/,
    'gates: 7\n': /sennit\.yaml:1:\d+/,
    'gates:\n  root: npm test\ngates:\n  root: npm test\n': /sennit\.yaml:3:1/,
    '- a list\n': /sennit\.yaml:1:\d+/,
  };
  for (const [text, says] of Object.entries(broken)) {
    repo.commit('settings', { 'sennit.yaml': text });
    await expectUntouched(repo, {
      args: ['land', 'a', '--into', 'main'],
      exit: 2,
      code: 'config_invalid',
      says,
    });
  }
  // Settings count where they are committed on the target: a broken file in the checkout alone is nobody's setting.
  repo.commit('no settings', { 'sennit.yaml': null });
  repo.write('sennit.yaml', 'gates: 7\n');
  await askSennit(['land', 'a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
});

test('a wrong value of a flag', async () => {
  const repo = newProject();
  repo.commitTo('a', { new: 'new\n' });
  await expectUntouched(repo, { args: ['land', 'a', '--into'], exit: 2, code: 'usage_wrong', says: /into/ });
  await expectUntouched(repo, {
    args: ['land', 'a', '--gate', 'true', '--no-gate'],
    exit: 2,
    code: 'usage_wrong',
    says: /gate/,
  });
  await expectUntouched(repo, {
    args: ['resolve', 'f', '--take', 'ours'],
    exit: 2,
    code: 'usage_wrong',
    says: /base.*target.*change/,
  });
});

test('a file over the size limit', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'snapshot:\n  max_file_size: 10KB\n' });
  const a = repo.worktree('a');
  a.writeAll({ small: 'small\n', 'data/big.bin': 'x'.repeat(20_000) });
  await expectUntouched(repo, {
    args: ['land', '../a', '--into', 'main', '--no-gate'],
    exit: 1,
    code: 'snapshot_incomplete',
    says: /data\/big\.bin/,
  });
});

test('a branch name that is a symbolic ref to the target, and a target that is one', async () => {
  const repo = newProject();
  repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  repo.commitTo('a', { new: 'new\n' });
  // Landing on the alias lands on main, or is refused; it never leaves the alias as a branch of its own.
  const run = await runSennit(['land', 'a', '--into', 'alias', '--no-gate', '--json'], { cwd: repo });
  expect(repo.git('symbolic-ref', 'refs/heads/alias')).toBe('refs/heads/main');
  if (run.code === 0) {
    expect(repo.blob('main', 'new')).toBe('new\n');
    expect(repo.git('status', '--porcelain')).toBe('');
  } else {
    expect(run.json().error?.hint, run.story()).toMatch(/\S/);
    expect(repo.blob('main', 'new')).toBeUndefined();
  }
});

test('a source path through a symbolic link is the worktree that it leads to', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  symlinkSync(a.dir, join(repo.place.root, 'link'));
  const answer = await askSennit(['land', '../link', '../a', '--into', 'main', '--no-gate'], 0, {
    cwd: repo,
  });
  expect(answer.sources).toHaveLength(1);
  expect(repo.blob('main', 'new')).toBe('new\n');
});

test('without --debug no stack trace, on a terminal or in JSON', async () => {
  const repo = newProject();
  const run = await runSennit(['land', 'nosuch', '--into', 'main'], { cwd: repo });
  run.expectCode(2);
  expect(run.stdout).toBe('');
  expect(run.stderr).toContain('nosuch');
  expect(run.stderr).not.toMatch(/\n\s+at /);
});
