// Locks between processes: for each name one empty SQLite file in `<common git dir>/sennit/locks/`, on which the
// holder keeps a write transaction open on a connection of its own. The kernel ends that with the process, so there
// is no stale lock, no age to judge and no heartbeat. Children do not inherit it. What stays true: nothing is ever
// written to the files, and none is deleted that may be asked for again (two processes could then hold "the" lock);
// beside a file stands a note on who holds it, which serves the message alone.

import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SennitError } from '../model/errors.ts';
import { slugOf } from '../model/ids.ts';
import type { HeldLock, Locks } from '../ports/ledger.ts';
import { isBusy, openSqlite, type RawSqlite, sqliteFailure } from './sqlite.ts';
import { makeFile, makeFolder } from './state-folder.ts';

/** Between two tries; a random part keeps waiting processes from trying in step. */
const POLL_MS = { least: 5, most: 25 };

const NAME_LENGTH = 40;

/** The locks of the repository whose state is in the folder `dir` (`<common git dir>/sennit`). */
export function openLocks(dir: string): Locks {
  return {
    acquire: async (name, waitMs) => {
      const end = performance.now() + waitMs;
      const file = lockFile(dir, name);
      makeFolder(dir);
      makeFolder(join(dir, 'locks'));
      makeFile(file);
      const connection = open(file);
      try {
        while (!tryLock(connection, file)) {
          const left = end - performance.now();
          if (left <= 0) throw busy(name, file);
          const pause = POLL_MS.least + Math.random() * (POLL_MS.most - POLL_MS.least);
          await sleep(Math.min(pause, Math.max(1, left)));
        }
      } catch (error) {
        connection.close();
        throw error;
      }
      return hold(connection, file);
    },
    retire: (name) => {
      const file = lockFile(dir, name);
      for (const path of [file, noteOf(file)]) rmSync(path, { force: true });
    },
  };
}

function lockFile(dir: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return join(dir, 'locks', `${slugOf(name).slice(0, NAME_LENGTH)}-${hash}.db`);
}

function open(file: string): RawSqlite {
  try {
    return openSqlite(file);
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}

/** True when this connection now holds the lock. Does not wait. */
function tryLock(connection: RawSqlite, file: string): boolean {
  try {
    connection.exec('PRAGMA busy_timeout = 0');
    connection.exec('PRAGMA journal_mode = MEMORY'); // no journal file for a transaction that writes nothing
    connection.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw sqliteFailure(error, file);
  }
}

function hold(connection: RawSqlite, file: string): HeldLock {
  let held = true;
  try {
    writeFileSync(noteOf(file), `${process.pid}\n`);
  } catch {
    // the lock holds without it
  }
  return {
    release: () => {
      if (!held) return;
      held = false;
      try {
        rmSync(noteOf(file), { force: true });
      } finally {
        connection.exec('ROLLBACK');
        connection.close();
      }
    },
  };
}

function noteOf(file: string): string {
  return `${file}.holder`;
}

function busy(name: string, file: string): SennitError {
  let holder = 'Another sennit process';
  try {
    const pid = readFileSync(noteOf(file), 'utf8').trim();
    if (/^\d+$/.test(pid)) holder += ` (pid ${pid})`;
  } catch {
    // it has just released the lock, or could not leave its note
  }
  return new SennitError('repository_busy', `${holder} is at work in this repository (lock "${name}").`, {
    hint: 'Wait for it to end, then run this command again. The lock ends with the process that holds it.',
  });
}
