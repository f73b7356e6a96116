import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CommandResult, CommandRun } from '../../src/ports/gates.ts';
import { readLife } from '../../src/process/platform.ts';
import { createCommandRunner } from '../../src/process/run-command.ts';
import { Repository } from '../support/repo.ts';
import { type SealedPlace, sealedPlace } from '../support/sealed.ts';
import { source, startSource } from '../support/source-process.ts';

function planOf(place: SealedPlace, command: string, more: Partial<CommandRun> = {}): CommandRun {
  return {
    command,
    cwd: place.root,
    timeoutMs: 30_000,
    outputLimit: 1_000_000,
    logFile: join(place.root, 'log', 'gate.log'),
    ...more,
  };
}

/** Runs `command` in `place` and gives the result with the log. */
async function ran(
  place: SealedPlace,
  command: string,
  more: Partial<CommandRun> = {},
): Promise<CommandResult & { log: string }> {
  const result = await createCommandRunner({ env: place.env() }).run(planOf(place, command, more));
  return { ...result, log: readFileSync(join(place.root, 'log', 'gate.log'), 'utf8') };
}

/** The pid that a command of the test has written to `name`; waits for it. */
async function pidIn(place: SealedPlace, name: string): Promise<number> {
  const file = join(place.root, name);
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text.endsWith('\n')) return Number(text);
    await sleep(10);
  }
}

function lives(pid: number): boolean {
  return readLife(pid).state !== 'ended';
}

describe('what a command answers', () => {
  test('exit codes and signals are told apart', async () => {
    const place = sealedPlace();
    expect(await ran(place, 'exit 0')).toMatchObject({ outcome: 'passed', code: 0, signal: null });
    expect(await ran(place, 'exit 3')).toMatchObject({ outcome: 'failed', code: 3, signal: null });
    expect(await ran(place, 'no-such-program-at-all')).toMatchObject({ outcome: 'failed', code: 127 });
    expect(await ran(place, 'kill -SEGV $$')).toMatchObject({
      outcome: 'failed',
      code: null,
      signal: 'SIGSEGV',
    });
  });

  test('both outputs come into one log, in the order in which they were written', async () => {
    const result = await ran(sealedPlace(), 'echo one; echo two >&2; echo three; printf four');
    expect(result.log).toBe('one\ntwo\nthree\nfour');
    expect(result).toMatchObject({
      tail: 'one\ntwo\nthree\nfour',
      truncated: false,
      strays: 0,
      survivors: 0,
    });
  });

  test('a program that opens /dev/stdout or /dev/stderr works as in a terminal', async () => {
    const result = await ran(sealedPlace(), 'echo out > /dev/stdout && echo err > /dev/stderr');
    expect(result).toMatchObject({ outcome: 'passed', log: 'out\nerr\n' });
  });

  test('standard input is empty and there is no terminal to wait for', async () => {
    const place = sealedPlace();
    expect(await ran(place, 'cat; echo end')).toMatchObject({ outcome: 'passed', log: 'end\n' });
    expect(await ran(place, 'echo password? > /dev/tty')).toMatchObject({ outcome: 'failed' });
  });

  test('a folder that is not there is "not started", not a red gate', async () => {
    const place = sealedPlace();
    writeFileSync(join(place.root, 'file'), '');
    for (const cwd of ['gone', 'file']) {
      const result = await ran(place, 'echo never', { cwd: join(place.root, cwd) });
      expect(result).toMatchObject({ outcome: 'not-started', code: null, signal: null, log: '' });
      expect(result.tail).toContain(join(place.root, cwd));
    }
  });

  test('a command longer than the system takes is "not started", not a red gate', async () => {
    const result = await ran(sealedPlace(), `: ${'x'.repeat(3_000_000)}`);
    expect(result).toMatchObject({ outcome: 'not-started', code: null });
    expect(result.tail).toMatch(/E2BIG|too long/i);
  });

  test('a log file that cannot be made is an error before anything runs', async () => {
    const place = sealedPlace();
    writeFileSync(join(place.root, 'log'), '');
    const runner = createCommandRunner({ env: place.env() });
    await expect(runner.run(planOf(place, 'touch ran'))).rejects.toThrow();
    expect(existsSync(join(place.root, 'ran'))).toBe(false);
  });
});

