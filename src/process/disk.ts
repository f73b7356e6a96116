import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SennitError } from '../model/errors.ts';

/** Room on a file system for this user; Infinity where it sets no limit. */
export interface FreeSpace {
  readonly bytes: number;
  /** Files and folders that can still be made. */
  readonly inodes: number;
}

/** The free space of the file system that holds `path`, which need not exist yet: the nearest folder that does is
 * asked. Throws the error of Node when even that cannot be read. */
export function readFreeSpace(path: string): FreeSpace {
  for (let at = path; ; at = dirname(at)) {
    try {
      const { bavail, bsize, files, ffree } = statfsSync(at);
      // File systems that make inodes as needed (btrfs) report none in all.
      return { bytes: bavail * bsize, inodes: files === 0 ? Number.POSITIVE_INFINITY : ffree };
    } catch (error) {
      if (fileErrorCode(error) !== 'ENOENT' || dirname(at) === at) throw error;
    }
  }
}

/** The `code` of an error of Node's file system calls. */
export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What a failed write to `path` means for the user: `disk_full` or `repository_readonly`; undefined where it is
 * something else. */
export function findWriteFailure(error: unknown, path: string): SennitError | undefined {
  const code = fileErrorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(path, error);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return notWritable(path, error);
  return undefined;
}

/** The error for a file system without room. */
export function diskFull(path: string, cause: unknown): SennitError {
  return new SennitError('disk_full', `There is no room left to write ${path}.`, {
    hint: 'Free some space (or inodes) there and run the command again; what was done so far is kept.',
    retryable: true,
    cause,
  });
}

/** The error for a place that this user may not write to. */
export function notWritable(path: string, cause: unknown): SennitError {
  return new SennitError('repository_readonly', `${path} cannot be written.`, {
    hint: 'Check who owns it and whether its file system is mounted read-only.',
    cause,
  });
}
