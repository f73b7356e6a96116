import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite, sqliteFailure } from './sqlite.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sennit-sqlite-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** What `sqliteFailure` makes of the error that `work` throws. */
function failureOf(work: () => unknown, file: string): unknown {
  try {
    work();
  } catch (error) {
    return sqliteFailure(error, file);
  }
  throw new Error('did not fail');
}

test('a full disk is told from a fault of the file', () => {
  const file = join(folder(), 'x.db');
  const db = openSqlite(file);
  db.exec('CREATE TABLE t (a)');
  db.exec('PRAGMA max_page_count = 3');
  const fill = (): void => {
    for (let i = 0; i < 10; i += 1) db.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(4000));
  };
  expect(failureOf(fill, file)).toMatchObject({ code: 'disk_full', retryable: true });
});

test('a file that is no database, a folder in its place and an unknown table mean a damaged record', () => {
  const dir = folder();
  writeFileSync(join(dir, 'text.db'), 'no database '.repeat(500));
  mkdirSync(join(dir, 'folder.db'));
  const faults: [string, (file: string) => unknown][] = [
    ['text.db', (file) => openSqlite(file).exec('SELECT * FROM sqlite_master')],
    ['folder.db', (file) => openSqlite(file)],
    ['empty.db', (file) => openSqlite(file).prepare('SELECT * FROM operations')],
  ];
  for (const [name, work] of faults) {
    const file = join(dir, name);
    expect(failureOf(() => work(file), file)).toMatchObject({
      code: 'ledger_broken',
      paths: [file],
      hint: expect.stringContaining('git for-each-ref refs/sennit'),
    });
  }
});

test('a file that another connection keeps locked is busy', () => {
  const file = join(folder(), 'x.db');
  const holder = openSqlite(file);
  holder.exec('BEGIN EXCLUSIVE');
  const other = openSqlite(file);
  expect(failureOf(() => other.exec('BEGIN IMMEDIATE'), file)).toMatchObject({ code: 'repository_busy' });
  holder.exec('ROLLBACK');
});

test('what SQLite refuses for our own fault is a bug, and other errors pass unchanged', () => {
  const file = join(folder(), 'x.db');
  const db = openSqlite(file);
  db.exec('CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)');
  expect(failureOf(() => db.prepare('INSERT INTO t VALUES (1)').run(), file)).toMatchObject({
    code: 'internal_bug',
  });
  const own = new TypeError('mine');
  expect(sqliteFailure(own, file)).toBe(own);
});
