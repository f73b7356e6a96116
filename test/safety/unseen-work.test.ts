// Work that a naive collector does not see, or takes only in part: it must be in the landing, or be named in an
// error. Never a landing that lacks it, never a clean-up that deletes it.

import { Buffer } from 'node:buffer';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { throughMounts } from '../support/mounts.ts';
import { linkTo, Repository, readFiles, readState, repositoryTemplate } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';
import { type Answer, askSennit, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: 'v1\n', other: 'x\n' });
});

/** True when some ref of Sennit's reaches a blob with exactly this content. */
function isKeptBySennit(repo: Repository, content: string): boolean {
  const blob = repo.gitWith({ input: content }, 'hash-object', '--stdin');
  return repo
    .git('rev-list', '--objects', '--no-object-names', '--glob=refs/sennit/*')
    .split('\n')
    .includes(blob);
}

/** All that an answer tells a person about paths and findings, as one text. */
function told(answer: Answer): string {
  return JSON.stringify([answer.findings, answer.error ?? null, answer.sources]);
}

test('work that is only untracked is landed and not deleted (S02)', async () => {
  const repo = newRepo();
  appendFileSync(repo.place.gitConfig, '[status]\n\tshowUntrackedFiles = no\n');
  const a = repo.worktree('a');
  a.writeAll({ 'new.ts': 'new\n', 'deep/er/new.ts': 'deeper\n' });

  await runSennit(['gc', '../a', '--apply'], { cwd: repo });
  const onDisk = a.has('new.ts') && a.has('deep/er/new.ts');
  expect(onDisk || (isKeptBySennit(repo, 'new\n') && isKeptBySennit(repo, 'deeper\n'))).toBe(true);
  expect(onDisk).toBe(true);

  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.blob('main', 'new.ts')).toBe('new\n');
  expect(repo.blob('main', 'deep/er/new.ts')).toBe('deeper\n');
  expect(a.read('new.ts')).toBe('new\n');
});

test("an agent's own commit on a detached HEAD is landed and stays reachable after clean-up (S03)", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const commit = a.commit('agent committed anyway', { f: 'work\n' });

  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('work\n');

  await askSennit(['gc', '../a', '--apply'], 0, { cwd: repo });
  expect(existsSync(a.dir)).toBe(false);
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  expect(repo.git('cat-file', '-t', commit)).toBe('commit');
});

test("an agent's unlanded commit on a detached HEAD does not count as nothing to lose (S03)", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const commit = a.commit('agent committed anyway', { f: 'work\n' });
  await runSennit(['gc', '../a', '--apply'], { cwd: repo });
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  expect(repo.git('cat-file', '-t', commit)).toBe('commit');
});

test('a nested repository without a commit does not make the snapshot stale (S04)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const nested = Repository.create(repo.place, 'a/sub');
  nested.write('inner.txt', 'only here\n');

  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.blob('main', 'f')).toBe('v2\n');
  expect(repo.git('ls-tree', '-r', 'main')).not.toContain('160000');
  // What cannot be part of a commit is told, and kept.
  expect(told(answer)).toContain('sub');
  expect(isKeptBySennit(repo, 'only here\n')).toBe(true);
  expect(nested.read('inner.txt')).toBe('only here\n');
});

test('the content of a nested repository with commits is not lost behind a gitlink (S04)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const nested = Repository.create(repo.place, 'a/vendor/lib');
  nested.commit('inner', { 'committed.txt': 'committed inside\n' });
  nested.write('loose.txt', 'not committed inside\n');

  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('v2\n');
  expect(repo.git('ls-tree', '-r', 'main')).not.toContain('160000');
  expect(told(answer)).toContain('vendor/lib');
  expect(isKeptBySennit(repo, 'committed inside\n')).toBe(true);
  expect(isKeptBySennit(repo, 'not committed inside\n')).toBe(true);
});

test("an agent's new ignore rule of * does not hide its work", async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ '.gitignore': '*\n', 'hidden.ts': 'hidden work\n', 'dir/hidden.ts': 'more\n' });
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  if (run.code === 0) {
    expect(repo.blob('main', 'hidden.ts'), run.story()).toBe('hidden work\n');
    expect(repo.blob('main', 'dir/hidden.ts'), run.story()).toBe('more\n');
  } else {
    expect(run.json().error?.code, run.story()).toBe('snapshot_incomplete');
    expect(run.stdout).toContain('hidden.ts');
  }
});

test('edits behind assume-unchanged and skip-worktree bits are landed', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.git('update-index', '--assume-unchanged', 'f');
  a.git('update-index', '--skip-worktree', 'other');
  a.writeAll({ f: 'assumed\n', other: 'skipped\n' });
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('assumed\n');
  expect(repo.blob('main', 'other')).toBe('skipped\n');
});

test('a file that was staged and then deleted again does not come back, and a staged one is landed', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ staged: 'staged\n', gone: 'gone\n' });
  a.git('add', 'staged', 'gone');
  a.write('gone', null);
  a.write('f', null);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.files('main')).toEqual(['other', 'staged']);
});