describe('the environment', () => {
  test('GIT_DIR of a hook does not leak: the git of a test suite works where it stands', async () => {
    const place = sealedPlace();
    const repo = Repository.create(place);
    repo.commit('start', { f: 'x\n' });
    mkdirSync(join(place.root, 'elsewhere'));
    const before = readFileSync(join(repo.commonDir(), 'config'), 'utf8');
    // What git gives to hooks in a linked worktree, and what `git -c` gives to all below it.
    const env = {
      ...place.env(),
      GIT_DIR: repo.gitDir(),
      GIT_WORK_TREE: repo.dir,
      GIT_INDEX_FILE: join(repo.gitDir(), 'index'),
      GIT_PREFIX: '',
      GIT_COMMON_DIR: repo.commonDir(),
      GIT_OBJECT_DIRECTORY: join(repo.commonDir(), 'objects'),
      GIT_CONFIG_PARAMETERS: "'core.bare=true'",
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.bare',
      GIT_CONFIG_VALUE_0: 'true',
      GIT_NAMESPACE: 'other',
      GIT_QUARANTINE_PATH: '/nowhere',
    };
    const command =
      'git init -q . && git commit -q --allow-empty -m new && git rev-parse --absolute-git-dir; env';
    const result = await createCommandRunner({ env }).run(
      planOf(place, command, { cwd: join(place.root, 'elsewhere') }),
    );
    expect(result.outcome, result.tail).toBe('passed');
    const log = readFileSync(join(place.root, 'log', 'gate.log'), 'utf8');
    expect(log.split('\n')[0]).toBe(join(place.root, 'elsewhere', '.git'));
    expect(log).not.toMatch(/^GIT_(DIR|WORK_TREE|INDEX|PREFIX|COMMON|OBJECT|NAMESPACE|QUARANTINE)/m);
    expect(log).not.toMatch(/^GIT_CONFIG_(PARAMETERS|COUNT|KEY|VALUE)/m);
    expect(log).toContain(`GIT_CONFIG_GLOBAL=${place.gitConfig}`);
    expect(readFileSync(join(repo.commonDir(), 'config'), 'utf8')).toBe(before);
    expect(repo.git('log', '--format=%s')).toBe('start');
  });

  test('what the run adds is there', async () => {
    const result = await ran(sealedPlace(), 'echo "$SENNIT_TREE"', { env: { SENNIT_TREE: 'abc def' } });
    expect(result.log).toBe('abc def\n');
  });
});

