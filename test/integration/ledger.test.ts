import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLedger, openLedgerIfPresent } from '../../src/ledger/ledger.ts';
import { openSqlite } from '../../src/ledger/sqlite.ts';
import { type SealedPlace, sealedPlace } from '../support/sealed.ts';
import { DROP_RIGHTS, source, startSource } from '../support/source-process.ts';

const ID = '20261130-142501-aaaa';

/** Lines that open the ledger of `place` in a child. */
function opening(place: SealedPlace): string {
  return `
    import { openLedger } from ${source('ledger/ledger.ts')};
    const ledger = openLedger(${JSON.stringify(join(place.root, 'sennit'))});
    const operation = ${JSON.stringify(ID)};
    const owner = { pid: process.pid, started: 'x' };
  `;
}

/** A ledger with one operation, closed again. */
function madeLedger(place: SealedPlace): string {
  const dir = join(place.root, 'sennit');
  const ledger = openLedger(dir);
  ledger.createOperation({
    id: ID as never,
    kind: 'land',
    target: 'refs/heads/main',
    owner: { pid: 1, started: 's' },
    data: {},
  });
  ledger.close();
  return dir;
}

describe('the ledger between processes', () => {
  test('two processes that append 200 events each at the same time lose none', async () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const script = (who: string): string => `${opening(place)}
      for (let i = 0; i < 200; i += 1) {
        ledger.append({ operation, type: 'test.${who}', data: { i } }, i % 50 === 0 ? { durable: true } : {});
      }
      console.log('done');`;
    const both = [startSource(script('one'), place), startSource(script('two'), place)];
    for (const one of both) {
      await one.said('done');
      expect(await one.ended()).toBe(0);
    }
    const ledger = openLedger(dir);
    const events = ledger.listEvents(ID as never);
    for (const who of ['one', 'two']) {
      const own = events.filter(({ type }) => type === `test.${who}`).map(({ data }) => data);
      expect(own).toEqual(Array.from({ length: 200 }, (_, i) => ({ i })));
    }
    expect(ledger.findDamage()).toEqual([]);
    ledger.close();
  });

  test('processes that create the ledger at the same moment all get the same one', async () => {
    const place = sealedPlace();
    const starting = Array.from({ length: 6 }, (_, i) =>
      startSource(
        `${opening(place)}
        ledger.createOperation({ id: '20261130-14250${i}-aaaa', kind: 'land', target: null, owner, data: null });`,
        place,
      ),
    );
    for (const one of starting) expect(await one.ended(), one.output()).toBe(0);
    const ledger = openLedger(join(place.root, 'sennit'));
    expect(ledger.listOperations()).toHaveLength(6);
    ledger.close();
  });

  test('what a process appended before kill -9 is there, and the file is sound', async () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const child = startSource(
      `${opening(place)}
      ledger.append({ operation, type: 'test.before' }, { durable: true });
      for (let i = 0; ; i += 1) {
        ledger.append({ operation, type: 'test.loop', data: i });
        if (i === 20) console.log('looping');
      }`,
      place,
    );
    await child.said('looping');
    await child.kill();
    const ledger = openLedger(dir);
    const events = ledger.listEvents(ID as never);
    expect(events.map(({ type }) => type).slice(0, 3)).toEqual([
      'operation.started',
      'test.before',
      'test.loop',
    ]);
    const loop = events.filter(({ type }) => type === 'test.loop').map(({ data }) => data);
    expect(loop.length).toBeGreaterThan(20);
    expect(loop).toEqual(loop.map((_, i) => i));
    expect(ledger.findDamage()).toEqual([]);
    ledger.close();
  });

  test('of five processes that claim the operation of a dead one, exactly one gets it', async () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const claiming = Array.from({ length: 5 }, () =>
      startSource(
        `${opening(place)}
        console.log('claimed', ledger.claimOperation(operation, { pid: 1, started: 's' }, owner));`,
        place,
      ),
    );
    for (const one of claiming) expect(await one.ended(), one.output()).toBe(0);
    const winners = claiming.filter((one) => one.output().includes('claimed true'));
    expect(winners).toHaveLength(1);
    const ledger = openLedger(dir);
    expect(ledger.findOperation(ID as never)?.owner).toEqual({ pid: winners[0]?.pid, started: 'x' });
    expect(ledger.listEvents(ID as never).filter(({ type }) => type === 'operation.claimed')).toHaveLength(1);
    ledger.close();
  });

  test('a ledger that stays locked is "busy, try again", not a failure', async () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const holder = startSource(
      `import { openSqlite } from ${source('ledger/sqlite.ts')};
      const db = openSqlite(${JSON.stringify(join(dir, 'ledger.db'))});
      db.exec('BEGIN IMMEDIATE');
      console.log('held');
      setInterval(() => {}, 1000);`,
      place,
    );
    await holder.said('held');
    const ledger = openLedger(dir, { busyMs: 50 });
    const append = (): void => ledger.append({ operation: ID as never, type: 'test.happened' });
    expect(append).toThrow(expect.objectContaining({ code: 'repository_busy', retryable: true }));
    expect(ledger.findOperation(ID as never)?.state).toBe('running');
    await holder.kill();
    append();
    ledger.close();
  });
});

