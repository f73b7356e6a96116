// What clean-up and restore do to worktrees besides making and removing them. A worktree is found by two files that name
// each other: `<admin dir>/gitdir` and the `.git` file in its folder. Moving one writes both, the record last, and may
// be begun again after a crash.

import { copyFile, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { asOid, type Oid } from '../model/ids.ts';
import type { ScratchWorktree } from '../ports/checkouts.ts';
import type { GitCall, GitResult } from './spawn.ts';
import { linkTarget } from './worktree-list.ts';

/** Runs git on one worktree. */
export type RunIn = (place: ScratchWorktree, call: GitCall) => Promise<GitResult>;

/** The tree of what is staged, read from a copy of the index in the folder `scratch`; null for an index that is
 * unmerged, or for none. */
export async function writeIndexTree(
  run: RunIn,
  place: ScratchWorktree,
  scratch: string,
): Promise<Oid | null> {
  await mkdir(scratch, { recursive: true });
  const index = join(scratch, `staged-${process.pid}-${Date.now()}.index`);
  try {
    await copyFile(join(place.adminDir, 'index'), index);
    const { code, stdout } = await run(place, {
      args: ['write-tree'],
      env: { GIT_INDEX_FILE: index },
      accept: [0, 128],
    });
    return code === 0 ? asOid(stdout.toString('latin1').trim()) : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

/** Sets HEAD and index of a fresh worktree, and leaves its files: what differs becomes uncommitted work. */
export async function rewind(run: RunIn, place: ScratchWorktree, head: Oid, staged: Oid): Promise<void> {
  await run(place, { args: ['update-ref', '--no-deref', '-m', 'sennit: restore', 'HEAD', head] });
  await run(place, { args: ['read-tree', staged] });
  await run(place, { args: ['update-index', '-q', '--refresh'], accept: [0, 1] });
}

/** Makes a branch the one that is checked out in a worktree. HEAD must be at its commit. */
export async function attachBranch(run: RunIn, place: ScratchWorktree, branch: string): Promise<void> {
  await run(place, { args: ['symbolic-ref', '-m', 'sennit: restore', 'HEAD', branch] });
}

/** Moves a worktree to `path`, where nothing may be; finishes a move that a crash cut short. */
export async function moveWorktree(
  { path: from, adminDir }: ScratchWorktree,
  path: string,
): Promise<ScratchWorktree> {
  if (await isThere(from)) {
    await writeFile(join(from, '.git'), `gitdir: ${adminDir}\n`);
    await mkdir(dirname(path), { recursive: true });
    // Replaces an empty folder and nothing else.
    await rename(from, path).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(error.code ?? '')) throw error;
      throw new SennitError('restore_blocked', `${path} is there by now.`, {
        hint: 'Move it away, or restore to another folder.',
      });
    });
  } else if ((await linkTarget(path)) !== adminDir) {
    throw new SennitError('restore_blocked', `The restored folder is neither at ${from} nor at ${path}.`, {
      hint: 'The archive still holds its content: restore it again.',
    });
  }
  const record = `${path}/.git\n`;
  if ((await readFile(join(adminDir, 'gitdir'), 'utf8')) !== record) {
    await writeFile(join(adminDir, 'gitdir.sennit'), record);
    await rename(join(adminDir, 'gitdir.sennit'), join(adminDir, 'gitdir'));
  }
  return { path, adminDir };
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
