// The only place that loads SQLite, and what its failures mean. libsql is a native module and takes longer to load
// than all of Sennit's start, so it is loaded when the first file is opened. What callers must hold to:
// - Rows are read to the end (`readAll`). A half-read statement keeps its view of the file, and the next write of
//   the connection would fail.
// - No file that SQLite has open may be opened and closed by other means in this process: on POSIX systems that
//   drops the locks which SQLite holds on it.

import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type Libsql from 'libsql';
import { SennitError } from '../model/errors.ts';
import { diskFull, findWriteFailure, notWritable, readFreeSpace } from '../process/disk.ts';

export type SqliteValue = string | number | null;

/** The part of libsql that is used. */
export interface RawSqlite {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqliteValue[]): { readonly changes: number };
    all(...values: SqliteValue[]): unknown[];
  };
  close(): unknown;
}

const require = createRequire(import.meta.url);

/** Opens or creates the SQLite file. Throws what `sqliteFailure` understands. */
export function openSqlite(file: string): RawSqlite {
  const Database: typeof Libsql = require('libsql');
  return new Database(file);
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const CODE = {
  error: 1,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  notDatabase: 26,
} as const;

/** Extended code: the file was moved or deleted while in use. */
const READONLY_MOVED = 1032;

/** The result code of an error of libsql. Its opening errors carry the number in the text alone:
 *
 *     ConnectionFailed("Unable to open connection to local database /r/.git/sennit/ledger.db: 14")
 *     SqliteError: database is locked     (with rawCode 5)
 */
function findResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('rawCode' in error && typeof error.rawCode === 'number') return error.rawCode;
  const opening = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message);
  return opening === null ? undefined : Number(opening[1]);
}

export function isBusy(error: unknown): boolean {
  const code = (findResultCode(error) ?? 0) & 0xff;
  return code === CODE.busy || code === CODE.locked || code === CODE.protocol;
}

/** The error for what SQLite said about `file`. What is not SQLite's is given back as it is. */
export function sqliteFailure(error: unknown, file: string): unknown {
  const extended = findResultCode(error);
  if (extended === undefined || !(error instanceof Error)) return findWriteFailure(error, file) ?? error;
  if (isBusy(error)) {
    return new SennitError('repository_busy', `Another process keeps ${file} locked.`, {
      hint: 'Wait for the other sennit command on this repository to end, then run this one again.',
      cause: error,
    });
  }
  if (extended === READONLY_MOVED) return broken(file, 'it was moved or deleted while in use', error);
  switch (extended & 0xff) {
    case CODE.full:
      return diskFull(file, error);
    case CODE.readonly:
      return notWritable(file, error);
    case CODE.corrupt:
    case CODE.notDatabase:
      return broken(file, error.message, error);
    case CODE.cannotOpen:
    case CODE.ioError:
      return explainIoFailure(error, file);
    case CODE.error:
      // With the version that the file claims, every table and column is there.
      if (/no such (table|column)|has no column/.test(error.message))
        return broken(file, error.message, error);
  }
  return new SennitError('internal_bug', `The store ${file} refused: ${error.message}`, { cause: error });
}

/** SQLite says "cannot open" and "I/O error" for many reasons; the file system knows which. */
function explainIoFailure(error: Error, file: string): SennitError {
  const folder = dirname(file);
  try {
    const { bytes, inodes } = readFreeSpace(folder);
    if (bytes === 0 || inodes === 0) return diskFull(file, error);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return notWritable(folder, error);
  }
  return broken(file, error.message, error);
}

/** The error for a store that cannot be read. */
export function broken(file: string, what: string, cause?: unknown): SennitError {
  return new SennitError('ledger_broken', `Sennit's record ${file} is damaged: ${what}.`, {
    hint:
      'No work is lost: landings, snapshots and archives are in git (`git for-each-ref refs/sennit`). ' +
      `Move the file aside with those beside it (\`${file}-wal\`, \`${file}-shm\`) while no sennit runs; ` +
      'the next command starts a new one, which does not know earlier operations.',
    cause,
    paths: [file],
  });
}
