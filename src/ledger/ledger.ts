// The ledger in `<common git dir>/sennit/ledger.db`: SQLite in WAL mode. An ordinary transaction survives `kill -9`
// of any process; one that is `durable` survives a power cut too. Events are only ever appended (triggers refuse
// the rest). What stays true: an operation and its events change in one transaction; its owner changes only by
// compare-and-swap; a ledger of a newer version is not touched. The file is opened at the first use.

import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { OperationId } from '../model/ids.ts';
import type {
  Ledger,
  LedgerEvent,
  LedgerReader,
  OperationRecord,
  ProcessMark,
  Verdict,
} from '../ports/ledger.ts';
import { type Connection, openConnection, type Row } from './connection.ts';
import { applyMigrations, requireKnownVersion } from './migrations.ts';
import { parseEvent, parseOperation, parseVerdict, RowError } from './rows.ts';
import { broken, type SqliteValue } from './sqlite.ts';
import { makeFile, makeFolder } from './state-folder.ts';

/** How long a transaction waits for those of other processes, which take milliseconds. */
const BUSY_MS = 5000;

/** Between tries of what SQLite refuses to wait for. */
const RETRY_MS = 10;

/** A copy that somebody always writes into is taken as it is; SQLite tells when it is not whole. */
const COPY_TRIES = 5;

/** At most so many faults are named. */
const DAMAGE_LIMIT = 20;

export interface LedgerOptions {
  readonly now?: () => Date;
  /** How long to wait for another process, in milliseconds. */
  readonly busyMs?: number;
}

/** The ledger in the folder `dir` (`<common git dir>/sennit`), which is made with it where absent. */
export function openLedger(dir: string, options: LedgerOptions = {}): Ledger {
  const busyMs = options.busyMs ?? BUSY_MS;
  const file = join(dir, 'ledger.db');
  return new SqliteLedger(file, options.now ?? (() => new Date()), () => {
    makeFolder(dir);
    makeFile(file);
    return connect(file, busyMs);
  });
}

/** The ledger in `dir` for reading; undefined, and nothing is made, where there is none. Reads it also where this
 * user may not write, or the disk is full. */
export function openLedgerIfPresent(dir: string, options: LedgerOptions = {}): LedgerReader | undefined {
  const busyMs = options.busyMs ?? BUSY_MS;
  const file = join(dir, 'ledger.db');
  if (!existsSync(file)) return undefined;
  return new SqliteLedger(file, options.now ?? (() => new Date()), () => {
    try {
      return connect(file, busyMs);
    } catch (error) {
      const codes = ['repository_readonly', 'disk_full'];
      if (!(error instanceof SennitError && codes.includes(error.code))) throw error;
      return connectToCopy(file, busyMs);
    }
  });
}

