// Records of worktrees that are half made, and worktrees that their records do not find. A record is only ever moved
// aside, never deleted, and only where no work can be in it: no index, and no file in its folder.

import { lstat, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isZeroOid, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import { type Ailment, ailment } from './ailment.ts';
import type { Context } from './context.ts';
import { SETTLED_AFTER } from './examine-repository.ts';
import { isGitAtWork } from './git-at-work.ts';
import { findScratchOwner, listNames } from './own-folders.ts';
import { shellWord } from './packet.ts';

/** Looks at the records of linked worktrees, and at what they name. */
export async function examineWorktrees(
  context: Context,
  worktrees: readonly WorktreeInfo[],
): Promise<Ailment[]> {
  const folder = join(context.place.commonDir, 'worktrees');
  const found: Ailment[] = [];
  const halfMade = new Set<string>();
  for (const id of await listNames(folder)) {
    const record = await readRecord(join(folder, id));
    if (record === undefined) continue;
    halfMade.add(record.adminDir);
    found.push(await halfMadeAilment(context, worktrees, record));
  }
  for (const worktree of worktrees) {
    if (worktree.primary || halfMade.has(worktree.adminDir)) continue;
    if (findScratchOwner(context, worktree.path) !== undefined) continue;
    found.push(...lostAilments(worktree));
  }
  return found;
}

interface HalfMade {
  readonly adminDir: string;
  /** Folder of the worktree; null where the record does not name one. */
  readonly path: string | null;
  /** What is missing in it, for people. */
  readonly lacks: string;
  /** True when git fails on it, in every worktree of the repository. */
  readonly breaks: boolean;
  readonly changed: number;
}

/** A record that was never finished; undefined for one that was. */
async function readRecord(adminDir: string): Promise<HalfMade | undefined> {
  const stat = await lstat(adminDir).catch(() => undefined);
  if (stat?.isDirectory() !== true) return undefined;
  const read = (name: string): Promise<string | null> =>
    readFile(join(adminDir, name), 'utf8').then(
      (text) => text.trim(),
      () => null,
    );
  const [gitdir, commondir, head, locked] = await Promise.all(
    ['gitdir', 'commondir', 'HEAD', 'locked'].map(read),
  );
  const path = gitdir == null || gitdir === '' ? null : dirname(resolve(adminDir, gitdir));
  const common = { adminDir, path, changed: stat.mtimeMs };
  const empty = [
    ['gitdir', gitdir],
    ['commondir', commondir],
    ['HEAD', head],
  ].find(([, text]) => text == null || text === '');
  if (empty !== undefined) return { ...common, lacks: `its ${empty[0]} is missing`, breaks: true };
  if (head != null && isZeroOid(head as Oid))
    return { ...common, lacks: 'its HEAD names no commit', breaks: true };
  if (locked === 'initializing') {
    return { ...common, lacks: 'it is still marked as being made', breaks: false };
  }
  return undefined;
}

async function halfMadeAilment(
  context: Context,
  worktrees: readonly WorktreeInfo[],
  record: HalfMade,
): Promise<Ailment> {
  const { adminDir, path, lacks, breaks, changed } = record;
  const folders = [
    context.place.commonDir,
    ...worktrees.filter(({ exists }) => exists).map((worktree) => worktree.path),
    ...(path === null ? [] : [path]),
  ];
  const young = context.clock.now().getTime() - changed < SETTLED_AFTER;
  const abandoned = !young && isGitAtWork(context, folders) === false;
  const empty = await isWithoutWork(record);
  const where = path ?? adminDir;
  const remedy =
    path === null || empty
      ? `Make sure that nobody is making it just now, then: sennit doctor --fix`
      : `If nothing in ${path} is needed: git worktree remove -f -f ${shellWord(path)}. Else: git worktree unlock ${shellWord(path)}, and look at its files with git -C ${shellWord(path)} status`;
  return ailment(
    {
      check: 'worktree_half_made',
      severity: breaks ? 'error' : 'warning',
      message: `The worktree ${where} was never finished: ${lacks}.${breaks ? ' fetch, gc and worktree commands fail on it.' : ''}`,
      paths: [where],
      remedy,
    },
    abandoned && empty ? () => moveAside(context, adminDir) : null,
  );
}

/** True when the record has no index, and its folder holds nothing but the `.git` file. */
async function isWithoutWork({ adminDir, path }: HalfMade): Promise<boolean> {
  const names = await listNames(adminDir);
  if (names.includes('index') || names.includes('index.lock')) return false;
  if (path === null) return true;
  const files = await readdir(path).catch((): string[] => []);
  return files.every((name) => name === '.git');
}

async function moveAside(context: Context, adminDir: string): Promise<void> {
  const stamp = context.clock.now().toISOString().replace(/[:.]/g, '-');
  const to = join(
    context.place.stateDir,
    'kept',
    `records-${stamp}`,
    adminDir.slice(dirname(adminDir).length + 1),
  );
  await mkdir(dirname(to), { recursive: true });
  await rename(adminDir, to);
}

function lostAilments({ path, exists, linked, branch }: WorktreeInfo): Ailment[] {
  if (!exists) {
    const commits = branch === null ? '' : ` Its commits are on ${branch.replace(/^refs\/heads\//, '')}.`;
    return [
      ailment({
        check: 'worktree_missing',
        severity: 'warning',
        message: `The folder of the worktree ${path} is not there.${commits}`,
        paths: [path],
        remedy: `If it was moved: git worktree repair <its new path>. If it is gone for good: git worktree remove ${shellWord(path)}`,
      }),
    ];
  }
  if (linked) return [];
  return [
    ailment({
      check: 'worktree_unlinked',
      severity: 'warning',
      message: `The .git file of ${path} is lost or leads elsewhere: git in it answers for another repository, or for none.`,
      paths: [path],
      remedy: `git worktree repair ${shellWord(path)}`,
    }),
  ];
}
