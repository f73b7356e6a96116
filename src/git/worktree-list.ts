// The repository's own records of its worktrees, read from `<common>/worktrees/*` and not from `git worktree list`,
// which dies on one half-made entry. The `.git` file inside a worktree can be written by an agent: it is only
// compared with the record, never followed.

import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isOid, isZeroOid, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';

async function textOf(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).replace(/\n$/, '');
  } catch {
    return null;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** A path with its links followed where it exists. */
export async function realOr(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return resolve(path);
  }
}

/** What a HEAD file says: `ref: refs/heads/x` or an object id. */
export function parseHead(text: string): { branch: string | null; oid: Oid | null } {
  if (text.startsWith('ref: ')) return { branch: text.slice(5).trim(), oid: null };
  const oid = text.trim();
  return { branch: null, oid: isOid(oid) && !isZeroOid(oid) ? oid : null };
}

interface Found extends Omit<WorktreeInfo, 'head'> {
  readonly detachedAt: Oid | null;
}

async function readLinked(commonDir: string, id: string): Promise<Found | undefined> {
  const adminDir = join(commonDir, 'worktrees', id);
  const [gitdir, headText, locked] = await Promise.all([
    textOf(join(adminDir, 'gitdir')),
    textOf(join(adminDir, 'HEAD')),
    textOf(join(adminDir, 'locked')),
  ]);
  if (gitdir === null || gitdir === '' || headText === null) return undefined;
  const recorded = dirname(resolve(adminDir, gitdir));
  const path = await realOr(recorded);
  const head = parseHead(headText);
  return {
    path,
    adminDir,
    primary: false,
    branch: head.branch,
    detachedAt: head.oid,
    locked,
    exists: await isDirectory(path),
    linked: await pointsBack(path, adminDir),
  };
}

/** True when the `.git` file of a directory names this admin dir. */
export async function pointsBack(path: string, adminDir: string): Promise<boolean> {
  const named = await linkTarget(path);
  return named !== null && (await realOr(named)) === (await realOr(adminDir));
}

/** The git dir that the `.git` FILE of a directory names, or null when there is no such file. */
export async function linkTarget(path: string): Promise<string | null> {
  try {
    const file = join(path, '.git');
    if (!(await lstat(file)).isFile()) return null;
    const match = /^gitdir: (.+)$/.exec((await readFile(file, 'utf8')).trim());
    return match?.[1] === undefined ? null : resolve(path, match[1]);
  } catch {
    return null;
  }
}

async function readPrimary(
  commonDir: string,
  primary: string | null | undefined,
): Promise<Found | undefined> {
  if (primary === null) return undefined;
  const headText = (await textOf(join(commonDir, 'HEAD'))) ?? '';
  const head = parseHead(headText);
  return {
    path: primary === undefined ? commonDir : await realOr(primary),
    adminDir: commonDir,
    primary: true,
    branch: head.branch,
    detachedAt: head.oid,
    locked: null,
    exists: primary !== undefined,
    linked: primary !== undefined,
  };
}

/** All worktrees, the primary checkout first; where its place is not known it is listed as one that does not exist. `resolveBranches` gives the commits of full ref names. */
export async function readWorktrees(
  commonDir: string,
  primary: string | null | undefined,
  resolveBranches: (refs: readonly string[]) => Promise<(Oid | undefined)[]>,
): Promise<WorktreeInfo[]> {
  let ids: string[] = [];
  try {
    ids = (await readdir(join(commonDir, 'worktrees'))).sort();
  } catch {
    // none yet
  }
  const found = (
    await Promise.all([readPrimary(commonDir, primary), ...ids.map((id) => readLinked(commonDir, id))])
  ).filter((entry) => entry !== undefined);
  const branches = [...new Set(found.flatMap((entry) => entry.branch ?? []))];
  const resolved = await resolveBranches(branches);
  const heads = new Map(branches.map((branch, i) => [branch, resolved[i] ?? null]));
  return found.map(({ detachedAt, ...entry }) => ({
    ...entry,
    head: entry.branch === null ? detachedAt : (heads.get(entry.branch) ?? null),
  }));
}
