// The folder of Sennit's state in the common git dir, and the files in it: made so that they are on the disk, and as
// widely writable as the folder above, so that people who share a repository share the record of it.

import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { fileErrorCode, findWriteFailure } from '../process/disk.ts';

/** Writable by the group, or by all. */
const SHARED = 0o022;

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function failure(error: unknown, path: string): unknown {
  if (fileErrorCode(error) === 'ENOENT' || fileErrorCode(error) === 'ENOTDIR') {
    return new SennitError('repository_missing', `There is no folder ${dirname(path)} any more.`, {
      hint: 'Check that the repository is still there.',
      cause: error,
    });
  }
  return findWriteFailure(error, path) ?? error;
}

/** Makes the folder where absent; the one above it must be there. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
    const { mode } = statSync(dirname(path));
    if ((mode & SHARED) !== 0) chmodSync(path, mode & 0o7777);
    syncFolder(dirname(path));
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw failure(error, path);
  }
}

/** Makes the empty file where absent, in a folder that is there. A file that is there is not opened: SQLite may
 * hold locks on it. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o666));
    const { mode } = statSync(dirname(path));
    if ((mode & SHARED) !== 0) chmodSync(path, mode & 0o666);
    syncFolder(dirname(path));
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw failure(error, path);
  }
}