test('a worktree kept inside the repository is landed as work and never as a gitlink (S07)', async () => {
  const repo = newRepo();
  const inner = new Repository(repo.place, join(repo.dir, '.agents/a'));
  repo.git('worktree', 'add', '-q', '--detach', '.agents/a');
  inner.write('g', 'work\n');
  await askSennit(['land', '.agents/a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.files('main')).toEqual(['f', 'g', 'other']);
  expect(repo.git('ls-tree', '-r', 'main')).not.toContain('160000');
  expect(inner.read('g')).toBe('work\n');
});

test('a worktree inside a workspace is neither landed as a gitlink nor harmed (S07)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('g', 'work of a\n');
  a.git('worktree', 'add', '-q', '--detach', '.agents/b');
  const b = new Repository(repo.place, join(a.dir, '.agents/b'));
  b.write('h', 'work of b\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'g')).toBe('work of a\n');
  expect(repo.git('ls-tree', '-r', 'main')).not.toContain('160000');
  expect(b.read('h')).toBe('work of b\n');
  expect(b.git('rev-parse', 'HEAD')).toBe(repo.oid('main~1'));
});

test('a gitlink that no .gitmodules records is not landed (S07)', async () => {
  const repo = newRepo();
  repo.commitTo('oops', { '.agents/a': { mode: '160000', content: repo.oid('main') }, g: 'work\n' });
  const before = readState(repo);
  const run = await runSennit(['land', 'oops', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  expect(run.code, run.story()).not.toBe(0);
  expect(run.stdout).toContain('.agents/a');
  expect(readState(repo)).toEqual(before);
});

test('a provisioned link out of the repository is not landed (S06)', async () => {
  const repo = newRepo();
  repo.commit('ignore', { '.gitignore': 'node_modules/\n' });
  mkdirSync(repo.path('node_modules'));
  const a = repo.worktree('a');
  a.write('node_modules', linkTo(repo.path('node_modules')));
  a.write('f', 'v2\n');
  const before = repo.oid('main');

  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  // Left out and told, or refused and told: both keep the link out of main.
  expect(run.stdout, run.story()).toContain('node_modules');
  expect(repo.entry('main', 'node_modules')).toBeUndefined();
  if (run.code === 0) expect(repo.blob('main', 'f')).toBe('v2\n');
  else expect(repo.oid('main')).toBe(before);
  expect(readFiles(a.dir)['node_modules']).toBe(`link ${repo.path('node_modules')}`);
});

test('a relative link inside the repository is work like any other', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('docs/link', linkTo('../f'));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.entry('main', 'docs/link')?.mode).toBe('120000');
  expect(repo.blob('main', 'docs/link')).toBe('../f');
});

test('files with names that git would quote are landed under their own names (S10)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const names = [
    'café ü.ts',
    'line\nbreak',
    'tab\there',
    'quote"d',
    'back\\slash',
    "it's",
    '-leading-dash',
    ':(top)magic',
    ' leading space',
    'trailing space ',
    '*.glob',
    '!bang',
    '#hash',
    '日本語/ファイル',
  ];
  for (const name of names) a.write(name, `content of ${name}\n`);
  a.git('mv', 'f', 'g -> h');

  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  for (const name of names) expect(repo.blob('main', name), name).toBe(`content of ${name}\n`);
  expect(repo.blob('main', 'g -> h')).toBe('v1\n');
  expect(repo.blob('main', 'f')).toBeUndefined();
  expect(repo.files('main')).toHaveLength(names.length + 2);
  // The checkout has them too.
  expect(repo.git('status', '--porcelain')).toBe('');
});

test.skipIf(process.platform === 'darwin')(
  'a name that is not UTF-8 is landed byte for byte (S10)',
  async () => {
    const repo = newRepo();
    const a = repo.worktree('a');
    const name = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
    writeFileSync(Buffer.concat([Buffer.from(`${a.dir}/`), name]), 'not UTF-8\n');
    await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
    expect(
      repo.git('-c', 'core.quotePath=true', 'ls-tree', '-r', '--name-only', 'main').split('\n'),
    ).toContain('"caf\\351"');
    expect(readFileSync(Buffer.concat([Buffer.from(`${repo.dir}/`), name]), 'utf8')).toBe('not UTF-8\n');
  },
);

test('a change larger than any buffer is landed whole (S11)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const big = '0123456789012345678901234567890123456789\n'.repeat(60_000);
  a.write('big.txt', big);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.oid('main:big.txt')).toBe(repo.gitWith({ input: big }, 'hash-object', '--stdin'));
  // A change to a part of it merges with another part's.
  a.write('big.txt', big.replace(/^0/, 'A'));
  const b = repo.worktree('b');
  b.write('big.txt', big.replace(/9\n$/, 'B\n'));
  await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const merged = big.replace(/^0/, 'A').replace(/9\n$/, 'B\n');
  expect(repo.oid('main:big.txt')).toBe(repo.gitWith({ input: merged }, 'hash-object', '--stdin'));
});

