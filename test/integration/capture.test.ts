// What a snapshot of a workspace must hold: everything that an agent left, byte for byte, whatever it did to the index.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asOid } from '../../src/model/ids.ts';
import {
  bytePath,
  capture,
  checksOf,
  contents,
  findingsOf,
  plainTree,
  requestFor,
  workspacesOf,
} from '../support/captures.ts';
import { executable, linkTo, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    f: 'v1\n',
    other: 'x\n',
    'dir/a': 'a\n',
    'dir/b': 'b\n',
    script: executable('#!/bin/sh\n'),
    link: linkTo('f'),
    '.gitignore': 'node_modules/\n*.log\n',
  });
});

test('a workspace without changes gives the tree of its commit and says so', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const taken = await capture(repo, a);
  expect(taken).toEqual({ tree: repo.tree('main'), uncommitted: false, findings: [], aside: [] });
});

test('staged, unstaged, untracked, deleted and committed work, modes and links are all in one tree', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.commit('agent committed anyway', { 'committed.ts': 'committed\n', other: 'changed by a commit\n' });
  a.writeAll({
    'staged.ts': 'staged\n',
    'dir/b': null,
    'new/deep/file.ts': 'new\n',
    f: 'v2\n',
    'x.log': 'ignored\n',
  });
  a.git('add', 'staged.ts');
  a.write('staged.ts', 'staged, then edited\n');
  a.write('script', { mode: '100644', content: '#!/bin/sh\n' });
  a.write('made-executable', executable('run\n'));
  a.write('link', linkTo('other'));
  a.write('node_modules/dep/index.js', 'ignored\n');
  const before = readState(a);

  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toEqual({
    '.gitignore': 'node_modules/\n*.log\n',
    'committed.ts': 'committed\n',
    'dir/a': 'a\n',
    f: 'v2\n',
    link: '120000 other',
    'made-executable': '100755 run\n',
    'new/deep/file.ts': 'new\n',
    other: 'changed by a commit\n',
    script: '#!/bin/sh\n',
    'staged.ts': 'staged, then edited\n',
  });
  expect(taken.tree).toBe(plainTree(a));
  expect(taken.uncommitted).toBe(true);
  expect(taken.findings).toEqual([]);
  expect(readState(a)).toEqual(before);
});

test('work that is only committed is no uncommitted work', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.commit('done', { f: 'v2\n' });
  const taken = await capture(repo, a);
  expect([taken.tree, taken.uncommitted]).toEqual([a.tree('HEAD'), false]);
});

test('a staged change that was taken back on the disk is not in the tree', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  a.git('add', 'f');
  a.write('f', 'v1\n');
  const taken = await capture(repo, a);
  expect([taken.tree, taken.uncommitted]).toEqual([repo.tree('main'), false]);
});

test('files become folders, folders become files and links, and all of it is seen', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: null, 'f/inside': 'in f\n', dir: null });
  a.write('dir', linkTo('f'));
  a.writeAll({ other: null, 'other/deep/er': 'deep\n' });
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toMatchObject({
    'f/inside': 'in f\n',
    dir: '120000 f',
    'other/deep/er': 'deep\n',
  });
  expect(Object.keys(contents(repo, taken.tree))).toHaveLength(6);
  expect(taken.tree).toBe(plainTree(a));
});

test('tracked files below a link that leads to itself are deleted, not unreadable', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('dir', linkTo('dir'));
  const taken = await capture(repo, a);
  const { 'dir/a': _a, 'dir/b': _b, ...rest } = contents(repo, 'main');
  expect(contents(repo, taken.tree)).toEqual({ ...rest, dir: '120000 dir' });
});

test('names that git quotes or reads as magic are captured byte for byte', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const names = [
    'new\nline',
    'tab\there',
    'quote"d',
    'back\\slash',
    '-leading',
    '--help',
    ':(top)x',
    ':(exclude)f',
    ':!f',
    'g -> h',
    '*.glob',
    '[a]',
    '!bang',
    '#hash',
    ' space ',
    'café/日本語',
    ':(glob)**/dir/x\ny',
  ];
  for (const name of names) a.write(name, `content of ${name}\n`);
  const taken = await capture(repo, a);
  const found = contents(repo, taken.tree);
  for (const name of names) expect(found[name], name).toBe(`content of ${name}\n`);
  expect(taken.tree).toBe(plainTree(a));
  for (const name of names) a.write(name, null);
  expect((await capture(repo, a)).tree).toBe(repo.tree('main'));
});

