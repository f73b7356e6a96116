// Repositories inside a workspace: their work must not be lost behind a pointer to nowhere, and submodules must not lose
// what is not committed in them.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  bytePath,
  capture,
  checksOf,
  contents,
  findingsOf,
  refusedCapture,
  requestFor,
  workspacesOf,
} from '../support/captures.ts';
import { linkTo, Repository, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: 'v1\n', 'pkg/a': 'a\n' });
});

test('a nested repository without a commit is set aside and does not stop the snapshot (S04)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const nested = Repository.create(repo.place, 'a/sub');
  nested.write('inner.txt', 'only here\n');
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toEqual({ f: 'v2\n', 'pkg/a': 'a\n' });
  expect(checksOf(taken)).toEqual(['nested_repository']);
  expect(taken.aside.map(({ path }) => path)).toEqual(['sub']);
  const aside = contents(repo, taken.aside[0]?.tree ?? '');
  expect(aside['inner.txt']).toBe('only here\n');
  expect(aside['git-dir/HEAD']).toBe('ref: refs/heads/main\n');
});

test('a nested repository with commits, odd names and repositories inside it can be made again from what is kept', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const nested = Repository.create(repo.place, 'a/vendor/lib');
  nested.commit('inner', { 'committed.txt': 'committed\n', 'git-dir/mine': 'a folder of that name\n' });
  nested.writeAll({
    'loose\n"name': 'loose\n',
    link: linkTo('/etc/passwd'),
    run: { mode: '100755', content: 'x\n' },
  });
  nested.write('node_modules/dep.js', 'installed\n');
  nested.git('branch', 'venv/topic');
  const deeper = Repository.create(repo.place, 'a/vendor/lib/deeper');
  deeper.write('x', 'x\n');
  if (process.platform !== 'darwin') writeFileSync(bytePath(nested, Buffer.from([0xff])), 'bytes\n');
  execFileSync('mkfifo', [nested.path('pipe')]);

  const taken = await capture(repo, a);
  expect(taken.tree).toBe(repo.tree('main'));
  expect(taken.aside).toHaveLength(1);
  const tree = taken.aside[0]?.tree ?? '';
  const aside = contents(repo, tree);
  expect(aside).toMatchObject({
    'committed.txt': 'committed\n',
    'loose\n"name': 'loose\n',
    link: '120000 /etc/passwd',
    run: '100755 x\n',
    'deeper/x': 'x\n',
    'deeper/git-dir/HEAD': 'ref: refs/heads/main\n',
  });
  expect(Object.keys(aside)).not.toContain('node_modules/dep.js');

  // Checked out elsewhere, the git dir works: its commit and its branch are there.
  const again = join(repo.place.root, 'again');
  mkdirSync(again);
  repo.gitWith(
    { env: { GIT_INDEX_FILE: join(repo.place.root, 'i') } },
    '--work-tree',
    again,
    'checkout',
    '-q',
    tree,
    '--',
    '.',
  );
  const restored = new Repository(repo.place, again);
  expect(restored.read('git-dir/mine')).toBe('a folder of that name\n');
  renameSync(restored.path('git-dir-1'), restored.path('.git'));
  expect(restored.oid('venv/topic')).toBe(nested.oid('HEAD'));
  restored.git('fsck');
});

test('a repository that was added as a gitlink, staged or committed, is set aside and no gitlink stays', async () => {
  const repo = newRepo();
  for (const committed of [false, true]) {
    const a = repo.worktree(`a-${committed}`);
    const nested = Repository.create(repo.place, `a-${committed}/lib`);
    nested.commit('inner', { x: 'x\n' });
    a.git('add', '-A');
    if (committed) a.git('commit', '-qm', 'oops');
    expect(a.git('ls-files', '-s')).toContain('160000');
    nested.write('x', 'edited after\n');
    const taken = await capture(repo, a);
    expect(taken.tree).toBe(repo.tree('main'));
    expect(contents(repo, taken.aside[0]?.tree ?? '')['x']).toBe('edited after\n');
  }
});

test('worktrees of this repository inside a workspace are left out, linked or not (S07, G08)', async () => {
  const repo = newRepo();
  repo.git('worktree', 'add', '-q', '--detach', '.agents/b');
  const inner = new Repository(repo.place, repo.path('.agents/b'));
  inner.write('work', 'work of b\n');
  repo.write('f', 'v2\n');
  for (const how of ['linked', 'broken link']) {
    if (how === 'broken link') inner.write('.git', 'gitdir: /moved/away/repo/.git/worktrees/b\n');
    const taken = await capture(repo, repo);
    expect(contents(repo, taken.tree), how).toEqual({ f: 'v2\n', 'pkg/a': 'a\n' });
    expect(
      taken.findings.map(({ check, severity }) => `${check} ${severity}`),
      how,
    ).toEqual(['nested_worktree info']);
    expect(taken.aside, how).toEqual([]);
  }
});