describe('the ledger where it cannot be written', () => {
  /** Opens a place to every user, so that a child without root's rights can get in. */
  function openUp(place: SealedPlace): void {
    chmodSync(place.root, 0o755);
  }

  test.each([
    ['after a crash, with all files of SQLite', [], 'operation.started,test.late'],
    ['after a crash, without its index', ['ledger.db-shm'], 'operation.started,test.late'],
    ['after a clean end', ['ledger.db-shm', 'ledger.db-wal'], 'operation.started'],
  ])('a read-only folder is still read: %s', async (_, removed, events) => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const settle = openSqlite(join(dir, 'ledger.db'));
    settle.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    settle.close();
    const child = startSource(
      `${opening(place)}
      ledger.append({ operation, type: 'test.late' });
      process.kill(process.pid, 'SIGKILL');`,
      place,
    );
    expect(await child.ended()).toBe('SIGKILL');
    expect(statSync(join(dir, 'ledger.db-wal')).size).toBeGreaterThan(0);
    for (const name of removed) rmSync(join(dir, name));
    const before = readdirSync(dir);
    openUp(place);
    chmodSync(join(place.root, 'tmp'), 0o777);
    for (const name of before) chmodSync(join(dir, name), 0o444);
    chmodSync(dir, 0o555);
    const reader = startSource(
      `import { openLedgerIfPresent } from ${source('ledger/ledger.ts')};
      import { openSqlite } from ${source('ledger/sqlite.ts')};
      openSqlite(':memory:');
      ${DROP_RIGHTS}
      const ledger = openLedgerIfPresent(${JSON.stringify(dir)});
      console.log(ledger.listEvents(${JSON.stringify(ID)}).map((event) => event.type).join());
      console.log(ledger.findOperation(${JSON.stringify(ID)}).state, ledger.findDamage());`,
      place,
    );
    expect(await reader.ended(), reader.output()).toBe(0);
    expect(reader.output()).toBe(`${events}\nrunning []\n`);
    chmodSync(dir, 0o755);
    expect(readdirSync(dir)).toEqual(before);
    expect(readdirSync(join(place.root, 'tmp'))).toEqual([]);
  });

  test('writing there is refused with the place that cannot be written', async () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    openUp(place);
    for (const folder of [dir, join(place.root, 'absent', 'sennit')]) {
      mkdirSync(join(place.root, 'absent'), { recursive: true });
      const writer = startSource(
        `import { openLedger } from ${source('ledger/ledger.ts')};
        import { openSqlite } from ${source('ledger/sqlite.ts')};
        openSqlite(':memory:');
        ${DROP_RIGHTS}
        try {
          openLedger(${JSON.stringify(folder)}).append({ operation: null, type: 'test.happened' });
        } catch (error) {
          console.log(error.code, error.message);
        }`,
        place,
      );
      expect(await writer.ended(), writer.output()).toBe(0);
      expect(writer.output()).toMatch(/^repository_readonly /);
      expect(writer.output()).toContain(folder);
    }
  });

  test('in a repository that several users write to, the ledger is as open as the git dir', () => {
    const place = sealedPlace();
    const common = join(place.root, 'common');
    mkdirSync(common);
    chmodSync(common, 0o2775);
    const dir = join(common, 'sennit');
    const ledger = openLedger(dir);
    ledger.append({ operation: null, type: 'test.happened' });
    expect(statSync(dir).mode & 0o7777).toBe(0o2775);
    for (const name of readdirSync(dir))
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o664]);
    ledger.close();
  });
});

describe('a ledger that is absent or damaged', () => {
  test('reading creates nothing where there is no ledger', () => {
    const place = sealedPlace();
    expect(openLedgerIfPresent(join(place.root, 'sennit'))).toBeUndefined();
    expect(existsSync(join(place.root, 'sennit'))).toBe(false);
  });

  test('a file that is no ledger is named, and the user told that git still holds the work', () => {
    const place = sealedPlace();
    const dir = join(place.root, 'sennit');
    mkdirSync(dir);
    writeFileSync(join(dir, 'ledger.db'), 'not a database\n'.repeat(500));
    const ledger = openLedgerIfPresent(dir);
    let caught: unknown;
    try {
      ledger?.listOperations();
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code: 'ledger_broken', paths: [join(dir, 'ledger.db')] });
    expect(caught).toHaveProperty(
      'hint',
      expect.stringMatching(/No work is lost.*git for-each-ref refs\/sennit/),
    );
  });

  test('damaged pages are found, and are no bug of Sennit', () => {
    const place = sealedPlace();
    const dir = madeLedger(place);
    const filling = openLedger(dir);
    for (let i = 0; i < 50; i += 1) {
      filling.append({ operation: ID as never, type: 'test.filled', data: 'x'.repeat(4000) });
    }
    filling.close();
    const raw = openSqlite(join(dir, 'ledger.db'));
    raw.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    raw.close();
    const fd = openSync(join(dir, 'ledger.db'), 'r+');
    writeSync(fd, Buffer.alloc(40 * 4096, 0x5a), 0, 40 * 4096, 15 * 4096);
    closeSync(fd);
    const ledger = openLedger(dir);
    expect(ledger.findDamage().join('\n')).toMatch(/\S/);
    expect(() => ledger.listEvents(ID as never)).toThrow(expect.objectContaining({ code: 'ledger_broken' }));
    ledger.close();
  });
});
