// Runs one command of the user's: `sh -c` in its own session, standard input empty, output through one pipe into a
// capped log. The run is over when the shell has ended *and* nothing that it started is left: what a command leaves
// behind would go on writing into a tree that has been judged. A time limit and `endAll` end the same tree.
// The output is a named pipe because programs open /dev/stdout and /dev/stderr, which fails on the sockets that
// Node gives to children. What it refuses: to hang on a process that keeps the pipe open.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SennitError } from '../model/errors.ts';
import type { CommandResult, CommandRun, CommandRunner } from '../ports/gates.ts';
import { commandEnvironment } from './command-environment.ts';
import { OutputLog } from './output-log.ts';
import { makeNamedPipe, SHELL } from './platform.ts';
import { endTree, type TreeEnd } from './process-tree.ts';

/** The longest time that a timer of Node can be set to. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** From the end of all processes to the end of the pipe: what is in the pipe is read in this time. */
const DRAIN_MS = 2000;

/** From the death of the shell to the news of it. */
const NEWS_MS = 1000;

interface ShellEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What goes wrong before the command runs. */
class NotStarted extends Error {}

/** The runner of the user's commands. `env` is the environment that they get, scrubbed; the caller's by default. */
export function createCommandRunner(
  options: { readonly env?: Readonly<Record<string, string | undefined>> } = {},
): CommandRunner {
  return new ShellRunner(options.env ?? process.env);
}