test('a git dir in a folder of tracked files is kept beside the files, which are captured', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const own = Repository.create(repo.place, 'a/pkg');
  own.commit('history of its own', { b: 'b\n' });
  own.write('a', 'edited\n');
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toEqual({ f: 'v1\n', 'pkg/a': 'edited\n', 'pkg/b': 'b\n' });
  expect(taken.aside.map(({ path }) => path)).toEqual(['pkg']);
  const aside = Object.keys(contents(repo, taken.aside[0]?.tree ?? ''));
  expect(aside).toContain('git-dir/HEAD');
  expect(aside.every((path) => path.startsWith('git-dir/'))).toBe(true);
});

test('a folder with a broken git dir counts as a repository, and nothing of it is lost', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ 'half/file': 'x\n' });
  mkdirSync(a.path('half/.git'));
  writeFileSync(a.path('half/.git/left'), 'left\n');
  const taken = await capture(repo, a);
  expect(taken.tree).toBe(repo.tree('main'));
  expect(contents(repo, taken.aside[0]?.tree ?? '')).toEqual({ file: 'x\n', 'git-dir/left': 'left\n' });
});

test('a nested repository that is too large to keep stops the snapshot and is named', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const nested = Repository.create(repo.place, 'a/sub');
  nested.write('big', 'x'.repeat(5000));
  const error = await refusedCapture(repo, a, 'snapshot_incomplete', { maxFileBytes: 1000 });
  expect(error.paths).toEqual(['sub']);
  expect(error.hint).toContain('snapshot.exclude');
  await capture(repo, a, { maxFileBytes: 1000, exclude: ['sub/'] });
});

test('a lost, replaced or wrong .git is told with its remedy, and the work is captured (I06, G08)', async () => {
  const repo = newRepo();
  const breaks: readonly ((a: Repository) => void)[] = [
    (a) => rmSync(a.path('.git')),
    (a) => a.write('.git', 'gitdir: /moved/away/.git/worktrees/a\n'),
    (a) => a.write('.git', linkTo(repo.path('.git'))),
    (a) => {
      rmSync(a.path('.git'));
      Repository.create(repo.place, a.dir.slice(repo.place.root.length + 1)).commit('own history', {});
    },
  ];
  for (const [i, breakIt] of breaks.entries()) {
    const a = repo.worktree(`a${i}`);
    breakIt(a);
    a.writeAll({ f: 'v2\n', new: 'new\n' });
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree)).toEqual({ f: 'v2\n', new: 'new\n', 'pkg/a': 'a\n' });
    const [finding] = findingsOf(taken, 'worktree_unlinked');
    expect(finding?.remedy).toBe(`git worktree repair ${a.dir}`);
    expect(taken.aside.map(({ path }) => path)).toEqual(i === 3 ? ['.'] : []);
  }
});

test('a moved main repository does not hide the work of its workspaces (G08)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const moved = join(repo.place.root, 'moved');
  renameSync(repo.dir, moved);
  const taken = await capture(new Repository(repo.place, moved), a);
  expect(checksOf(taken)).toEqual(['worktree_unlinked']);
  expect(new Repository(repo.place, moved).blob(taken.tree, 'f')).toBe('v2\n');
});

test('a forged commondir file of a workspace misleads nobody', async () => {
  const repo = newRepo();
  const a = repo.worktree('a', { branch: 'work' });
  a.commit('on a branch', { g: 'g\n' });
  a.write('new', 'new\n');
  const request = await requestFor(repo, a);
  const decoy = Repository.create(repo.place, 'decoy');
  decoy.commit('decoy', { decoy: 'x\n' });
  decoy.write('.git/info/exclude', 'new\n');
  writeFileSync(join(request.worktree.adminDir, 'commondir'), `${decoy.path('.git')}\n`);
  const taken = await (await workspacesOf(repo)).capture(request);
  expect(contents(repo, taken.tree)).toEqual({ f: 'v1\n', g: 'g\n', new: 'new\n', 'pkg/a': 'a\n' });
  expect(taken.findings).toEqual([]);
});

// ---- submodules ------------------------------------------------------------------------------------------------

function withSubmodule(): { repo: Repository; a: Repository; sub: Repository } {
  const repo = newRepo();
  const library = Repository.create(repo.place, 'library');
  library.commit('library', { 'lib.ts': 'lib\n', '.gitignore': 'ignored\n' });
  repo.git('submodule', '--quiet', 'add', library.dir, 'mods/süb');
  repo.commit('submodule');
  const a = repo.worktree('a');
  a.git('submodule', '--quiet', 'update', '--init');
  return { repo, a, sub: new Repository(repo.place, a.path('mods/süb')) };
}

