// A folder in memory for objects that are thrown away at the end of the command: thousands of small files that no disk
// needs to see. It is the user's alone, each process has its own part, and what a dead process left is removed by the
// next one. Where there is no such folder, or little room in it, there is none.

import { lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessMark } from '../ports/ledger.ts';
import { isAlive } from './mark.ts';
import { MEMORY_FILE_SYSTEM } from './platform.ts';

/** Less free room than this is left alone. Bytes. */
const ROOM = 1024 ** 3;

/** The folder for this process, or undefined. `nameOf` and `ownerOf` give a process its folder name and back. */
export function openMemoryFolder(
  mark: ProcessMark,
  nameOf: (mark: ProcessMark) => string,
  ownerOf: (name: string) => ProcessMark | undefined,
): string | undefined {
  const uid = process.getuid?.();
  if (MEMORY_FILE_SYSTEM === undefined || uid === undefined) return undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FILE_SYSTEM);
    if (bavail * bsize < ROOM) return undefined;
    const own = join(MEMORY_FILE_SYSTEM, `sennit-${uid}`);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const info = lstatSync(own);
    // Somebody else could have made it first, to read or to lead astray.
    if (!info.isDirectory() || info.uid !== uid || (info.mode & 0o077) !== 0) return undefined;
    for (const name of readdirSync(own)) {
      const owner = ownerOf(name);
      if (owner === undefined || !isAlive(owner)) rmSync(join(own, name), { recursive: true, force: true });
    }
    return join(own, nameOf(mark));
  } catch {
    return undefined; // not there, or not writable: the disk will do
  }
}
