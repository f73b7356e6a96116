import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Oid } from '../model/ids.ts';
import { linkTarget, parseHead, pointsBack, readWorktrees } from './worktree-list.ts';

const OID = 'a'.repeat(40) as Oid;

/** A folder with a git dir `repo/.git` and no git in it: only the files that are read. */
function records(): { root: string; common: string; add(id: string, files: Record<string, string>): string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'sennit-worktrees-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const common = join(root, 'repo/.git');
  write(join(common, 'HEAD'), 'ref: refs/heads/main\n');
  return {
    root,
    common,
    add: (id, files) => {
      for (const [name, text] of Object.entries(files)) write(join(common, 'worktrees', id, name), text);
      return join(common, 'worktrees', id);
    },
  };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Reads the records; every branch is at OID but `refs/heads/unborn`. */
function read(common: string) {
  return readWorktrees(common, join(common, '..'), (refs) =>
    Promise.resolve(refs.map((ref) => (ref === 'refs/heads/unborn' ? undefined : OID))),
  );
}

test('a worktree that git was killed in the middle of making hides no other one', async () => {
  const { root, common, add } = records();
  const whole = add('b-whole', { gitdir: `${root}/whole/.git\n`, HEAD: `${OID}\n` });
  write(join(root, 'whole/.git'), `gitdir: ${whole}\n`);
  add('a-empty', { gitdir: '', HEAD: 'ref: refs/heads/x\n' });
  add('c-bare', { locked: 'initializing' });
  add('d-null', { gitdir: `${root}/null/.git\n`, HEAD: `${'0'.repeat(40)}\n`, locked: 'initializing' });
  const found = await read(common);
  expect(found.map(({ adminDir, head, linked }) => [adminDir.slice(common.length), head, linked])).toEqual([
    ['', OID, true],
    ['/worktrees/b-whole', OID, true],
    ['/worktrees/d-null', null, false],
  ]);
});

test('a directory whose .git file was replaced is not taken for its worktree', async () => {
  const { root, common, add } = records();
  const own = add('own', { gitdir: `${root}/own/.git\n`, HEAD: 'ref: refs/heads/own\n' });
  const other = add('other', { gitdir: `${root}/other/.git\n`, HEAD: 'ref: refs/heads/other\n' });
  write(join(root, 'own/.git'), `gitdir: ${other}\n`);
  write(join(root, 'other/.git/HEAD'), 'ref: refs/heads/evil\n');
  expect((await read(common)).map(({ path, linked, exists }) => [path, linked, exists])).toEqual([
    [join(root, 'repo'), true, true],
    [join(root, 'other'), false, true],
    [join(root, 'own'), false, true],
  ]);
  expect(await pointsBack(join(root, 'own'), own)).toBe(false);
  expect(await linkTarget(join(root, 'other'))).toBeNull();
});

test('a .git that is a link to the right file is not followed', async () => {
  const { root, add } = records();
  const admin = add('wt', { gitdir: `${root}/wt/.git\n`, HEAD: `${OID}\n` });
  write(join(root, 'elsewhere'), `gitdir: ${admin}\n`);
  mkdirSync(join(root, 'wt'));
  symlinkSync(join(root, 'elsewhere'), join(root, 'wt/.git'));
  expect(await pointsBack(join(root, 'wt'), admin)).toBe(false);
});

test('a worktree whose directory is gone stays known, with its lock and its commit', async () => {
  const { root, common, add } = records();
  add('gone', { gitdir: `${root}/gone/.git\n`, HEAD: 'ref: refs/heads/unborn\n', locked: 'on a stick\n' });
  add('bare-lock', { gitdir: `${root}/b/.git\n`, HEAD: `${OID}\n`, locked: '' });
  const [, lock, gone] = await read(common);
  expect(gone).toMatchObject({ exists: false, linked: false, locked: 'on a stick', head: null });
  expect(gone?.branch).toBe('refs/heads/unborn');
  expect(lock).toMatchObject({ locked: '', branch: null, head: OID });
});

test('records and links by relative paths are understood, and paths through links come out real', async () => {
  const { root, common, add } = records();
  const admin = add('wt', { gitdir: '../../../../wt/.git\n', HEAD: `${OID}\n` });
  write(join(root, 'wt/.git'), 'gitdir: ../repo/.git/worktrees/wt\n');
  symlinkSync(join(root, 'wt'), join(root, 'alias'));
  add('alias', { gitdir: `${root}/alias/.git\n`, HEAD: `${OID}\n` });
  const [, alias, plain] = await read(common);
  expect(plain).toMatchObject({ path: join(root, 'wt'), adminDir: admin, linked: true });
  expect(alias).toMatchObject({ path: join(root, 'wt'), linked: false });
});

test('a HEAD is a branch or a commit, and never half of one', () => {
  expect(parseHead('ref: refs/heads/a b\n')).toEqual({ branch: 'refs/heads/a b', oid: null });
  expect(parseHead(`${OID}\n`)).toEqual({ branch: null, oid: OID });
  for (const text of ['', 'aaaa', '0'.repeat(40), `${OID}${OID}x`])
    expect(parseHead(text)).toEqual({ branch: null, oid: null });
});
