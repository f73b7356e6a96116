// Runs a few lines of JavaScript that import sources of the project in a process of their own, for tests of what
// happens between processes: locks, crashes, signals.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Located } from './sealed.ts';

const LOADER = new URL('typescript-loader.mjs', import.meta.url).href;

/** The text of an import specifier for a source, e.g. `source('ledger/locks.ts')`, quotes included. */
export function source(path: string): string {
  return JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
}

export interface SourceProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All that it has written so far. */
  output(): string;
  /** Waits until it has written `text`; throws when it ends first. */
  said(text: string): Promise<void>;
  /** Waits for its end: the exit code, or the name of the signal. */
  ended(): Promise<number | string>;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

/** A statement for scripts: gives up root's rights where the test runs as root, so that modes of files count.
 * Sources and native modules must have been loaded before. */
export const DROP_RIGHTS =
  'if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }';

/** Starts `script`, an ES module. It is killed at the end of the test if it still runs. */
export function startSource(script: string, cwd: Located): SourceProcess {
  const child = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', script], {
    cwd: cwd.place.inside(cwd.dir),
    env: cwd.place.env(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  const hear = (text: string): void => {
    output += text;
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  const closed = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const said = async (text: string): Promise<void> => {
    const heard = new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!output.includes(text)) return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
      listener();
    });
    const early = closed.then((how) => {
      if (!output.includes(text)) throw new Error(`ended with ${how} before it said "${text}": ${output}`);
    });
    await Promise.race([heard, early]);
  };
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    said,
    ended: () => closed,
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
