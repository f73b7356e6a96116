// What can be wrong with a repository's own files. A lock is stale only when all of this holds: it is old, no process
// has it open, and no git is at work in the repository (git may hold a lock whose file it has closed, as while an editor
// is open). Where processes cannot be seen nothing is taken away.

import type { Stats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { WorktreeInfo } from '../model/source.ts';
import { type Ailment, ailment } from './ailment.ts';
import type { Context } from './context.ts';
import { isGitAtWork } from './git-at-work.ts';
import { listNames } from './own-folders.ts';
import { shellWord } from './packet.ts';

/** A lock or a half-made record that is younger may belong to somebody at work. Milliseconds. */
export const SETTLED_AFTER = 10 * 60_000;

/** Looks at configuration and kind of the repository, and for locks that nobody holds. */
export async function examineRepository(
  context: Context,
  worktrees: readonly WorktreeInfo[],
): Promise<Ailment[]> {
  return [
    ...(await examineBare(context)),
    ...(await examineWorkTree(context, worktrees)),
    ...(await examineKind(context)),
    ...(await examineLocks(context, worktrees)),
  ];
}

/** True when the repository was made with a work tree around its git dir. */
async function hasWorkTree({ place }: Context): Promise<boolean> {
  return basename(place.commonDir) === '.git' && (await find(join(place.commonDir, 'index'))) !== undefined;
}

async function examineBare(context: Context): Promise<Ailment[]> {
  const bare = await context.refs.readConfig('core.bare');
  if (bare === undefined || !/^(?:true|yes|on|1|)$/i.test(bare) || !(await hasWorkTree(context))) return [];
  return [
    ailment(
      {
        check: 'config_bare',
        severity: 'error',
        message: `core.bare is true although ${dirname(context.place.commonDir)} is a work tree: git refuses to work there. A git started with GIT_DIR set (as in a hook) does this.`,
        remedy: `git config --file ${shellWord(join(context.place.commonDir, 'config'))} core.bare false`,
      },
      () => context.refs.mendConfig('core.bare', 'false'),
    ),
  ];
}

async function examineWorkTree(context: Context, worktrees: readonly WorktreeInfo[]): Promise<Ailment[]> {
  const { commonDir } = context.place;
  const value = await context.refs.readConfig('core.worktree');
  if (value === undefined || basename(commonDir) !== '.git') return [];
  const path = resolve(commonDir, value);
  if (path === dirname(commonDir)) return [];
  // One that is set up on purpose names a folder that exists and is no worktree of its own.
  const mistaken =
    (await find(path)) === undefined ||
    worktrees.some((worktree) => !worktree.primary && worktree.path === path);
  return [
    ailment(
      {
        check: 'config_worktree',
        severity: mistaken ? 'error' : 'warning',
        message: `core.worktree is ${value}: git takes ${path} for the files of this repository, not ${dirname(commonDir)}. A git started with GIT_WORK_TREE set does this.`,
        remedy: `git config --file ${shellWord(join(commonDir, 'config'))} --unset-all core.worktree`,
      },
      mistaken ? () => context.refs.mendConfig('core.worktree', null) : null,
    ),
  ];
}

async function examineKind(context: Context): Promise<Ailment[]> {
  const found: Ailment[] = [];
  if (context.place.shallow) {
    found.push(
      ailment({
        check: 'clone_shallow',
        severity: 'warning',
        message: 'This is a shallow clone: a merge base that was cut off cannot be seen.',
        remedy: 'git fetch --unshallow',
      }),
    );
  }
  if ((await context.refs.readConfig('extensions.partialClone')) !== undefined) {
    found.push(
      ailment({
        check: 'clone_partial',
        severity: 'info',
        message:
          'This is a partial clone: contents that are not here are not fetched while workspaces are read.',
        remedy: 'git fetch --refetch',
      }),
    );
  }
  return found;
}

async function find(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

async function examineLocks(context: Context, worktrees: readonly WorktreeInfo[]): Promise<Ailment[]> {
  const { commonDir } = context.place;
  const folders = [commonDir, ...worktrees.filter(({ exists }) => exists).map(({ path }) => path)];
  const found: Ailment[] = [];
  let busy: boolean | null | undefined;
  for (const path of await listLocks(commonDir, worktrees)) {
    const stat = await find(path);
    if (stat === undefined) continue; // it was let go just now
    const age = context.clock.now().getTime() - stat.mtimeMs;
    busy ??= isGitAtWork(context, folders);
    const holders = context.system.listOccupants(path);
    const stale = age > SETTLED_AFTER && busy === false && holders?.length === 0;
    const minutes = Math.floor(age / 60_000);
    found.push(
      ailment(
        {
          check: stale ? 'lock_stale' : 'lock_held',
          severity: stale ? 'warning' : 'info',
          message: stale
            ? `${path} is ${minutes} minutes old and nobody holds it: a git process died. Until it is gone git refuses to change what it guards.`
            : `${path} is there, ${minutes} minute${minutes === 1 ? '' : 's'} old: git may be at work.`,
          paths: [path],
          remedy: `Make sure that no git and no editor for a commit message is at work, then: rm ${shellWord(path)}`,
        },
        stale ? () => removeLock(path, stat) : null,
      ),
    );
  }
  return found;
}

/** Removes a lock unless it is another one by now. */
async function removeLock(path: string, seen: Stats): Promise<void> {
  const now = await find(path);
  if (now === undefined || now.ino !== seen.ino || now.mtimeMs !== seen.mtimeMs) return;
  await rm(path, { force: true });
}

/** Lock files of git: those of the repository, of each worktree, and of refs. */
async function listLocks(commonDir: string, worktrees: readonly WorktreeInfo[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of [
    commonDir,
    ...worktrees.filter(({ primary }) => !primary).map((one) => one.adminDir),
  ]) {
    for (const name of await listNames(folder)) if (name.endsWith('.lock')) found.push(join(folder, name));
  }
  await collectLocks(join(commonDir, 'refs'), found);
  return found.sort();
}

async function collectLocks(folder: string, found: string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await collectLocks(path, found);
    else if (entry.name.endsWith('.lock')) found.push(path);
  }
}
