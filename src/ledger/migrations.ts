import { SennitError } from '../model/errors.ts';
import type { Connection } from './connection.ts';

/** The ledger's shape, as the steps to it. A ledger of version n has had the first n steps. A step that has been
 * released is never changed: a new shape is a new step at the end. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE operations (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    kind          TEXT NOT NULL,
    state         TEXT NOT NULL,
    target        TEXT,
    created       TEXT NOT NULL,
    updated       TEXT NOT NULL,
    owner_pid     INTEGER NOT NULL,
    owner_started TEXT NOT NULL,
    data          TEXT NOT NULL CHECK (json_valid(data))
  ) STRICT;
  CREATE INDEX operations_by_state ON operations (state);

  CREATE TABLE events (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        TEXT NOT NULL,
    operation TEXT REFERENCES operations (id),
    type      TEXT NOT NULL,
    data      TEXT NOT NULL CHECK (json_valid(data))
  ) STRICT;
  CREATE INDEX events_by_operation ON events (operation, seq);
  CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
  CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
  CREATE TRIGGER events_refuse_replace BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END;

  CREATE TABLE verdicts (
    tree    TEXT NOT NULL,
    command TEXT NOT NULL,
    ok      INTEGER NOT NULL,
    ms      REAL NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (tree, command)
  ) STRICT, WITHOUT ROWID;
  `,
];

function readVersion(connection: Connection): number {
  const version = connection.findRow('PRAGMA user_version')?.['user_version'];
  return typeof version === 'number' ? version : 0;
}

/** The version of the ledger; throws `ledger_newer` when these `migrations` do not know it. */
export function requireKnownVersion(connection: Connection, migrations = MIGRATIONS): number {
  const version = readVersion(connection);
  if (version <= migrations.length) return version;
  throw new SennitError(
    'ledger_newer',
    `The ledger ${connection.file} was written by a newer Sennit (version ${version}; this one knows ${migrations.length}).`,
    {
      hint: 'Use the newer sennit in this repository: `npm install --global sennit@latest`. Nothing was changed.',
      paths: [connection.file],
    },
  );
}

/** Brings the ledger to the newest version in one transaction. Processes that do so at the same time wait for each
 * other, and the later finds nothing to do. */
export function applyMigrations(connection: Connection, migrations = MIGRATIONS): void {
  if (requireKnownVersion(connection, migrations) === migrations.length) return;
  connection.transaction(
    () => {
      const version = requireKnownVersion(connection, migrations);
      for (const step of migrations.slice(version)) connection.execute(step);
      connection.execute(`PRAGMA user_version = ${migrations.length}`);
    },
    { durable: true },
  );
}
