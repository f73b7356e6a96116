// A workspace's files as a capture looks at them: by byte paths, never through a symbolic link at the end of a path, and
// with every unreadable place reported instead of skipped.

import { closeSync, constants, lstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { SennitError } from '../model/errors.ts';
import { type GitPath, pathBytes } from '../model/ids.ts';

/** How many paths a message or a finding names; the rest is counted. */
const NAMED = 20;

/** The file of a git path below a directory. */
export function diskPath(root: string, path: GitPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), pathBytes(path)]);
}

/** As `diskPath`, where only text will do; leads nowhere for a name that is not UTF-8. */
export function diskText(root: string, path: GitPath): string {
  return `${root}/${pathBytes(path).toString('utf8')}`;
}

/** The entry itself, not what a link leads to; undefined when there is none. Throws what the system says else. */
export function findEntry(root: string, path: GitPath): Stats | undefined {
  try {
    return lstatSync(diskPath(root, path), { throwIfNoEntry: false });
  } catch (error) {
    // A part of the way is a file, or a link to itself: there is no entry either.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

/** True when nothing is at the path, and nothing but folders on the way to it. */
export function isPlainlyGone(root: string, path: GitPath): boolean {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const folder = findEntry(root, path.slice(0, at) as GitPath);
    if (folder === undefined) return true;
    if (!folder.isDirectory()) return false;
  }
  return findEntry(root, path) === undefined;
}

/** True for a path below a link that leads to itself. */
export function isBeyondLoop(root: string, path: GitPath): boolean {
  try {
    lstatSync(diskPath(root, path), { throwIfNoEntry: false });
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ELOOP';
  }
}

/** True unless the path is a symbolic link to a file: a link to a directory, or one that leads nowhere. */
export function mayLeadToDirectory(root: string, path: GitPath): boolean {
  try {
    return statSync(diskPath(root, path)).isDirectory();
  } catch {
    return true;
  }
}

/** Content of a regular file of at most `limit` bytes; undefined for anything else. Never waits and never follows. */
export function readSmallFile(root: string, path: GitPath, limit: number): Buffer | undefined {
  const entry = findEntry(root, path);
  if (entry === undefined || !entry.isFile() || entry.size > limit) return undefined;
  let file: number | undefined;
  try {
    file = openSync(diskPath(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return readFileSync(file);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Those regular files among the paths that this process may not read. */
export function listUnreadable(root: string, paths: readonly GitPath[]): GitPath[] {
  return paths.filter((path) => {
    try {
      if (findEntry(root, path)?.isFile() !== true) return false;
      closeSync(
        openSync(diskPath(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
      );
      return false;
    } catch (error) {
      return isRefusal(error);
    }
  });
}

/** True for an error of the system that says that something is there but may not be read. */
export function isRefusal(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'EACCES' || code === 'EPERM' || code === 'EIO' || code === 'ESTALE';
}

/** The first paths for a message, and how many more there are. */
export function nameSome(paths: readonly string[]): string {
  const more = paths.length - NAMED;
  return `${paths.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** As `nameSome` for the `paths` of a finding. */
export function firstNames(paths: readonly string[]): readonly string[] {
  return paths.slice(0, NAMED);
}

/** Throws `disk_full` when a file system has less room than `bytes` for this user. */
export async function requireFreeSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bfree, bsize } = await statfs(directory);
  const free = bsize * (process.getuid?.() === 0 ? bfree : bavail);
  if (free >= bytes) return;
  throw new SennitError(
    'disk_full',
    `The snapshot needs up to ${bytes} bytes, but ${directory} has room for ${free}.`,
    {
      hint: 'Free some space and run the command again; nothing has been changed.',
      retryable: true,
    },
  );
}
