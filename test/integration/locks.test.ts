import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openLocks } from '../../src/ledger/locks.ts';
import { type SealedPlace, sealedPlace } from '../support/sealed.ts';
import { DROP_RIGHTS, source, startSource } from '../support/source-process.ts';

const BUSY = expect.objectContaining({ code: 'repository_busy', retryable: true });

function stateDir(place: SealedPlace): string {
  return join(place.root, 'sennit');
}

/** Lines that hold the lock `name` in a child and say so. */
function holding(place: SealedPlace, name: string, then: string): string {
  return `
    import { openLocks } from ${source('ledger/locks.ts')};
    import { spawn } from 'node:child_process';
    const lock = await openLocks(${JSON.stringify(stateDir(place))}).acquire(${JSON.stringify(name)}, 30000);
    console.log('held');
    ${then}`;
}

const FOREVER = 'setInterval(() => {}, 1000);';

test('a lock keeps other processes out and names who holds it', async () => {
  const place = sealedPlace();
  const holder = startSource(holding(place, 'refs/heads/main', FOREVER), place);
  await holder.said('held');
  const locks = openLocks(stateDir(place));
  await expect(locks.acquire('refs/heads/main', 0)).rejects.toEqual(BUSY);
  await expect(locks.acquire('refs/heads/main', 60)).rejects.toThrow(`pid ${holder.pid}`);
  const other = await locks.acquire('refs/heads/other', 0);
  other.release();
});

test('kill -9 of the holder frees the lock at once: nobody has to wait for an age or clean up', async () => {
  const place = sealedPlace();
  const holder = startSource(holding(place, 'x', FOREVER), place);
  await holder.said('held');
  const locks = openLocks(stateDir(place));
  await expect(locks.acquire('x', 0)).rejects.toEqual(BUSY);
  await holder.kill();
  const lock = await locks.acquire('x', 0);
  lock.release();
});

test('a child that outlives the holder does not keep the lock', async () => {
  const place = sealedPlace();
  const holder = startSource(
    holding(
      place,
      'x',
      `const child = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
      console.log('child=' + child.pid + '.');
      ${FOREVER}`,
    ),
    place,
  );
  await holder.said('.');
  const pid = Number(/child=(\d+)/.exec(holder.output())?.[1]);
  await holder.kill();
  try {
    process.kill(pid, 0); // it does live on
    (await openLocks(stateDir(place)).acquire('x', 0)).release();
  } finally {
    process.kill(pid, 'SIGKILL');
  }
});

test('who waits gets the lock when it is released, and waiting does not block the event loop', async () => {
  const place = sealedPlace();
  const locks = openLocks(stateDir(place));
  const first = await locks.acquire('x', 0);
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 5);
  const second = locks.acquire('x', 20_000);
  let got = false;
  void second.then(() => {
    got = true;
  });
  await sleep(150);
  expect(got).toBe(false);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(3);
  first.release();
  first.release();
  (await second).release();
});

test('the same process waits for itself too: two landings in one process do not mix', async () => {
  const locks = openLocks(stateDir(sealedPlace()));
  const held = await locks.acquire('x', 0);
  await expect(locks.acquire('x', 20)).rejects.toEqual(BUSY);
  held.release();
  (await locks.acquire('x', 0)).release();
});

test('four processes that count under the lock lose no count', async () => {
  const place = sealedPlace();
  const file = join(place.root, 'count');
  writeFileSync(file, '0');
  const counting = Array.from({ length: 4 }, () =>
    startSource(
      `import { openLocks } from ${source('ledger/locks.ts')};
      import { readFileSync, writeFileSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      const locks = openLocks(${JSON.stringify(stateDir(place))});
      for (let i = 0; i < 25; i += 1) {
        const lock = await locks.acquire('count', 50000);
        const count = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
        await sleep(1);
        writeFileSync(${JSON.stringify(file)}, String(count + 1));
        lock.release();
      }`,
      place,
    ),
  );
  for (const one of counting) expect(await one.ended(), one.output()).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('100');
});

test('names of any text get files of their own, which stay empty', async () => {
  const place = sealedPlace();
  const locks = openLocks(stateDir(place));
  const names = ['refs/heads/a', 'refs-heads-a', 'REFS/heads/a', '../../escape', 'é'.repeat(300), ''];
  const held = [];
  for (const name of names) held.push(await locks.acquire(name, 0));
  const dir = join(stateDir(place), 'locks');
  const files = readdirSync(dir).filter((name) => name.endsWith('.db'));
  expect(files).toHaveLength(names.length);
  expect(files.map((name) => statSync(join(dir, name)).size)).toEqual(names.map(() => 0));
  expect(existsSync(join(place.root, 'escape'))).toBe(false);
  for (const lock of held) lock.release();
  expect(readdirSync(dir).sort()).toEqual(files.sort());
});

test('where the state cannot be written the lock says so', async () => {
  const place = sealedPlace();
  chmodSync(place.root, 0o755);
  const child = startSource(
    `import { openLocks } from ${source('ledger/locks.ts')};
    ${DROP_RIGHTS}
    await openLocks(${JSON.stringify(stateDir(place))}).acquire('x', 0).catch((error) => console.log(error.code));`,
    place,
  );
  expect(await child.ended(), child.output()).toBe(0);
  expect(child.output()).toBe('repository_readonly\n');
});