function configure(file: string, busyMs: number): Connection {
  const connection = openConnection(file, busyMs);
  try {
    requireKnownVersion(connection); // before anything that writes
    connection.readAll('PRAGMA journal_mode = WAL');
    connection.execute('PRAGMA synchronous = NORMAL');
    connection.execute('PRAGMA fullfsync = ON'); // macOS: a sync reaches the disk, not only the drive's cache
    connection.execute('PRAGMA foreign_keys = ON');
    connection.execute('PRAGMA trusted_schema = OFF'); // the file runs no code of its own
    applyMigrations(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens the file, also while another process is creating it: SQLite does not wait for a change of the journal
 * mode, so it is tried again. */
function connect(file: string, busyMs: number): Connection {
  const end = performance.now() + busyMs;
  for (;;) {
    try {
      return configure(file, busyMs);
    } catch (error) {
      const busy = error instanceof SennitError && error.code === 'repository_busy';
      if (!busy || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** WAL mode needs a writable folder even for reading: where it is not, a copy is read. */
function connectToCopy(file: string, busyMs: number): Connection {
  const folder = mkdtempSync(join(tmpdir(), 'sennit-ledger-'));
  try {
    const copy = join(folder, basename(file));
    copyWhole(file, copy);
    const connection = connect(copy, busyMs);
    // Everything is in the one open file from here on, and its name is not needed any more.
    connection.readAll('PRAGMA wal_checkpoint(TRUNCATE)');
    return connection;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the file and its write-ahead log as they are at one moment: again, where somebody wrote meanwhile. */
function copyWhole(file: string, copy: string): void {
  const parts = ['', '-wal'];
  const look = (): string =>
    parts
      .map((part) => statSync(file + part, { bigint: true, throwIfNoEntry: false }))
      .map((stat) => `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`)
      .join();
  for (let tries = 0; ; tries += 1) {
    const before = look();
    for (const part of parts) {
      rmSync(copy + part, { force: true });
      if (!existsSync(file + part)) continue;
      copyFileSync(file + part, copy + part);
      chmodSync(copy + part, 0o600); // a copy has the rights of the original
    }
    if (look() === before || tries === COPY_TRIES) return;
  }
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null) as string | undefined;
  if (text === undefined) throw new TypeError(`not JSON: a ${typeof value}`);
  return text;
}

class SqliteLedger implements Ledger {
  readonly #file: string;
  readonly #now: () => Date;
  readonly #connect: () => Connection;
  #opened: Connection | undefined;
  #closed = false;

  constructor(file: string, now: () => Date, connect: () => Connection) {
    this.#file = file;
    this.#now = now;
    this.#connect = connect;
  }

  get #connection(): Connection {
    if (this.#closed) throw new TypeError('the ledger has been closed');
    this.#opened ??= this.#connect();
    return this.#opened;
  }

  #parse<T>(rows: readonly Row[], parse: (row: Row) => T): T[] {
    try {
      return rows.map(parse);
    } catch (error) {
      throw error instanceof RowError ? broken(this.#file, error.message, error) : error;
    }
  }

  createOperation(op: Omit<OperationRecord, 'created' | 'updated' | 'state'>): void {
    const at = this.#now().toISOString();
    const data = toJson(op.data);
    this.#connection.transaction(() => {
      this.#connection.run(
        `INSERT INTO operations (id, kind, state, target, created, updated, owner_pid, owner_started, data)
         VALUES (?, ?, 'running', ?, ?, ?, ?, ?, ?)`,
        op.id,
        op.kind,
        op.target,
        at,
        at,
        op.owner.pid,
        op.owner.started,
        data,
      );
      this.#insertEvent(op.id, 'operation.started', { kind: op.kind, target: op.target }, at);
    });
  }

  #insertEvent(operation: OperationId | null, type: string, data: unknown, at: string): void {
    this.#connection.run(
      'INSERT INTO events (at, operation, type, data) VALUES (?, ?, ?, ?)',
      at,
      operation,
      type,
      toJson(data),
    );
  }

  findOperation(id: OperationId): OperationRecord | undefined {
    const rows = this.#connection.readAll('SELECT * FROM operations WHERE id = ?', id);
    return this.#parse(rows, parseOperation)[0];
  }

  listOperations(filter: Parameters<LedgerReader['listOperations']>[0] = {}): OperationRecord[] {
    const clauses: string[] = [];
    const values: SqliteValue[] = [];
    const oneOf = (column: string, words: readonly string[] | undefined): void => {
      if (words === undefined) return;
      clauses.push(`${column} IN (${words.map(() => '?').join(', ')})`);
      values.push(...words);
    };
    oneOf('state', filter.states);
    oneOf('kind', filter.kinds);
    oneOf('target', filter.target === undefined ? undefined : [filter.target]);
    const where = clauses.length === 0 ? '' : `WHERE ${clauses.join(' AND ')}`;
    const rows = this.#connection.readAll(
      `SELECT * FROM operations ${where} ORDER BY number DESC LIMIT ?`,
      ...values,
      filter.limit ?? -1,
    );
    return this.#parse(rows, parseOperation);
  }

  append(event: Parameters<Ledger['append']>[0], change: Parameters<Ledger['append']>[1] = {}): void {
    const { operation } = event;
    const at = this.#now().toISOString();
    if (operation === null && (change.state ?? change.data ?? change.owner) !== undefined) {
      throw new TypeError('a change needs an operation');
    }
    this.#connection.transaction(
      () => {
        if (operation !== null && !this.#updateOperation(operation, at, change)) {
          throw new SennitError('operation_unknown', `The ledger knows no operation ${operation}.`);
        }
        this.#insertEvent(operation, event.type, event.data, at);
      },
      { durable: change.durable === true },
    );
  }

  #updateOperation(
    id: OperationId,
    at: string,
    change: NonNullable<Parameters<Ledger['append']>[1]>,
  ): boolean {
    const columns = ['updated = ?'];
    const values: SqliteValue[] = [at];
    if (change.state !== undefined) {
      columns.push('state = ?');
      values.push(change.state);
    }
    if (change.data !== undefined) {
      columns.push('data = ?');
      values.push(toJson(change.data));
    }
    if (change.owner !== undefined) {
      columns.push('owner_pid = ?', 'owner_started = ?');
      values.push(change.owner.pid, change.owner.started);
    }
    const sql = `UPDATE operations SET ${columns.join(', ')} WHERE id = ?`;
    return this.#connection.run(sql, ...values, id) === 1;
  }

  claimOperation(id: OperationId, from: ProcessMark, to: ProcessMark): boolean {
    const at = this.#now().toISOString();
    return this.#connection.transaction(
      () => {
        const claimed = this.#connection.run(
          `UPDATE operations SET owner_pid = ?, owner_started = ?, updated = ?
           WHERE id = ? AND owner_pid = ? AND owner_started = ? AND state IN ('running', 'pending')`,
          to.pid,
          to.started,
          at,
          id,
          from.pid,
          from.started,
        );
        if (claimed === 1) this.#insertEvent(id, 'operation.claimed', { from, to }, at);
        return claimed === 1;
      },
      { durable: true },
    );
  }

  listEvents(operation: OperationId): LedgerEvent[] {
    const rows = this.#connection.readAll('SELECT * FROM events WHERE operation = ? ORDER BY seq', operation);
    return this.#parse(rows, parseEvent);
  }

  findVerdict(tree: string, command: string): Verdict | undefined {
    const rows = this.#connection.readAll(
      'SELECT * FROM verdicts WHERE tree = ? AND command = ?',
      tree,
      command,
    );
    return this.#parse(rows, parseVerdict)[0];
  }

  saveVerdict({ tree, command, ok, ms }: Omit<Verdict, 'at'>): void {
    const at = this.#now().toISOString();
    this.#connection.transaction(() => {
      this.#connection.run(
        'INSERT OR REPLACE INTO verdicts (tree, command, ok, ms, at) VALUES (?, ?, ?, ?, ?)',
        tree,
        command,
        ok ? 1 : 0,
        ms,
        at,
      );
    });
  }

  findDamage(): string[] {
    try {
      return this.#connection
        .readAll(`PRAGMA quick_check(${DAMAGE_LIMIT})`)
        .map((row) => String(row['quick_check']))
        .filter((fault) => fault !== 'ok');
    } catch (error) {
      if (error instanceof SennitError && error.code === 'ledger_broken') return [error.message];
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#opened?.close();
    this.#opened = undefined;
  }
}
