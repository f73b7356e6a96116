// Runs the real, built command in a process of its own, as a user's shell would: `runSennit` to its end,
// `askSennit` for the JSON answer, `startSennit` where the test wants to end it in the middle.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { Located } from './sealed.ts';

/** The built command line program. */
export const SENNIT = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface SennitOptions {
  /** Where the command is started: a repository, or any directory of a sealed place. */
  readonly cwd: Located;
  /** More variables; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input, empty unless given. */
  readonly input?: string;
  /** Starts another program with the command line as its arguments, e.g. one that sets up a mount first. */
  readonly through?: readonly string[];
}

/** The published JSON answer, as far as tests look at it. Optional: what only some commands fill in. */
export interface Answer {
  readonly contract_version: number;
  readonly ok: boolean;
  readonly result: string;
  readonly commit: string | null;
  readonly tree: string | null;
  readonly target: string | null;
  readonly operation: string | null;
  readonly sources: readonly AnswerSource[];
  readonly paths: readonly { path: string; rung: string; reason: string; ms: number }[];
  readonly conflicts: readonly AnswerConflict[];
  readonly gates: readonly AnswerGate[];
  readonly findings: readonly AnswerFinding[];
  readonly next: readonly string[];
  readonly handover?: { readonly worktree: string; readonly packet: string } | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly retryable: boolean;
    readonly paths?: readonly string[];
  } | null;
}

interface AnswerSource {
  readonly name: string;
  readonly [field: string]: unknown;
}

interface AnswerConflict {
  readonly path: string;
  readonly kind: string;
  readonly sources: readonly string[];
  readonly [field: string]: unknown;
}

interface AnswerGate {
  readonly [field: string]: unknown;
}

interface AnswerFinding {
  readonly check: string;
  readonly severity: string;
  readonly message: string;
  readonly paths?: readonly string[];
  readonly [field: string]: unknown;
}

/** How one run of the command ended. */
export class SennitRun {
  readonly args: readonly string[];
  /** Exit code, null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(
    args: readonly string[],
    end: { code: number | null; signal: NodeJS.Signals | null },
    stdout: string,
    stderr: string,
  ) {
    this.args = args;
    this.code = end.code;
    this.signal = end.signal;
    this.stdout = stdout;
    this.stderr = stderr;
  }

  /** The one JSON value on standard output; throws when there is anything else. */
  json(): Answer {
    try {
      return JSON.parse(this.stdout) as Answer;
    } catch (error) {
      throw new Error(`standard output is not one JSON value (${String(error)})\n${this.story()}`);
    }
  }

  /** All that the command said, for messages of failed assertions. */
  story(): string {
    const end = this.signal === null ? `exit ${this.code}` : `signal ${this.signal}`;
    return `sennit ${this.args.join(' ')}: ${end}\n--- stdout\n${this.stdout}\n--- stderr\n${this.stderr}`;
  }

  /** Fails the test, with all that the command said, unless it ended with this exit code. */
  expectCode(code: number): this {
    expect(this.code, this.story()).toBe(code);
    return this;
  }
}

export interface StartedSennit {
  readonly child: ChildProcess;
  /** Resolves when it has ended, however it ended. */
  readonly done: Promise<SennitRun>;
  /** What it has said on standard error so far. */
  stderr(): string;
  /** Ends it with SIGKILL and waits until it is gone. */
  kill(): Promise<SennitRun>;
}

/** Starts the command and returns at once. It is killed at the end of the test if it still runs. */
export function startSennit(args: readonly string[], options: SennitOptions): StartedSennit {
  if (!existsSync(SENNIT)) throw new Error(`${SENNIT} is missing: run \`npm run build\` first`);
  const { place, dir } = options.cwd;
  const command = [...(options.through ?? []), process.execPath, SENNIT, ...args];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: place.inside(dir),
    env: place.env(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const done = new Promise<SennitRun>((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => settle(new SennitRun(args, { code, signal }, stdout, stderr)));
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  return {
    child,
    done,
    stderr: () => stderr,
    kill: async () => {
      child.kill('SIGKILL');
      return await done;
    },
  };
}

/** Runs the command to its end. */
export async function runSennit(args: readonly string[], options: SennitOptions): Promise<SennitRun> {
  return await startSennit(args, options).done;
}

/** Runs the command with `--json`, checks the exit code and what every answer must have, and gives the answer. */
export async function askSennit(
  args: readonly string[],
  code: number,
  options: SennitOptions,
): Promise<Answer> {
  const run = (await runSennit([...args, '--json'], options)).expectCode(code);
  const answer = run.json();
  const story = run.story();
  expect(answer.contract_version, story).toBeGreaterThanOrEqual(1);
  expect(answer.ok, story).toBe(code === 0);
  expect(answer.result, story).toMatch(/^[a-z]+(_[a-z]+)*$/);
  expect(answer.error === null, story).toBe(code === 0);
  expect(Array.isArray(answer.next), story).toBe(true);
  expect(run.stderr, story).not.toMatch(/\n\s+at .*:\d+:\d+/);
  return answer;
}

/** Runs a command that must be refused before anything happens, and checks code, message and hint. */
export async function expectRefusal(
  args: readonly string[],
  expected: { readonly exit: number; readonly code: string; readonly says?: RegExp },
  options: SennitOptions,
): Promise<Answer> {
  const answer = await askSennit(args, expected.exit, options);
  const story = JSON.stringify(answer, null, 2);
  expect(answer.error?.code, story).toBe(expected.code);
  expect(answer.error?.message, story).toMatch(/\S/);
  expect(answer.error?.hint, story).toMatch(/\S/);
  expect(typeof answer.error?.retryable, story).toBe('boolean');
  if (expected.says !== undefined)
    expect(`${answer.error?.message} ${answer.error?.hint}`, story).toMatch(expected.says);
  return answer;
}
