import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, openConnection } from './connection.ts';
import { applyMigrations, MIGRATIONS } from './migrations.ts';

function emptyFile(): Connection {
  const dir = mkdtempSync(join(tmpdir(), 'sennit-migrations-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return openConnection(join(dir, 'ledger.db'), 0);
}

function tables(connection: Connection): unknown[] {
  return connection
    .readAll("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .map((row) => row['name']);
}

function version(connection: Connection): unknown {
  return connection.findRow('PRAGMA user_version')?.['user_version'];
}

test('an empty file gets the newest shape, and a second time changes nothing', () => {
  const connection = emptyFile();
  applyMigrations(connection);
  expect(tables(connection)).toEqual(['events', 'operations', 'verdicts']);
  expect(version(connection)).toBe(MIGRATIONS.length);
  applyMigrations(connection);
  expect(version(connection)).toBe(MIGRATIONS.length);
});

test('an older ledger gets only the steps that it lacks and keeps what it holds', () => {
  const connection = emptyFile();
  const first = ['CREATE TABLE one (a); INSERT INTO one VALUES (1)'];
  applyMigrations(connection, first);
  applyMigrations(connection, [...first, 'CREATE TABLE two (a)']);
  expect(tables(connection)).toEqual(['one', 'two']);
  expect(connection.readAll('SELECT a FROM one')).toHaveLength(1);
  expect(version(connection)).toBe(2);
});

test('a step that fails leaves the ledger as it was', () => {
  const connection = emptyFile();
  const first = ['CREATE TABLE one (a)'];
  applyMigrations(connection, first);
  expect(() => applyMigrations(connection, [...first, 'CREATE TABLE two (a)', 'CREATE nonsense'])).toThrow();
  expect(tables(connection)).toEqual(['one']);
  expect(version(connection)).toBe(1);
});

test('a ledger of a newer version is refused and not touched', () => {
  const connection = emptyFile();
  applyMigrations(connection);
  connection.execute(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  expect(() => applyMigrations(connection)).toThrow(
    expect.objectContaining({ code: 'ledger_newer', paths: [connection.file] }),
  );
  expect(version(connection)).toBe(MIGRATIONS.length + 1);
});