test.skipIf(process.platform === 'darwin')('a name that is not UTF-8 is captured byte for byte', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const name = Buffer.from([0x63, 0xe9, 0x0a, 0xff]);
  mkdirSync(bytePath(a, Buffer.from([0xe9])));
  writeFileSync(bytePath(a, name), 'bytes\n');
  writeFileSync(bytePath(a, Buffer.concat([Buffer.from([0xe9]), Buffer.from('/in')])), 'deep\n');
  const taken = await capture(repo, a);
  expect(taken.tree).toBe(plainTree(a));
  const listing = repo.git('ls-tree', '-r', '--name-only', taken.tree).split('\n');
  expect(listing).toContain('"c\\351\\n\\377"');
  expect(listing).toContain('"\\351/in"');
});

test('a commit-less repository, its primary checkout and one of SHA-256 objects can be captured', async () => {
  const place = sealedPlace();
  const repo = Repository.create(place);
  repo.write('first', 'first\n');
  const empty = repo.gitWith({ input: '' }, 'hash-object', '-t', 'tree', '-w', '--stdin');
  const base = asOid(repo.git('commit-tree', '-m', 'none', empty));
  const taken = await capture(repo, repo, { base });
  expect(contents(repo, taken.tree)).toEqual({ first: 'first\n' });
  expect(taken.uncommitted).toBe(true);

  const dir = join(place.root, 'sha256');
  mkdirSync(dir);
  const other = new Repository(place, dir);
  other.git('init', '-q', '--object-format=sha256');
  other.commit('start', { f: 'v1\n', 'd/g': 'g\n' });
  const a = new Repository(place, join(place.root, 'b'));
  other.git('worktree', 'add', '-q', '--detach', a.dir);
  a.writeAll({ f: 'v2\n', 'd/new': 'new\n' });
  expect(contents(other, (await capture(other, a)).tree)).toEqual({
    f: 'v2\n',
    'd/g': 'g\n',
    'd/new': 'new\n',
  });
});

test("git's own conversions apply: the tree is what git add would give", async () => {
  const repo = newRepo();
  repo.commit('attributes', {
    '.gitattributes': '*.txt text\n*.raw -text\n*.u16 text working-tree-encoding=UTF-16LE\n*.id ident\n',
    'a.txt': 'a\nb\n',
    'a.id': '$Id$\n',
  });
  repo.git('config', 'core.autocrlf', 'true');
  repo.git('config', 'core.safecrlf', 'true');
  const a = repo.worktree('a');
  a.writeAll({
    'a.txt': 'a\r\nb\r\nc\r\n',
    'mixed.txt': 'a\r\nb\n',
    'b.raw': 'a\r\nb\n',
    'auto.ts': 'a\r\nb\r\n',
    'x.u16': Buffer.from('wide\n', 'utf16le'),
    'new.id': '$Id: what ever $\n',
  });
  const taken = await capture(repo, a);
  a.git('config', 'core.safecrlf', 'false');
  expect(taken.tree).toBe(plainTree(a));
  expect(contents(repo, taken.tree)).toMatchObject({
    'a.txt': 'a\nb\nc\n',
    'mixed.txt': 'a\nb\n',
    'b.raw': 'a\r\nb\n',
    'auto.ts': 'a\nb\n',
    'x.u16': 'wide\n',
  });
});

test('pipes and sockets are passed over without waiting, also where a tracked file was', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', null);
  const { execFileSync } = await import('node:child_process');
  execFileSync('mkfifo', [a.path('pipe'), a.path('f')]);
  a.write('new', 'new\n');
  const taken = await capture(repo, a);
  const { f: _f, ...rest } = contents(repo, 'main');
  expect(contents(repo, taken.tree)).toEqual({ ...rest, new: 'new\n' });
  expect(findingsOf(taken, 'special_file_skipped')[0]?.paths).toEqual(['f']);
});

test('links are captured as links and never followed, wherever they lead', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  writeFileSync(join(repo.place.root, 'secret'), 'outside\n');
  a.writeAll({
    'to-file': linkTo(join(repo.place.root, 'secret')),
    'to-folder': linkTo(repo.place.root),
    dangling: linkTo('/nowhere/at/all'),
    up: linkTo('../../..'),
  });
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)).toMatchObject({
    'to-file': `120000 ${join(repo.place.root, 'secret')}`,
    'to-folder': `120000 ${repo.place.root}`,
    dangling: '120000 /nowhere/at/all',
    up: '120000 ../../..',
  });
  expect(taken.findings).toEqual([]);
});

