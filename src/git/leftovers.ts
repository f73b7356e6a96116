// What lies in a workspace besides its work: ignored files, and things that git never sees. Read before a workspace is
// removed, so that nothing which cannot be made again goes unmentioned.

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type GitPath, gitPathOf } from '../model/ids.ts';
import type { Leftovers } from '../ports/workspaces.ts';
import { readFilters } from './capture-attempt.ts';
import { isReproducible } from './reproducible.ts';
import { parseStatus, STATUS_ARGS, STATUS_IGNORED_ARG } from './status-format.ts';
import { diskPath } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

/** Entries of one ignored folder that are counted; a larger one is reported with the bytes that were seen. */
const COUNTED_ENTRIES = 20_000;

function readFolder(root: string, directory: GitPath): Dirent<Buffer>[] {
  try {
    return readdirSync(diskPath(root, directory), { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return []; // unreadable or gone: it counts as empty, and stays listed
  }
}

function childOf(directory: GitPath, name: Buffer): GitPath {
  return (directory === '' ? gitPathOf(name) : `${directory}/${gitPathOf(name)}`) as GitPath;
}

function sizeOf(root: string, path: GitPath): number {
  return lstatSync(diskPath(root, path), { throwIfNoEntry: false })?.size ?? 0;
}

function bytesBelow(root: string, top: GitPath): number {
  if (!top.endsWith('/')) return sizeOf(root, top);
  let bytes = 0;
  let entries = 0;
  const open = [top.slice(0, -1) as GitPath];
  for (
    let directory = open.pop();
    directory !== undefined && entries < COUNTED_ENTRIES;
    directory = open.pop()
  ) {
    for (const entry of readFolder(root, directory)) {
      entries += 1;
      const path = childOf(directory, entry.name);
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) bytes += sizeOf(root, path);
    }
  }
  return bytes;
}

interface Unseen {
  /** Sockets, pipes and devices. */
  readonly special: GitPath[];
  /** Git dirs below the top, with a slash at their end. */
  readonly gitDirs: GitPath[];
}

/** What git passes over in folders that are not ignored. */
function findUnseen(root: string, skipped: ReadonlySet<GitPath>): Unseen {
  const special: GitPath[] = [];
  const gitDirs: GitPath[] = [];
  const open = ['' as GitPath];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of readFolder(root, directory)) {
      const path = childOf(directory, entry.name);
      if (entry.isDirectory()) {
        if (gitPathOf(entry.name) !== '.git') {
          if (!skipped.has(`${path}/` as GitPath)) open.push(path);
        } else if (directory !== '') gitDirs.push(`${path}/` as GitPath);
      } else if (!entry.isFile() && !entry.isSymbolicLink()) special.push(path);
    }
  }
  return { special: special.sort(), gitDirs: gitDirs.sort() };
}

/** Lists what a snapshot of the workspace does not hold. */
export async function listLeftovers(plainGit: WorkspaceGit): Promise<Leftovers> {
  const { path: root, adminDir } = plainGit.worktree;
  const index = join(adminDir, 'index'); // only read: optional locks are off
  const git = plainGit.with((await readFilters(plainGit, index, [])).config);
  const { stdout } = await git.run(index, { args: [...STATUS_ARGS, STATUS_IGNORED_ARG] });
  const { ignored } = parseStatus(stdout);
  const { special, gitDirs } = findUnseen(root, new Set(ignored));
  return {
    ignored: [...ignored, ...gitDirs].map((path) => ({
      path,
      reproducible: isReproducible(path),
      bytes: bytesBelow(root, path),
    })),
    special,
  };
}
