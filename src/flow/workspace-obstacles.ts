// What keeps a workspace from being removed whatever it holds. Each answer is one sentence with the way out, and is
// found by looking: nothing is changed here.

import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { displayPath, type GitPath, pathBytes } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import type { Context } from './context.ts';
import { readLandData } from './land-data.ts';
import { findScratchOwner, isWithin, listNames } from './own-folders.ts';
import { shellWord } from './packet.ts';

/** Files and folders of a worktree's git dir that stand for something that is not finished there. */
const UNFINISHED: readonly (readonly [name: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase or a series of patches'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['BISECT_LOG', 'a bisection'],
];

/** How many processes a message names. */
const NAMED = 3;

/** Why a workspace must stay, or undefined. `others` are all worktrees of the repository. */
export async function findObstacle(
  context: Context,
  worktree: WorktreeInfo,
  others: readonly WorktreeInfo[],
  operation: string | null,
): Promise<string | undefined> {
  return (
    placeObstacle(context, worktree, others) ??
    operationObstacle(context, worktree, operation) ??
    (await unfinishedObstacle(worktree)) ??
    occupantObstacle(context, worktree.path)
  );
}

function placeObstacle(
  context: Context,
  worktree: WorktreeInfo,
  others: readonly WorktreeInfo[],
): string | undefined {
  const { path } = worktree;
  if (worktree.primary) return 'it is the primary checkout of the repository';
  const owner = findScratchOwner(context, path);
  if (owner !== undefined) {
    return `it belongs to the operation ${owner}: \`sennit continue\` or \`sennit abort\` ends that`;
  }
  if (worktree.locked !== null) {
    const why = worktree.locked === '' ? '' : ` (${worktree.locked})`;
    return `it is locked${why}: \`git worktree unlock ${shellWord(path)}\` if that is over`;
  }
  if (!worktree.exists) {
    return `its folder is not there: after a move \`git worktree repair <new path>\`, else \`git worktree remove ${shellWord(path)}\``;
  }
  if (!worktree.linked) {
    return `its .git file is lost or leads elsewhere: \`git worktree repair ${shellWord(path)}\` first`;
  }
  if (context.place.gitDir === worktree.adminDir || isWithin(context.cwd, path)) {
    return 'this command was started in it: run it from another place';
  }
  const inside = [
    ...others.filter((other) => other !== worktree && other.exists).map((other) => other.path),
    context.place.commonDir,
    context.gateRoot,
  ].find((other) => isWithin(other, path));
  return inside === undefined ? undefined : `${inside} lies in it`;
}

function operationObstacle(context: Context, { path }: WorktreeInfo, own: string | null): string | undefined {
  const live = context.readLedger()?.listOperations({ states: ['running', 'pending'] }) ?? [];
  for (const operation of live) {
    if (operation.id === own) continue;
    const why = claimOn(operation, path);
    if (why !== undefined) return why;
  }
  return undefined;
}

function claimOn(operation: OperationRecord, path: string): string | undefined {
  if (operation.kind !== 'land') return undefined; // clean-up, undo and restore never run side by side
  const { sources } = readLandData(operation);
  if (sources.some(({ identity }) => identity === path)) {
    return operation.state === 'pending'
      ? `the landing ${operation.id} of it waits: \`sennit continue\` or \`sennit abort\` first`
      : `the landing ${operation.id} of it is running`;
  }
  if (operation.state === 'running' && sources.length === 0) {
    return `the landing ${operation.id} is reading workspaces just now: try again when it has ended`;
  }
  return undefined;
}

async function unfinishedObstacle({ adminDir }: WorktreeInfo): Promise<string | undefined> {
  for (const [name, what] of UNFINISHED) {
    if ((await lstat(join(adminDir, name)).catch(() => undefined)) !== undefined)
      return `${what} is not finished in it`;
  }
  const submodules = await listNames(join(adminDir, 'modules'));
  if (submodules.length === 0) return undefined;
  return `commits of its submodules (${submodules.join(', ')}) may be in its own git dir alone: push them, then remove it by hand`;
}

/** Processes that work in a folder, as the reason to leave it alone. */
export function occupantObstacle(context: Context, path: string): string | undefined {
  const occupants = context.system.listOccupants(path) ?? [];
  if (occupants.length === 0) return undefined;
  const named = occupants.slice(0, NAMED).map(({ pid, name }) => `${pid} (${name})`);
  const more = occupants.length > NAMED ? ` and ${occupants.length - NAMED} more` : '';
  return `processes work in it: ${named.join(', ')}${more}`;
}

/** Repositories of their own below ignored folders of a workspace: their commits may be there alone. */
export async function findHiddenRepositories(root: string, ignored: readonly GitPath[]): Promise<GitPath[]> {
  const found: GitPath[] = [];
  const open = ignored.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1) as GitPath);
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const bytes = Buffer.concat([Buffer.from(`${root}/`), pathBytes(folder)]);
    for (const entry of await readdir(bytes, { withFileTypes: true, encoding: 'buffer' })) {
      const name = entry.name.toString('latin1');
      if (name === '.git') found.push(folder);
      else if (entry.isDirectory()) open.push(`${folder}/${name}` as GitPath);
    }
  }
  return found.sort();
}

/** The sentence about repositories in a workspace. */
export function nestedObstacle(paths: readonly GitPath[]): string | undefined {
  if (paths.length === 0) return undefined;
  const shown = paths.slice(0, NAMED).map(displayPath).join(', ');
  return `${shown}${paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''} ${paths.length === 1 ? 'is a repository' : 'are repositories'} of ${paths.length === 1 ? 'its' : 'their'} own: move ${paths.length === 1 ? 'it' : 'them'} out of the workspace first`;
}