test('a link that stands for an ignored folder is left out and told (S06)', async () => {
  const repo = newRepo();
  repo.write('node_modules/dep.js', 'x\n');
  const a = repo.worktree('a');
  a.write('node_modules', linkTo(repo.path('node_modules')));
  a.write('pkg/node_modules', linkTo('/nowhere'));
  a.write('pkg/real', linkTo(repo.dir));
  a.write('f', 'v2\n');
  const taken = await capture(repo, a);
  expect(repo.files(taken.tree)).not.toContain('node_modules');
  expect(contents(repo, taken.tree)).toEqual({
    ...contents(repo, 'main'),
    f: 'v2\n',
    'pkg/real': `120000 ${repo.dir}`,
  });
  expect(findingsOf(taken, 'linked_directory_ignored')[0]?.paths).toEqual([
    'node_modules',
    'pkg/node_modules',
  ]);
});

test.skipIf(process.platform === 'darwin')(
  'names that differ in case alone are both captured and told',
  async () => {
    const repo = newRepo();
    const a = repo.worktree('a');
    a.writeAll({ F: 'upper\n', 'Dir/c': 'c\n', 'new/É': 'x\n', 'new/é': 'y\n' });
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree)).toMatchObject({
      f: 'v1\n',
      F: 'upper\n',
      'Dir/c': 'c\n',
      'dir/a': 'a\n',
    });
    expect(findingsOf(taken, 'case_twins')[0]?.paths).toEqual(['Dir', 'F', 'dir', 'f', 'new/É', 'new/é']);
    // A rename that only changes the case leaves no twin behind.
    const b = repo.worktree('b');
    b.git('mv', 'dir', 'dir2');
    b.git('mv', 'dir2', 'DIR');
    expect((await capture(repo, b)).findings).toEqual([]);
  },
);

test('paths that the settings leave out stay as HEAD has them and are told', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({
    f: 'staged\n',
    'out/big': 'x\n',
    'dir/a': 'edited\n',
    'dir/new': 'n\n',
    'staged-new.bin': 'b\n',
  });
  a.git('add', 'f', 'staged-new.bin');
  const nested = Repository.create(repo.place, 'a/cache/inner');
  nested.commit('inner', { x: 'x\n' });
  const taken = await capture(repo, a, { exclude: ['out/', '/f', '*.bin', 'cache/'] });
  expect(contents(repo, taken.tree)).toEqual({
    ...contents(repo, 'main'),
    'dir/a': 'edited\n',
    'dir/new': 'n\n',
  });
  expect(checksOf(taken)).toEqual(['path_excluded']);
  expect([...(findingsOf(taken, 'path_excluded')[0]?.paths ?? [])].sort()).toEqual([
    'cache/inner',
    'f',
    'out/big',
    'staged-new.bin',
  ]);
});

test("variables of the caller's own git do not matter", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const decoy = Repository.create(repo.place, 'decoy');
  decoy.commit('decoy', { decoy: 'x\n' });
  a.write('f', 'v2\n');
  const taken = await capture(repo, a, {
    env: {
      GIT_DIR: decoy.path('.git'),
      GIT_WORK_TREE: decoy.dir,
      GIT_INDEX_FILE: decoy.path('.git/index'),
      GIT_OBJECT_DIRECTORY: decoy.path('.git/objects'),
      GIT_COMMON_DIR: decoy.path('.git'),
      GIT_LITERAL_PATHSPECS: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.excludesFile',
      GIT_CONFIG_VALUE_0: '/dev/null',
      GIT_OPTIONAL_LOCKS: '1',
      GIT_CONFIG_PARAMETERS: "'core.bare=true'",
    },
  });
  expect(contents(repo, taken.tree)).toEqual({ ...contents(repo, 'main'), f: 'v2\n' });
});

test('objects of a forecast go to its own folder and not into the repository', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: 'only in the forecast\n' });
  const objectsDir = join(repo.place.root, 'odd: "folder"');
  mkdirSync(objectsDir);
  const taken = await capture(repo, a, { objectsDir });
  expect(repo.tryGit(['cat-file', '-e', taken.tree]).code).not.toBe(0);
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objectsDir) };
  expect(repo.gitWith({ env }, 'cat-file', 'blob', `${taken.tree}:f`)).toBe('only in the forecast');
});

test('a capture leaves no folder of its tries behind', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const request = await requestFor(repo, a);
  await (await workspacesOf(repo)).capture(request);
  const { readdirSync } = await import('node:fs');
  expect(readdirSync(request.scratch).sort()).toEqual(['index', 'kept.json']);
});

test('a file that cannot be executed by others keeps its own mode, and a mode alone is a change', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  chmodSync(a.path('f'), 0o755);
  const taken = await capture(repo, a);
  expect(repo.entry(taken.tree, 'f')?.mode).toBe('100755');
  expect(existsSync(a.path('f'))).toBe(true);
});
