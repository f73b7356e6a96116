// The only place that starts git. Every call says which exit codes it accepts; anything else, a signal, or a
// program that cannot be started is an error, never an empty answer. Output is bytes and never truncated.
// The environment is built here: no GIT_* variable of the caller that could point git elsewhere gets through,
// and every call carries the settings that keep hooks, file-system monitors, merge drivers and background
// maintenance from running. What stays true: no git command is started by discovery inside a workspace.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { delimiter, isAbsolute } from 'node:path';
import { SennitError } from '../model/errors.ts';

/** Settings that every git call carries, each with its reason. */
const SAFE_CONFIG: readonly (readonly [key: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'], // hooks are code that an agent could have written
  ['core.fsmonitor', 'false'], // a monitor command runs on status, diff and add
  ['core.untrackedCache', 'false'], // a forged cache hides untracked files
  ['core.splitIndex', 'false'], // a private index must be one file
  ['core.pager', 'cat'],
  ['core.quotePath', 'false'],
  ['core.alternateRefsCommand', 'true'], // a command of the configuration
  ['diff.external', ''], // a command of the configuration
  ['merge.directoryRenames', 'false'], // git before 2.51.1 silently deletes a file otherwise
  ['submodule.recurse', 'false'], // never touch a submodule's work tree
  ['gc.auto', '0'], // no background process that outlives the call
  ['maintenance.auto', 'false'],
  ['log.showSignature', 'false'], // would run gpg
  ['color.ui', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['advice.addEmbeddedRepo', 'false'],
  ['safe.bareRepository', 'all'], // the git dir is always named, so nothing is found by discovery
];

/** Settings for calls whose objects must survive a power cut before a ref moves. */
export const DURABLE_CONFIG: readonly (readonly [string, string])[] = [
  ['core.fsync', 'committed,loose-object,reference'],
  ['core.fsyncMethod', 'batch'],
];

/** GIT_* variables of the caller that are kept: who commits, how to reach a remote, which user configuration. */
const KEPT_GIT_ENV = new Set([
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_AUTHOR_DATE',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_COMMITTER_DATE',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_ASKPASS',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_SSL_NO_VERIFY',
  'GIT_HTTP_USER_AGENT',
  'GIT_EXEC_PATH',
  'GIT_CEILING_DIRECTORIES',
]);

/** The caller's environment without what would point a child's git at another repository. */
export function scrubbedEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (key.startsWith('GIT_') && !KEPT_GIT_ENV.has(key)) continue;
    // Children run with a workspace as their folder: a relative search path would find an agent's programs.
    out[key] = key === 'PATH' ? value.split(delimiter).filter(isAbsolute).join(delimiter) : value;
  }
  return out;
}

export interface GitCall {
  readonly args: readonly string[];
  /** GIT_DIR. Every call but `git version` names one. */
  readonly gitDir?: string;
  /** GIT_WORK_TREE. */
  readonly workTree?: string;
  readonly cwd?: string;
  /** More variables, e.g. GIT_INDEX_FILE; they win over the defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** More settings; later ones win, also over the safe defaults. */
  readonly config?: readonly (readonly [string, string])[];
  /** Written to standard input, which is then closed. */
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Accepted exit codes; 0 alone unless given. */
  readonly accept?: readonly number[];
  /** Accepted signals; none unless given. */
  readonly acceptSignals?: readonly NodeJS.Signals[];
  /** Receives standard output as it comes instead of collecting it: for contents of any size. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export interface GitResult {
  /** The exit code; 128 plus its number for an accepted signal. */
  readonly code: number;
  /** The accepted signal that ended it, or null. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** The words of a command as a person would type them, for messages. */
function commandText(args: readonly string[]): string {
  return `git ${args.slice(0, 4).join(' ')}${args.length > 4 ? ' …' : ''}`;
}

/** Turns what git said when it failed into the error that a user can act on. */
export function gitFailure(
  args: readonly string[],
  code: number | null,
  signal: string | null,
  stderr: string,
): SennitError {
  const text = stderr.trim();
  const said = text === '' ? '' : `: ${text.split('\n').slice(-3).join(' / ')}`;
  const what = `${commandText(args)} ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}${said}`;
  if (/No space left on device|Disk quota exceeded/i.test(text)) {
    return new SennitError('disk_full', `The disk is full: ${what}`, {
      hint: 'Free some space and run the command again; nothing has been changed.',
      retryable: true,
    });
  }
  if (/Read-only file system|insufficient permission for adding an object|Permission denied/i.test(text)) {
    return new SennitError('repository_readonly', `The git directory cannot be written: ${what}`, {
      hint: 'Check who owns the repository and whether its file system is mounted read-only.',
    });
  }
  if (
    /promisor remote|missing blob|unable to read (sha1 file|tree|[0-9a-f]{40})|bad object|could not fetch/i.test(
      text,
    )
  ) {
    return new SennitError('object_missing', `The repository lacks an object that is needed: ${what}`, {
      hint: 'In a partial or shallow clone fetch what is missing (`git fetch --unshallow`, or `git fetch --refetch` in a partial clone), else run `git fsck`.',
    });
  }
  return new SennitError('git_failed', what, {
    hint: 'Nothing has been changed by this step. `sennit doctor` looks for known causes.',
  });
}

/** Starts git, and only git, for one program path and one caller environment. */
export class GitSpawner {
  readonly #program: string;
  readonly #env: Record<string, string>;