class ShellRunner implements CommandRunner {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #running = new Map<RunningCommand, Promise<CommandResult>>();
  #ending = false;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  async run(run: CommandRun): Promise<CommandResult> {
    if (this.#ending) throw interrupted(run.command);
    const marker = run.marker ?? randomBytes(16).toString('hex');
    if (/[\s:]/.test(marker) || marker.length < 16) throw new TypeError(`not a run marker: ${marker}`);
    const running = new RunningCommand(run, marker, commandEnvironment(this.#env, run.env ?? {}, marker));
    const result = running.result();
    this.#running.set(running, result);
    try {
      return await result;
    } finally {
      this.#running.delete(running);
    }
  }

  async endAll(): Promise<void> {
    this.#ending = true;
    for (const running of this.#running.keys()) running.interrupt();
    await Promise.allSettled(this.#running.values());
  }

  async endMarked(marker: string): Promise<number> {
    const { ended } = await endTree(
      { marker, leader: undefined },
      { isLeaderEnded: () => true, settle: false },
    );
    return ended;
  }
}

function interrupted(command: string): SennitError {
  return new SennitError('interrupted', `Stopped while running \`${command}\`; its processes were ended.`, {
    retryable: true,
  });
}

/** A pipe for the output: `reader` in this process, `writer` a descriptor for the child. */
interface OutputPipe {
  readonly name: string;
  readonly reader: Socket;
  readonly writer: number;
}

async function openOutputPipe(): Promise<OutputPipe> {
  const folder = await mkdtemp(join(tmpdir(), 'sennit-run-'));
  const name = join(folder, 'output');
  try {
    await makeNamedPipe(name);
    const fd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(name, constants.O_WRONLY);
    return { name, reader: new Socket({ fd, readable: true, writable: false }), writer };
  } catch (error) {
    throw new NotStarted(`No pipe could be made in ${folder}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** One command from its start to the end of all its processes. */
class RunningCommand {
  readonly #run: CommandRun;
  readonly #marker: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #shellEnd: ShellEnd | undefined;
  #stop: 'timed-out' | 'interrupted' | undefined;
  /** Set while the tree is being ended early. */
  #ending: Promise<TreeEnd> | undefined;
  #wakeGivenUp: (() => void) | undefined;

  constructor(run: CommandRun, marker: string, env: Record<string, string>) {
    this.#run = run;
    this.#marker = marker;
    this.#env = env;
  }

  interrupt(): void {
    this.#stopEarly('interrupted');
  }

  async result(): Promise<CommandResult> {
    const log = new OutputLog(this.#run.logFile, this.#run.outputLimit);
    const start = performance.now();
    try {
      return await this.#toEnd(log, start);
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      return {
        outcome: 'not-started',
        code: null,
        signal: null,
        ms: performance.now() - start,
        tail: error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message,
        truncated: false,
        strays: 0,
        survivors: 0,
      };
    } finally {
      log.close();
    }
  }

  async #toEnd(log: OutputLog, start: number): Promise<CommandResult> {
    if (!isFolder(this.#run.cwd))
      throw new NotStarted(`There is no folder ${this.#run.cwd} that can be read`);
    const pipe = await openOutputPipe();
    const drained = new Promise<void>((resolve) => {
      pipe.reader.once('close', resolve);
      pipe.reader.on('error', () => pipe.reader.destroy());
    });
    pipe.reader.on('data', (chunk: Buffer) => log.add(chunk));
    try {
      const { code, signal } = await this.#shell(pipe.writer);
      const ms = performance.now() - start;
      const rest = await this.#endRest(pipe, drained);
      if (this.#stop === 'interrupted') throw interrupted(this.#run.command);
      const outcome = this.#stop ?? (code === 0 ? 'passed' : 'failed');
      return { outcome, code, signal, ms, tail: log.tail(), truncated: log.truncated, ...rest };
    } finally {
      pipe.reader.destroy();
    }
  }

  /** Starts the shell and waits for its end, whatever ends it. Closes `writer`. */
  async #shell(writer: number): Promise<ShellEnd> {
    const givenUp = new Promise<ShellEnd>((resolve) => {
      this.#wakeGivenUp = () => resolve({ code: null, signal: null });
    });
    const ended = new Promise<ShellEnd>((resolve, reject) => {
      try {
        if (this.#stop !== undefined) throw interrupted(this.#run.command);
        this.#child = spawn(SHELL, ['-c', this.#run.command], {
          cwd: this.#run.cwd,
          env: this.#env,
          stdio: ['ignore', writer, writer],
          detached: true, // its own session: no terminal, and a process group of its own
        });
      } catch (error) {
        reject(
          error instanceof SennitError
            ? error
            : new NotStarted('The shell could not be started', { cause: error }),
        );
        return;
      } finally {
        closeSync(writer);
      }
      this.#child.once('error', (error) => {
        reject(new NotStarted('The shell could not be started', { cause: error }));
      });
      this.#child.once('exit', (code, signal) => {
        this.#shellEnd = { code, signal };
        resolve(this.#shellEnd);
      });
    });
    const timer = setTimeout(
      () => this.#stopEarly('timed-out'),
      Math.min(this.#run.timeoutMs, LONGEST_TIMER_MS),
    );
    try {
      return await Promise.race([ended, givenUp]);
    } finally {
      clearTimeout(timer);
    }
  }

  #stopEarly(why: 'timed-out' | 'interrupted'): void {
    this.#stop ??= why;
    if (this.#child?.pid === undefined || this.#shellEnd !== undefined) return;
    this.#ending ??= this.#endTree({ settle: false }).finally(() => {
      // All are dead or cannot be ended; the news of the shell's end may still be under way.
      setTimeout(() => this.#wakeGivenUp?.(), NEWS_MS).unref();
    });
  }

  #endTree(options: { readonly settle: boolean; readonly pipe?: string }): Promise<TreeEnd> {
    const { settle, ...more } = options;
    return endTree(
      { marker: this.#marker, leader: this.#child?.pid, ...more },
      { isLeaderEnded: () => this.#shellEnd !== undefined, settle },
    );
  }

  /** Ends what the shell left behind and reads the rest of its output. */
  async #endRest(
    pipe: OutputPipe,
    drained: Promise<void>,
  ): Promise<{ readonly strays: number; readonly survivors: number }> {
    const early = await this.#ending;
    const late = await this.#endTree({ settle: early === undefined });
    let strays = (early?.ended ?? 0) + late.ended;
    let survivors = late.survivors;
    const isDrained = async (): Promise<boolean> => {
      const timer = new AbortController();
      const open = sleep(DRAIN_MS, 'open', { signal: timer.signal }).catch(() => 'open');
      const first = await Promise.race([drained, open]);
      timer.abort();
      return first !== 'open';
    };
    if (!(await isDrained())) {
      const holders = await this.#endTree({ settle: false, pipe: pipe.name });
      strays += holders.ended;
      survivors += holders.survivors;
      if (holders.ended > 0) await isDrained();
    }
    return { strays, survivors };
  }
}