test('a clean submodule, initialised or not, is as the commit has it', async () => {
  const { repo, a, sub } = withSubmodule();
  sub.write('ignored', 'ignored by the submodule\n');
  expect(await capture(repo, a)).toEqual({
    tree: repo.tree('main'),
    uncommitted: false,
    findings: [],
    aside: [],
  });
  const b = repo.worktree('b');
  expect((await capture(repo, b)).tree).toBe(repo.tree('main'));
});

test('a submodule at another commit is captured and told', async () => {
  const { repo, a, sub } = withSubmodule();
  const commit = sub.commit('ahead', { 'lib.ts': 'ahead\n' });
  const taken = await capture(repo, a);
  expect(repo.entry(taken.tree, 'mods/süb')).toEqual({ mode: '160000', oid: commit });
  expect(taken.uncommitted).toBe(true);
  expect(findingsOf(taken, 'submodule_moved')[0]?.severity).toBe('warning');
  // No setting hides it.
  a.git('config', 'submodule.mods/süb.ignore', 'all');
  a.git('config', 'diff.ignoreSubmodules', 'all');
  expect((await capture(repo, a)).tree).toBe(taken.tree);
  a.git('config', '--unset', 'submodule.mods/süb.ignore');
  a.git('config', '--unset', 'diff.ignoreSubmodules');
  // It is as much news when the agent committed it.
  a.git('commit', '-qam', 'move the submodule');
  expect(checksOf(await capture(repo, a))).toEqual(['submodule_moved']);
});

test('a submodule that an agent added and declared stays a submodule', async () => {
  const { repo, a } = withSubmodule();
  const other = Repository.create(repo.place, 'other');
  const commit = other.commit('other', { o: 'o\n' });
  a.git('submodule', '--quiet', 'add', other.dir, 'mods/other');
  const taken = await capture(repo, a);
  expect(repo.entry(taken.tree, 'mods/other')).toEqual({ mode: '160000', oid: commit });
  expect(checksOf(taken)).toEqual(['submodule_moved']);
});

test('work in a submodule that is not committed there stops the snapshot and is named', async () => {
  const works: readonly ((sub: Repository) => void)[] = [
    (sub) => sub.write('lib.ts', 'edited\n'),
    (sub) => sub.write('new.ts', 'untracked\n'),
    (sub) => {
      sub.write('lib.ts', 'staged\n');
      sub.git('add', 'lib.ts');
    },
    (sub) => {
      sub.git('update-index', '--assume-unchanged', 'lib.ts');
      sub.write('lib.ts', 'hidden\n');
    },
    (sub) => {
      sub.git('update-index', '--skip-worktree', 'lib.ts');
      sub.write('lib.ts', 'hidden\n');
    },
    (sub) => {
      rmSync(sub.path('.git'));
    },
    (sub) => {
      sub.write('.git', 'gitdir: /nowhere\n');
    },
  ];
  const { repo } = withSubmodule();
  for (const [i, work] of works.entries()) {
    const a = repo.worktree(`w${i}`);
    a.git('submodule', '--quiet', 'update', '--init');
    work(new Repository(repo.place, a.path('mods/süb')));
    const error = await refusedCapture(repo, a, 'snapshot_incomplete');
    expect(error.paths, String(i)).toEqual(['mods/süb']);
    expect(error.hint).toContain('push');
  }
});

test('work in a submodule of a submodule stops the snapshot too', async () => {
  const { repo, a, sub } = withSubmodule();
  const inner = Repository.create(repo.place, 'innermost');
  inner.commit('inner', { i: 'i\n' });
  sub.git('submodule', '--quiet', 'add', inner.dir, 'deep');
  sub.commit('deeper', {});
  expect(checksOf(await capture(repo, a))).toEqual(['submodule_moved']);
  sub.write('deep/i', 'edited\n');
  expect((await refusedCapture(repo, a, 'snapshot_incomplete')).message).toContain('deep');
});

test('a submodule that was deleted is deleted in the tree', async () => {
  const { repo, a } = withSubmodule();
  a.write('mods/süb', null);
  const taken = await capture(repo, a);
  expect(repo.entry(taken.tree, 'mods/süb')).toBeUndefined();
});

test('a submodule with a split index is looked at all the same', async () => {
  const { repo, a, sub } = withSubmodule();
  sub.git('update-index', '--split-index');
  expect((await capture(repo, a)).findings).toEqual([]);
  sub.write('lib.ts', 'edited\n');
  await refusedCapture(repo, a, 'snapshot_incomplete');
  expect(existsSync(sub.path('lib.ts'))).toBe(true);
  expect(readdirSync(sub.dir)).toContain('lib.ts');
});