  constructor(options: { program?: string; env?: NodeJS.ProcessEnv } = {}) {
    this.#program = options.program ?? 'git';
    this.#env = {
      ...scrubbedEnv(options.env ?? process.env),
      LC_ALL: 'C', // messages are parsed in a few places
      GIT_TERMINAL_PROMPT: '0', // never wait for a password that nobody will type
      GIT_OPTIONAL_LOCKS: '0', // reading must not take the user's index lock
      GIT_NO_REPLACE_OBJECTS: '1', // what is merged is what the ids say
      GIT_LITERAL_PATHSPECS: '0',
      GIT_FLUSH: '1', // co-processes answer line by line
    };
  }

  /** The search path that git and its filters get. */
  get searchPath(): string {
    return this.#env['PATH'] ?? '';
  }

  #spawn(call: GitCall): ChildProcessWithoutNullStreams {
    const config = [...SAFE_CONFIG, ...(call.config ?? [])];
    const env: Record<string, string> = { ...this.#env, GIT_CONFIG_COUNT: String(config.length) };
    config.forEach(([key, value], i) => {
      env[`GIT_CONFIG_KEY_${i}`] = key;
      env[`GIT_CONFIG_VALUE_${i}`] = value;
    });
    if (call.gitDir !== undefined) env['GIT_DIR'] = call.gitDir;
    if (call.workTree !== undefined) env['GIT_WORK_TREE'] = call.workTree;
    Object.assign(env, call.env);
    return spawn(this.#program, call.args, {
      cwd: call.cwd ?? call.workTree ?? call.gitDir ?? '/',
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
  }

  #startFailure(error: NodeJS.ErrnoException): SennitError {
    if (error.code === 'ENOENT') {
      return new SennitError('git_missing', 'The program git could not be started.', {
        hint: 'Install git 2.39 or newer and make sure that it is on the PATH.',
        cause: error,
      });
    }
    return new SennitError('git_failed', `git could not be started: ${error.message}`, { cause: error });
  }

  /** Runs git to its end. Throws SennitError for an exit code that is not accepted and for any signal. */
  async run(call: GitCall): Promise<GitResult> {
    const child = this.#spawn(call);
    const chunks: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', call.onStdout ?? ((chunk: Buffer) => chunks.push(chunk)));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    // A program that ends without reading its input closes the pipe; its exit code tells the story.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
      child.once('error', (error) => reject(this.#startFailure(error)));
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const fed = feed(child, call.stdin);
    const [{ code, signal }] = await Promise.all([ended, fed]);
    const stderr = Buffer.concat(errors).toString('utf8');
    const result = { signal, stdout: Buffer.concat(chunks), stderr };
    if (signal !== null && call.acceptSignals?.includes(signal) === true) {
      return { ...result, code: 128 + constants.signals[signal] };
    }
    if (code === null || !(call.accept ?? [0]).includes(code))
      throw gitFailure(call.args, code, signal, stderr);
    return { ...result, code };
  }

  /** Starts git as a co-process that answers on standard output while its standard input stays open. Only for
   * commands that flush after each answer on every supported version: `cat-file --batch`, `diff-tree --stdin`,
   * `hash-object --stdin-paths`. Never for `merge-tree --stdin`, which deadlocks before 2.49. */
  coprocess(call: GitCall): Coprocess {
    return new Coprocess(this.#spawn(call), call.args, (error) => this.#startFailure(error));
  }
}

async function feed(child: ChildProcessWithoutNullStreams, input: GitCall['stdin']): Promise<void> {
  if (input === undefined) {
    child.stdin.end();
    return;
  }
  if (typeof input === 'string' || input instanceof Uint8Array) {
    child.stdin.end(input);
    return;
  }
  for await (const chunk of input) {
    if (child.stdin.destroyed) return;
    if (!child.stdin.write(chunk)) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          child.stdin.off('drain', done);
          child.stdin.off('close', done);
          resolve();
        };
        child.stdin.once('drain', done);
        child.stdin.once('close', done);
      });
    }
  }
  child.stdin.end();
}

