import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OperationId } from '../model/ids.ts';
import type { Ledger } from '../ports/ledger.ts';
import { openLedger, openLedgerIfPresent } from './ledger.ts';
import { openSqlite } from './sqlite.ts';

const FIRST = '20261130-142501-aaaa' as OperationId;
const SECOND = '20261130-142502-bbbb' as OperationId;
const OWNER = { pid: 100, started: 'boot/1/7' };
const OTHER = { pid: 200, started: 'boot/1/8' };

/** A ledger whose clock moves on by a second with each look, and the file that it is in. */
function opened(): { ledger: Ledger; dir: string; file: string } {
  const root = mkdtempSync(join(tmpdir(), 'sennit-ledger-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const dir = join(root, 'sennit');
  let second = 0;
  const now = (): Date => {
    second += 1;
    return new Date(Date.UTC(2026, 10, 30, 0, 0, second));
  };
  return { ledger: openLedger(dir, { now }), dir, file: join(dir, 'ledger.db') };
}

function start(ledger: Ledger, id = FIRST, data: unknown = { step: 1 }): void {
  ledger.createOperation({ id, kind: 'land', target: 'refs/heads/main', owner: OWNER, data });
}

describe('operations', () => {
  test('a new operation is running and has its event', () => {
    const { ledger } = opened();
    start(ledger);
    expect(ledger.findOperation(FIRST)).toEqual({
      id: FIRST,
      kind: 'land',
      state: 'running',
      target: 'refs/heads/main',
      created: '2026-11-30T00:00:01.000Z',
      updated: '2026-11-30T00:00:01.000Z',
      owner: OWNER,
      data: { step: 1 },
    });
    expect(ledger.listEvents(FIRST)).toEqual([
      {
        seq: 1,
        at: '2026-11-30T00:00:01.000Z',
        operation: FIRST,
        type: 'operation.started',
        data: { kind: 'land', target: 'refs/heads/main' },
      },
    ]);
    expect(ledger.findOperation(SECOND)).toBeUndefined();
  });

  test('an event changes the operation in the same transaction, and only what is named', () => {
    const { ledger } = opened();
    start(ledger);
    ledger.append({ operation: FIRST, type: 'tree.merged', data: [1] }, { data: { step: 2 }, durable: true });
    ledger.append({ operation: FIRST, type: 'landing.done' }, { state: 'done', owner: OTHER });
    expect(ledger.findOperation(FIRST)).toMatchObject({
      state: 'done',
      data: { step: 2 },
      owner: OTHER,
      created: '2026-11-30T00:00:01.000Z',
      updated: '2026-11-30T00:00:03.000Z',
    });
    expect(ledger.listEvents(FIRST).map(({ type, data }) => [type, data])).toEqual([
      ['operation.started', { kind: 'land', target: 'refs/heads/main' }],
      ['tree.merged', [1]],
      ['landing.done', null],
    ]);
  });

  test('an event of an unknown operation is refused and leaves nothing', () => {
    const { ledger } = opened();
    const append = (): void => ledger.append({ operation: SECOND, type: 'tree.merged' }, { state: 'done' });
    expect(append).toThrow(expect.objectContaining({ code: 'operation_unknown' }));
    expect(ledger.listEvents(SECOND)).toEqual([]);
  });

  test('data of any text comes back as it was', () => {
    const { ledger } = opened();
    const data = {
      path: 'caf\u00e9\u00ff\u0000\n"\\',
      lone: '\ud800',
      nested: [null, true, 1.5],
      none: null,
    };
    start(ledger, FIRST, data);
    expect(ledger.findOperation(FIRST)?.data).toEqual(data);
    expect(() => ledger.append({ operation: FIRST, type: 'x.y', data: () => 1 })).toThrow(TypeError);
  });

  test('the list is newest first and filtered', () => {
    const { ledger } = opened();
    start(ledger, SECOND); // made first, though its id sorts later
    start(ledger, FIRST);
    ledger.append({ operation: SECOND, type: 'operation.failed' }, { state: 'failed' });
    const ids = (filter?: Parameters<Ledger['listOperations']>[0]): string[] =>
      ledger.listOperations(filter).map(({ id }) => id);
    expect(ids()).toEqual([FIRST, SECOND]);
    expect(ids({ limit: 1 })).toEqual([FIRST]);
    expect(ids({ states: ['failed', 'done'] })).toEqual([SECOND]);
    expect(ids({ kinds: ['gc'] })).toEqual([]);
    expect(ids({ kinds: ['land'], target: 'refs/heads/main', states: ['running'] })).toEqual([FIRST]);
    expect(ids({ states: [] })).toEqual([]);
  });
});

describe('claiming', () => {
  test('only from the owner that was seen: the second of two recoverers gets nothing', () => {
    const { ledger } = opened();
    start(ledger);
    expect(ledger.claimOperation(FIRST, OWNER, OTHER)).toBe(true);
    expect(ledger.claimOperation(FIRST, OWNER, { pid: 300, started: 'x' })).toBe(false);
    expect(ledger.findOperation(FIRST)?.owner).toEqual(OTHER);
    expect(ledger.listEvents(FIRST).map(({ type }) => type)).toEqual([
      'operation.started',
      'operation.claimed',
    ]);
  });

  test('the same pid with another start time is another owner', () => {
    const { ledger } = opened();
    start(ledger);
    expect(ledger.claimOperation(FIRST, { ...OWNER, started: 'boot/1/9' }, OTHER)).toBe(false);
  });

  test('an operation that came to its end is not taken up again', () => {
    const { ledger } = opened();
    start(ledger);
    ledger.append({ operation: FIRST, type: 'landing.done' }, { state: 'done' });
    expect(ledger.claimOperation(FIRST, OWNER, OTHER)).toBe(false);
    ledger.append({ operation: FIRST, type: 'landing.paused' }, { state: 'pending' });
    expect(ledger.claimOperation(FIRST, OWNER, OTHER)).toBe(true);
  });
});

describe('the file', () => {
  test('events cannot be changed, deleted or replaced, whoever tries', () => {
    const { ledger, file } = opened();
    start(ledger);
    const raw = openSqlite(file);
    for (const sql of [
      "UPDATE events SET type = 'x'",
      'DELETE FROM events',
      "INSERT OR REPLACE INTO events (seq, at, operation, type, data) VALUES (1, 'x', NULL, 'x', 'null')",
    ]) {
      expect(() => raw.exec(sql), sql).toThrow(/never/);
    }
    raw.close();
    expect(ledger.listEvents(FIRST).map(({ type }) => type)).toEqual(['operation.started']);
  });

  test('is made at the first use and not before', () => {
    const { ledger, dir, file } = opened();
    expect(existsSync(dir)).toBe(false);
    expect(openLedgerIfPresent(dir)).toBeUndefined();
    ledger.append({ operation: null, type: 'test.happened' });
    expect(existsSync(file)).toBe(true);
    expect(openLedgerIfPresent(dir)?.listOperations()).toEqual([]);
  });

  test('survives being closed, and a closed one is not reopened by accident', () => {
    const { ledger, dir } = opened();
    start(ledger);
    ledger.close();
    ledger.close();
    expect(() => ledger.findOperation(FIRST)).toThrow(TypeError);
    const again = openLedgerIfPresent(dir);
    expect(again?.findOperation(FIRST)?.id).toBe(FIRST);
    expect(again?.findDamage()).toEqual([]);
  });

  test('is not made where the repository is gone', () => {
    const { dir } = opened();
    const ledger = openLedger(join(dir, 'gone', 'sennit'));
    expect(() => ledger.listOperations()).toThrow(expect.objectContaining({ code: 'repository_missing' }));
  });

  test('a value that no Sennit writes is a damaged record, not a wrong answer', () => {
    const { ledger, file } = opened();
    start(ledger);
    const raw = openSqlite(file);
    raw.exec("UPDATE operations SET state = 'sideways'");
    raw.close();
    expect(() => ledger.findOperation(FIRST)).toThrow(
      expect.objectContaining({ code: 'ledger_broken', message: expect.stringContaining('sideways') }),
    );
  });
});

test('a verdict holds for one tree and one command, and the newest counts', () => {
  const { ledger } = opened();
  ledger.saveVerdict({ tree: 'a'.repeat(40), command: 'npm test', ok: false, ms: 12.5 });
  ledger.saveVerdict({ tree: 'a'.repeat(40), command: 'npm test', ok: true, ms: 10 });
  expect(ledger.findVerdict('a'.repeat(40), 'npm test')).toEqual({
    tree: 'a'.repeat(40),
    command: 'npm test',
    ok: true,
    ms: 10,
    at: '2026-11-30T00:00:02.000Z',
  });
  expect(ledger.findVerdict('a'.repeat(40), 'npm  test')).toBeUndefined();
  expect(ledger.findVerdict('b'.repeat(40), 'npm test')).toBeUndefined();
});