test('a stale index.lock of a killed agent does not hide its work (G03)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: '2\n', 'new.ts': 'new\n' });
  const lock = join(a.gitDir(), 'index.lock');
  writeFileSync(lock, '');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'f')).toBe('2\n');
  expect(repo.blob('main', 'new.ts')).toBe('new\n');
  // Nobody proved that its owner is gone: it is not Sennit's to remove.
  expect(existsSync(lock)).toBe(true);
});

test('conflict markers of a merge that an agent left unfinished are not landed as its work', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  repo.commitTo('other-work', { f: 'theirs\n' });
  a.commit('mine', { f: 'mine\n' });
  expect(a.tryGit(['merge', 'other-work']).code).toBe(1);
  expect(a.read('f')).toContain('<<<<<<<');
  const before = readState(repo);
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  expect(run.code, run.story()).not.toBe(0);
  expect(run.stdout).toContain('"f"');
  expect(readState(repo)).toEqual(before);
});

test('a full disk during the snapshot is an error, not an old tree (G10)', async (context) => {
  const place = sealedPlace();
  // The same paths, on a tmpfs that has room for all that is there, but not for `big` again.
  const through = throughMounts(
    place,
    `mkdir -p $ROOT/stage
mount -t tmpfs -o size=2400k tmpfs $ROOT/stage
cp -a $ROOT/disk/. $ROOT/stage
mount --bind $ROOT/stage $ROOT/disk
cd "$here"
rc=0
"$@" || rc=$?
cp -a $ROOT/disk/. $ROOT/after
exit $rc`,
  );
  if (through === undefined) {
    context.skip('needs the right to mount a tmpfs in a mount namespace of its own (root)');
    return;
  }
  const repo = Repository.create(place, 'disk/repo');
  repo.commit('start', { f: 'v1\n' });
  const a = repo.worktree('disk/a');
  const noise = Buffer.alloc(1_500_000);
  let seed = 1;
  for (let i = 0; i < noise.length; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    noise[i] = seed >> 16;
  }
  a.writeAll({ f: 'v2\n', big: noise });
  place.at('after');

  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 1, { cwd: repo, through });
  expect(answer.error?.code, JSON.stringify(answer)).toBe('disk_full');
  expect(answer.error?.hint).toMatch(/\S/);
  const after = new Repository(place, join(place.root, 'after/repo'));
  expect(after.oid('main')).toBe(repo.oid('main'));
  expect(readFiles(after.dir)).toEqual(readFiles(repo.dir));
  expect(readFiles(join(place.root, 'after/a'))).toEqual(readFiles(a.dir));
  // With room again, the same state lands.
  const again = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(again.result).toBe('landed');
  expect(repo.blob('main', 'f')).toBe('v2\n');
});

test('a child that still writes after the agent ended does not get into the landing (G16)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'reviewed\n');
  const gate = `echo late > '${a.path('f')}'`;
  const answer = await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expect(a.read('f')).toBe('late\n');
  expect(repo.blob('main', 'f')).toBe('reviewed\n');
  // The late writing is told: it is work that has not landed.
  expect(JSON.stringify(answer.findings)).toContain('"f"');
  const later = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(later.result).toBe('landed');
  expect(repo.blob('main', 'f')).toBe('late\n');
});

test('a "done" with no change is told, and a change with no report is landed (G17)', async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', '2\n');
  repo.worktree('b');
  const answer = await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.blob('main', 'f')).toBe('2\n');
  expect(answer.sources.map((source) => [source.name, source['state']])).toEqual([
    ['a', 'merged'],
    ['b', 'nothing_new'],
  ]);

  const only = await askSennit(['land', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(only.result).toBe('nothing_new');
  expect(repo.parents('main')).toHaveLength(1);
});

test('a sparse checkout of a repository with many files deletes nothing when it lands (G19)', async () => {
  const place = sealedPlace();
  const repo = Repository.create(place);
  const files: Record<string, string> = {};
  for (let i = 0; i < 40; i += 1) for (let j = 0; j < 50; j += 1) files[`d/${i}/${j}`] = `${i} ${j}\n`;
  repo.commit('many', files);
  repo.git('worktree', 'add', '-q', '--no-checkout', '--detach', '../a');
  const a = new Repository(place, join(place.root, 'a'));
  a.git('sparse-checkout', 'set', 'd/1');
  a.git('checkout', '-q');
  expect(readdirSync(a.path('d'))).toEqual(['1']);
  a.writeAll({ 'd/1/7': 'edited\n', 'd/1/new': 'new\n', 'd/2/outside-the-cone': 'new too\n' });
  const before = repo.oid('main');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.changed(before, 'main')).toEqual(['d/1/7', 'd/1/new', 'd/2/outside-the-cone']);
  expect(repo.files('main')).toHaveLength(2002);
});