/** A git process that is asked several things. Answers are read in the order in which they were asked for. */
export class Coprocess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #args: readonly string[];
  readonly #closed: Promise<void>;
  #buffers: Buffer[] = [];
  #size = 0;
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #ended = false;
  #stderr = '';

  constructor(
    child: ChildProcessWithoutNullStreams,
    args: readonly string[],
    startFailure: (error: NodeJS.ErrnoException) => Error,
  ) {
    this.#child = child;
    this.#args = args;
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      this.#buffers.push(chunk);
      this.#size += chunk.length;
      this.#notify();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-4096);
    });
    this.#closed = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#failure = startFailure(error);
        this.#ended = true;
        this.#notify();
        resolve();
      });
      child.once('close', (code, signal) => {
        this.#ended = true;
        if (code !== 0) this.#failure ??= gitFailure(this.#args, code, signal, this.#stderr);
        this.#notify();
        resolve();
      });
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  async #more(): Promise<void> {
    if (this.#ended)
      throw this.#failure ?? gitFailure(this.#args, 0, null, `unexpected end. ${this.#stderr}`);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What is written in one turn goes out as one piece. */
  write(data: string | Uint8Array): void {
    const { stdin } = this.#child;
    if (stdin.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin.write(data);
  }

  /** Reads exactly `count` bytes. */
  async read(count: number): Promise<Buffer> {
    while (this.#size < count) await this.#more();
    this.#size -= count;
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const first = this.#buffers[0];
      if (first === undefined) throw new RangeError('fewer bytes than were counted');
      if (first.length > missing) {
        parts.push(first.subarray(0, missing));
        this.#buffers[0] = first.subarray(missing);
        break;
      }
      parts.push(first);
      this.#buffers.shift();
      missing -= first.length;
    }
    const [only = Buffer.alloc(0), ...more] = parts;
    return more.length === 0 ? only : Buffer.concat(parts);
  }

  /** Reads up to and without the next `delimiter`, which may be several bytes. */
  async readUntil(delimiter: string): Promise<Buffer> {
    const mark = Buffer.from(delimiter, 'latin1');
    // Each piece is searched once; the end of the one before is kept for a delimiter that lies across.
    let tail: Buffer = Buffer.alloc(0);
    let passed = 0;
    for (let i = 0; ; i += 1) {
      while (i >= this.#buffers.length) await this.#more();
      const piece = this.#buffers[i] ?? tail;
      const seam =
        tail.length === 0 ? -1 : Buffer.concat([tail, piece.subarray(0, mark.length - 1)]).indexOf(mark);
      const at = seam === -1 ? piece.indexOf(mark) : seam - tail.length;
      if (seam !== -1 || at !== -1) {
        const found = await this.read(passed + at + mark.length);
        return found.subarray(0, found.length - mark.length);
      }
      passed += piece.length;
      if (mark.length > 1) tail = Buffer.concat([tail, piece]).subarray(1 - mark.length);
    }
  }

  /** Whether the caller's process stays alive for this one: not while it only waits for questions. At the end of the
   * caller it sees its input closed. */
  keepAlive(needed: boolean): void {
    for (const part of [
      this.#child,
      this.#child.stdin as Socket,
      this.#child.stdout as Socket,
      this.#child.stderr as Socket,
    ]) {
      if (needed) part.ref();
      else part.unref();
    }
  }

  /** Closes its standard input and waits for its end. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }
}
