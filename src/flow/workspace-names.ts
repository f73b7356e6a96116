// From what the user typed to the workspaces that are meant: a worktree's folder, a glob of such folders, or the branch
// that one has checked out. Names are matched against the repository's own records, never followed into a folder.

import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import picomatch from 'picomatch';
import { SennitError } from '../model/errors.ts';
import type { WorktreeInfo } from '../model/source.ts';

const GLOB = /[*?[\]{}]/;

export interface NamedWorkspaces {
  /** Each once, in the order of the names. */
  readonly found: readonly WorktreeInfo[];
  /** Paths of named ones that were removed before. */
  readonly gone: readonly string[];
}

/** The worktrees that are named. `removed` are paths of those that were removed before. Throws `source_unknown` or
 * `source_foreign`. */
export async function findNamedWorkspaces(
  worktrees: readonly WorktreeInfo[],
  names: readonly string[],
  cwd: string,
  removed: ReadonlySet<string>,
): Promise<NamedWorkspaces> {
  const found = new Map<string, WorktreeInfo>();
  const gone = new Set<string>();
  for (const name of names) {
    const path = resolve(cwd, name);
    const isGone = name !== '' && removed.has(path) && !(await isThere(path));
    if (isGone && !worktrees.some((worktree) => worktree.path === path)) gone.add(path);
    else
      for (const worktree of await findByName(worktrees, name, cwd)) found.set(worktree.adminDir, worktree);
  }
  return { found: [...found.values()], gone: [...gone] };
}

async function findByName(
  worktrees: readonly WorktreeInfo[],
  name: string,
  cwd: string,
): Promise<WorktreeInfo[]> {
  const path = resolve(cwd, name);
  const real = await realpath(path).catch(() => path);
  const byPath = worktrees.filter((worktree) => worktree.path === real || worktree.path === path);
  if (byPath.length > 0 && name !== '') return byPath;
  const byBranch = worktrees.filter(
    ({ branch, primary }) =>
      !primary && branch !== null && (branch === name || branch === `refs/heads/${name}`),
  );
  if (byBranch.length > 0) return byBranch;
  if (GLOB.test(name)) {
    const isMatch = picomatch(path, { dot: true });
    const byGlob = worktrees.filter((worktree) => !worktree.primary && isMatch(worktree.path));
    if (byGlob.length > 0) return byGlob;
  }
  if (real !== path || (await isThere(path))) {
    throw new SennitError('source_foreign', `${path} is not a worktree of this repository.`, {
      hint: 'Name the top folder of a worktree; `git worktree list` shows them. If it was moved, run `git worktree repair` on it first.',
    });
  }
  throw new SennitError('source_unknown', `There is no workspace called ${name === '' ? "''" : name}.`, {
    hint: 'Name the folder of a worktree, or the branch that it has checked out; `git worktree list` shows them.',
  });
}

async function isThere(path: string): Promise<boolean> {
  return realpath(path).then(
    () => true,
    () => false,
  );
}
