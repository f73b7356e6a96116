// Ignored files that nothing can make again are moved out of a workspace before it goes, and back when it comes again.
// Within a file system they are renamed; across, they are copied and read back, and the original goes with the folder
// that it is in. So at every moment each file is whole in at least one of the two places, and both directions can be
// begun again after a crash. Paths are bytes: names need not be UTF-8.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  lutimes,
  mkdir,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
} from 'node:fs/promises';
import { SennitError } from '../model/errors.ts';
import { type GitPath, pathBytes } from '../model/ids.ts';

const SLASH = Buffer.from('/');

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}

function bareBytes(path: GitPath): Buffer {
  return pathBytes((path.endsWith('/') ? path.slice(0, -1) : path) as GitPath);
}

function parentOf(path: Buffer): Buffer {
  return path.subarray(0, path.lastIndexOf(SLASH));
}

async function exists(path: Buffer): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Moves files and folders of `root` to the same paths below `kept`. What has gone meanwhile is passed over. */
export async function moveToKept(root: string, kept: string, paths: readonly GitPath[]): Promise<void> {
  const realRoot = await realpath(Buffer.from(root), { encoding: 'buffer' });
  for (const path of paths) {
    const source = within(Buffer.from(root), bareBytes(path));
    const target = within(Buffer.from(kept), bareBytes(path));
    if (!(await exists(source))) continue;
    // A folder on the way that became a link would lead to files outside of the workspace.
    const parent = await realpath(parentOf(source), { encoding: 'buffer' });
    if (
      !parent.equals(realRoot) &&
      !parent.subarray(0, realRoot.length + 1).equals(Buffer.concat([realRoot, SLASH]))
    ) {
      throw new SennitError('workspace_unproved', `${source.toString()} does not lie in ${root}.`, {
        hint: 'A symbolic link leads out of the workspace: look at it there.',
      });
    }
    await mkdir(parentOf(target), { recursive: true });
    await moveEntry(source, target, { keepSource: true });
  }
}

/** Moves all that is below `kept` to the same paths below `root`, where nothing is in the way; the paths (for display)
 * that stayed because something is. Folders that become empty go. */
export async function moveBack(kept: string, root: string): Promise<string[]> {
  const left: string[] = [];
  const base = Buffer.from(kept);
  if (await exists(base)) await mergeBack(base, Buffer.from(root), base.length + 1, left);
  return left;
}

async function mergeBack(source: Buffer, target: Buffer, skip: number, left: string[]): Promise<void> {
  const [from, to] = [await lstat(source), await lstat(target).catch(() => undefined)];
  if (to === undefined) {
    await moveEntry(source, target, { keepSource: false });
    return;
  }
  if (!from.isDirectory() || !to.isDirectory()) {
    left.push(source.subarray(skip).toString());
    return;
  }
  for (const name of await readdir(source, { encoding: 'buffer' })) {
    await mergeBack(within(source, name), within(target, name), skip, left);
  }
  await rmdir(source).catch(() => undefined); // not empty where something stayed
}

async function moveEntry(
  source: Buffer,
  target: Buffer,
  { keepSource }: { keepSource: boolean },
): Promise<void> {
  try {
    await rename(source, target);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
  }
  const partial = Buffer.concat([target, Buffer.from('.sennit-partial')]);
  await rm(partial, { recursive: true, force: true });
  await copyEntry(source, partial);
  await requireSame(source, partial);
  await rename(partial, target);
  if (!keepSource) await rm(source, { recursive: true, force: true });
}

async function copyEntry(source: Buffer, target: Buffer): Promise<void> {
  const stat = await lstat(source);
  if (stat.isSymbolicLink()) await symlink(await readlink(source, { encoding: 'buffer' }), target);
  else if (stat.isDirectory()) {
    await mkdir(target);
    for (const name of await readdir(source, { encoding: 'buffer' })) {
      await copyEntry(within(source, name), within(target, name));
    }
    await chmod(target, stat.mode & 0o7777);
  } else if (stat.isFile()) {
    await copyFile(source, target);
    await chmod(target, stat.mode & 0o7777);
  } else return; // sockets and pipes hold nothing
  await lutimes(target, stat.atime, stat.mtime);
}

/** Reads a copy back. Throws `workspace_unproved` where it is not the same. */
async function requireSame(source: Buffer, copy: Buffer): Promise<void> {
  const stat = await lstat(source);
  const other = await lstat(copy).catch(() => undefined);
  let same: boolean;
  if (stat.isSymbolicLink()) {
    same =
      other?.isSymbolicLink() === true &&
      (await readlink(source, { encoding: 'buffer' })).equals(await readlink(copy, { encoding: 'buffer' }));
  } else if (stat.isDirectory()) {
    same = other?.isDirectory() === true;
    for (const name of same ? await readdir(source, { encoding: 'buffer' }) : []) {
      await requireSame(within(source, name), within(copy, name));
    }
  } else if (stat.isFile()) {
    same = other?.isFile() === true && (await hashOf(source)) === (await hashOf(copy));
  } else same = true;
  if (same) return;
  throw new SennitError('workspace_unproved', `${source.toString()} changed while it was copied.`, {
    hint: 'Something still writes there: end it, then run the command again.',
    retryable: true,
  });
}

async function hashOf(path: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
