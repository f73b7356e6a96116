// One connection to a SQLite file: transactions, rows to the end, failures as SennitError. A write transaction
// takes the write lock at its start (BEGIN IMMEDIATE), so that what it has read cannot change under it, and waits
// for the lock as long as `waitMs` says. What stays true: after a failure no transaction is open; a `durable`
// transaction is on the disk, with all before it, when `transaction` returns.

import { openSqlite, type RawSqlite, type SqliteValue, sqliteFailure } from './sqlite.ts';

/** A row as SQLite gives it; the columns are read with the functions of rows.ts. */
export type Row = Readonly<Record<string, unknown>>;

export class Connection {
  readonly file: string;
  readonly #raw: RawSqlite;
  #inTransaction = false;

  constructor(file: string, raw: RawSqlite) {
    this.file = file;
    this.#raw = raw;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, this.file);
    }
  }

  /** Runs statements that give no rows. */
  execute(sql: string): void {
    this.#guard(() => this.#raw.exec(sql));
  }

  /** Runs one statement; the number of rows that it changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return this.#guard(() => this.#raw.prepare(sql).run(...values).changes);
  }

  readAll(sql: string, ...values: SqliteValue[]): Row[] {
    return this.#guard(() => this.#raw.prepare(sql).all(...values)) as Row[];
  }

  /** The first row, for queries that give one at most. */
  findRow(sql: string, ...values: SqliteValue[]): Row | undefined {
    return this.readAll(sql, ...values)[0];
  }

  /** Runs `work` in one write transaction: all of it happens, or nothing. Not to be nested. */
  transaction<T>(work: () => T, options: { readonly durable?: boolean } = {}): T {
    if (this.#inTransaction) throw new TypeError('a transaction is already open');
    const durable = options.durable === true;
    // The setting cannot be changed inside a transaction, and holds for the write-ahead log as a whole.
    if (durable) this.execute('PRAGMA synchronous = FULL');
    try {
      this.execute('BEGIN IMMEDIATE');
      this.#inTransaction = true;
      const result = work();
      this.execute('COMMIT');
      return result;
    } catch (error) {
      if (this.#inTransaction) this.#rollBack();
      throw error;
    } finally {
      this.#inTransaction = false;
      if (durable) this.execute('PRAGMA synchronous = NORMAL');
    }
  }

  #rollBack(): void {
    try {
      this.#raw.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full
    }
  }

  close(): void {
    this.#raw.close();
  }
}

/** Opens `file`, which is created where absent, and waits for locks up to `waitMs`. */
export function openConnection(file: string, waitMs: number): Connection {
  try {
    const connection = new Connection(file, openSqlite(file));
    connection.execute(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(waitMs))}`);
    return connection;
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}
