import { expect, test } from 'vitest';
import { Connection } from './connection.ts';
import type { RawSqlite } from './sqlite.ts';

/** A connection that notes what it is told and fails at the statement `failAt`. */
function noting(failAt?: string): { said: string[]; connection: Connection } {
  const said: string[] = [];
  const raw: RawSqlite = {
    exec: (sql) => {
      said.push(sql);
      if (sql === failAt) throw Object.assign(new Error('no'), { code: 'SQLITE_FULL', rawCode: 13 });
    },
    prepare: () => ({ run: () => ({ changes: 0 }), all: () => [] }),
    close: () => undefined,
  };
  return { said, connection: new Connection('/nowhere/ledger.db', raw) };
}

const FULL = 'PRAGMA synchronous = FULL';
const NORMAL = 'PRAGMA synchronous = NORMAL';

test('a durable transaction is synced to the disk, and only that one pays for it', () => {
  const { said, connection } = noting();
  connection.transaction(() => undefined, { durable: true });
  expect(said).toEqual([FULL, 'BEGIN IMMEDIATE', 'COMMIT', NORMAL]);
  said.length = 0;
  connection.transaction(() => undefined);
  expect(said).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

test('a failed commit leaves no transaction open and the next one works', () => {
  const { said, connection } = noting('COMMIT');
  expect(() => connection.transaction(() => undefined, { durable: true })).toThrow(
    expect.objectContaining({ code: 'disk_full' }),
  );
  expect(said).toEqual([FULL, 'BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK', NORMAL]);
  expect(() => connection.transaction(() => undefined)).toThrow(
    expect.objectContaining({ code: 'disk_full' }),
  );
});

test('an error inside rolls back, and nothing is rolled back that was not begun', () => {
  const inside = noting();
  expect(() =>
    inside.connection.transaction(() => {
      throw new Error('mine');
    }),
  ).toThrow('mine');
  expect(inside.said).toEqual(['BEGIN IMMEDIATE', 'ROLLBACK']);
  const refused = noting('BEGIN IMMEDIATE');
  expect(() => refused.connection.transaction(() => undefined)).toThrow();
  expect(refused.said).toEqual(['BEGIN IMMEDIATE']);
});

test('a transaction inside a transaction is refused and ends neither half-way', () => {
  const { said, connection } = noting();
  expect(() => connection.transaction(() => connection.transaction(() => undefined))).toThrow(TypeError);
  expect(said).toEqual(['BEGIN IMMEDIATE', 'ROLLBACK']);
});