describe('output', () => {
  test('200 MB of output are read to the end, 100 kB of them kept, and the memory stays flat', async () => {
    const place = sealedPlace();
    const before = process.memoryUsage().rss;
    const result = await ran(place, 'head -c 200000000 /dev/zero | tr "\\0" x; echo; echo the end', {
      outputLimit: 100_000,
    });
    expect(result).toMatchObject({ outcome: 'passed', truncated: true });
    expect(statSync(join(place.root, 'log', 'gate.log')).size).toBe(100_000);
    expect(result.tail.endsWith('the end')).toBe(true);
    expect(result.tail.length).toBeLessThanOrEqual(4000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  test('output of exactly the limit is not called truncated', async () => {
    const place = sealedPlace();
    expect(await ran(place, 'printf 12345', { outputLimit: 5 })).toMatchObject({
      truncated: false,
      log: '12345',
    });
    expect(await ran(place, 'printf 123456', { outputLimit: 5 })).toMatchObject({
      truncated: true,
      log: '12345',
    });
  });
});

describe('what a command leaves behind', () => {
  test('a child in a session of its own is ended, also one that ignores the polite signal', async () => {
    const place = sealedPlace();
    const result = await ran(
      place,
      `setsid sh -c 'trap "" TERM HUP; echo $$ > stubborn; while :; do sleep 1; echo late > late; done' > /dev/null 2>&1 &
      nohup setsid sleep 300 > /dev/null 2>&1 &
      while ! test -s stubborn; do sleep 0.01; done`,
    );
    expect(result.outcome).toBe('passed');
    expect(result.strays).toBeGreaterThanOrEqual(2);
    expect(result.survivors).toBe(0);
    expect(lives(await pidIn(place, 'stubborn'))).toBe(false);
  });

  test('a daemon that forked twice and whose parents are gone is ended', async () => {
    const place = sealedPlace();
    const result = await ran(
      place,
      `setsid sh -c '(sh -c "echo \\$\\$ > daemon; exec sleep 300" &) & exit 0' > /dev/null 2>&1
      while ! test -s daemon; do sleep 0.01; done; exit 4`,
    );
    expect(result).toMatchObject({ outcome: 'failed', code: 4, strays: 1 });
    expect(lives(await pidIn(place, 'daemon'))).toBe(false);
  });

  test('a background child that holds the output open does not hang the run', async () => {
    const place = sealedPlace();
    const result = await ran(place, 'sleep 300 & echo $! > child; echo done');
    expect(result).toMatchObject({ outcome: 'passed', log: 'done\n', strays: 1 });
    expect(result.ms).toBeLessThan(30_000);
    expect(lives(await pidIn(place, 'child'))).toBe(false);
  });

  test.runIf(process.platform === 'linux')(
    'a child that dropped the environment and left the session is found by the output that it holds',
    async () => {
      const place = sealedPlace();
      const result = await ran(
        place,
        `setsid env -i PATH="$PATH" sh -c 'echo $$ > hidden; exec sleep 300' & 
        while ! test -s hidden; do sleep 0.01; done`,
      );
      expect(result).toMatchObject({ outcome: 'passed', strays: 1 });
      expect(lives(await pidIn(place, 'hidden'))).toBe(false);
    },
  );

  test('a stopped child is ended', async () => {
    const place = sealedPlace();
    const result = await ran(place, 'sleep 300 & echo $! > child; kill -STOP $!');
    expect(result).toMatchObject({ outcome: 'passed', strays: 1 });
    expect(lives(await pidIn(place, 'child'))).toBe(false);
  });

  test('what ends by itself a moment later is no stray', async () => {
    expect(await ran(sealedPlace(), 'true &')).toMatchObject({
      outcome: 'passed',
      strays: 0,
    });
  });

  test('two runs at once end their own processes and not those of the other', async () => {
    const place = sealedPlace();
    const runner = createCommandRunner({ env: place.env() });
    const long = runner.run(
      planOf(place, 'setsid sh -c "while ! test -e stop; do sleep 0.02; done" & echo $! > other; wait', {
        logFile: join(place.root, 'long.log'),
      }),
    );
    const other = await pidIn(place, 'other');
    const short = await runner.run(
      planOf(place, 'setsid sleep 300 &', { logFile: join(place.root, 'short.log') }),
    );
    expect(short.strays).toBe(1);
    expect(lives(other)).toBe(true);
    writeFileSync(join(place.root, 'stop'), '');
    expect(await long).toMatchObject({ outcome: 'passed', strays: 0 });
  });
});

describe('a command that does not end', () => {
  test('the time limit ends it with all below it, wherever they went', async () => {
    const place = sealedPlace();
    const result = await ran(
      place,
      `sh -c 'sh -c "echo \\$\\$ > grandchild; exec sleep 300" & setsid sh -c "echo \\$\\$ > escaped; exec sleep 300" & wait' & wait`,
      { timeoutMs: 700 },
    );
    expect(result).toMatchObject({ outcome: 'timed-out', survivors: 0 });
    expect(result.ms).toBeGreaterThanOrEqual(690);
    expect(lives(await pidIn(place, 'grandchild'))).toBe(false);
    expect(lives(await pidIn(place, 'escaped'))).toBe(false);
  });

  test('a shell that ignores the polite signal is ended too, and its output so far is kept', async () => {
    const place = sealedPlace();
    const result = await ran(place, 'trap "" TERM; echo begun; while :; do sleep 0.1; done', {
      timeoutMs: 300,
    });
    expect(result).toMatchObject({ outcome: 'timed-out', code: null, signal: 'SIGKILL', tail: 'begun' });
  });

  test('endless output does not keep the limit from being held', async () => {
    const result = await ran(sealedPlace(), 'yes', { timeoutMs: 500, outputLimit: 1000 });
    expect(result).toMatchObject({ outcome: 'timed-out', truncated: true });
    expect(result.log).toHaveLength(1000);
  });

  test('a process that starts another whenever it is ended is still ended', async () => {
    const place = sealedPlace();
    writeFileSync(
      join(place.root, 'hydra.sh'),
      'trap "setsid sh hydra.sh & exit" TERM\necho $$ > hydra\nwhile :; do sleep 0.02; done\n',
    );
    const result = await ran(place, 'sh hydra.sh', { timeoutMs: 300 });
    expect(result).toMatchObject({ outcome: 'timed-out', survivors: 0 });
    expect(lives(await pidIn(place, 'hydra'))).toBe(false);
  });
});

describe('Sennit itself is ended', () => {
  test('endAll ends what runs, says "interrupted" and lets nothing start again', async () => {
    const place = sealedPlace();
    const runner = createCommandRunner({ env: place.env() });
    const running = runner.run(planOf(place, 'setsid sleep 300 & echo $! > child; wait'));
    const child = await pidIn(place, 'child');
    const ending = runner.endAll();
    await expect(running).rejects.toEqual(expect.objectContaining({ code: 'interrupted' }));
    await ending;
    expect(lives(child)).toBe(false);
    await expect(runner.run(planOf(place, 'touch ran'))).rejects.toThrow(
      expect.objectContaining({ code: 'interrupted' }),
    );
    expect(existsSync(join(place.root, 'ran'))).toBe(false);
  });

  test('after kill -9 a later process ends what the dead one left running', async () => {
    const place = sealedPlace();
    const marker = randomUUID();
    const plan = planOf(place, 'setsid sleep 300 & echo $! > child; wait', { marker });
    const sennit = startSource(
      `import { createCommandRunner } from ${source('process/run-command.ts')};
      await createCommandRunner().run(${JSON.stringify(plan)});`,
      place,
    );
    const child = await pidIn(place, 'child');
    await sennit.kill();
    expect(lives(child)).toBe(true);
    const runner = createCommandRunner({ env: place.env() });
    expect(await runner.endMarked('another-marker-of-nobody')).toBe(0);
    expect(lives(child)).toBe(true);
    expect(await runner.endMarked(marker)).toBe(2);
    expect(lives(child)).toBe(false);
  });

  test('a Sennit that runs inside a gate hides nothing from the one outside', async () => {
    const place = sealedPlace();
    const inner = planOf(place, 'setsid sleep 300 & echo $! > child; wait');
    writeFileSync(
      join(place.root, 'inner.mjs'),
      `import { createCommandRunner } from ${source('process/run-command.ts')};
      await createCommandRunner().run(${JSON.stringify(inner)});`,
    );
    const loader = new URL('../support/typescript-loader.mjs', import.meta.url).href;
    const outer = await createCommandRunner({ env: place.env() }).run(
      planOf(
        place,
        `"${process.execPath}" --import "${loader}" inner.mjs & while ! test -s child; do sleep 0.01; done; kill -9 $!`,
        { logFile: join(place.root, 'outer.log') },
      ),
    );
    expect(outer.outcome).toBe('passed');
    expect(outer.strays).toBeGreaterThanOrEqual(2);
    expect(lives(await pidIn(place, 'child'))).toBe(false);
  });
});
