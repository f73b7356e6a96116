// The answer of every command, as programs read it with `--json`: this type is that JSON. Fields that every answer has
// come first; the others belong to the commands named with them and are absent elsewhere. Names are fixed by contract
// version 1: fields may be added, none changes its meaning or goes. Paths are display paths (see ids.ts), ids are full,
// durations are milliseconds. `ok` is true exactly when the command exits with 0, and `error` is null exactly then.

import type { ConflictKind } from './conflict.ts';
import { EXIT, type ExitCode, type SennitError } from './errors.ts';
import type { Severity } from './finding.ts';

export const CONTRACT_VERSION = 1;

/** Every word that `result` can be, with the exit code that it means. */
export const RESULT_EXITS = {
  landed: EXIT.done,
  nothing_new: EXIT.done,
  dry_run: EXIT.done,
  conflicts: EXIT.conflicts,
  gate_red: EXIT.gateRed,
  parked: EXIT.failed,
  clean: EXIT.done,
  collisions: EXIT.done,
  listed: EXIT.done,
  none: EXIT.done,
  resolved: EXIT.done,
  aborted: EXIT.done,
  idle: EXIT.done,
  waiting: EXIT.done,
  running: EXIT.done,
  cleaned: EXIT.done,
  shown: EXIT.done,
  restored: EXIT.done,
  undone: EXIT.done,
  healthy: EXIT.done,
  unhealthy: EXIT.failed,
  fixed: EXIT.done,
  explained: EXIT.done,
  printed: EXIT.done,
  // what any command can come to
  failed: EXIT.failed,
  refused: EXIT.usage,
  pending: EXIT.conflicts,
  busy: EXIT.busy,
  bug: EXIT.bug,
  /** The exit code is 128 plus the number of the signal. */
  interrupted: EXIT.failed,
} as const satisfies Record<string, ExitCode>;

export type ResultWord = keyof typeof RESULT_EXITS;

/** What any command can come to when it fails. */
export const FAILURE_WORDS = [
  'failed',
  'refused',
  'pending',
  'conflicts',
  'gate_red',
  'busy',
  'bug',
  'interrupted',
] as const satisfies readonly ResultWord[];

/** The words of each command, besides those of failures. `sennit` is a call in which no command was recognised. */
export const COMMAND_RESULTS = {
  land: ['landed', 'nothing_new', 'dry_run', 'parked'],
  forecast: ['clean', 'collisions'],
  conflicts: ['listed', 'none'],
  resolve: ['resolved', 'dry_run'],
  continue: ['landed', 'nothing_new', 'dry_run', 'parked'],
  abort: ['aborted', 'dry_run'],
  status: ['idle', 'waiting', 'running'],
  gc: ['cleaned', 'dry_run', 'none'],
  'archive list': ['listed', 'none'],
  'archive show': ['shown'],
  'archive restore': ['restored', 'dry_run'],
  undo: ['undone', 'dry_run'],
  log: ['listed', 'none'],
  doctor: ['healthy', 'unhealthy', 'fixed', 'dry_run'],
  'config explain': ['explained'],
  schema: ['printed'],
  completion: ['printed'],
  help: ['printed'],
  version: ['printed'],
  sennit: [],
} as const satisfies Record<string, readonly ResultWord[]>;

export type CommandName = keyof typeof COMMAND_RESULTS;

export type ResultOf<Name extends CommandName> =
  | (typeof COMMAND_RESULTS)[Name][number]
  | (typeof FAILURE_WORDS)[number];

export interface AnswerSource {
  readonly name: string;
  /** `worktree`, `branch`, `tag` or `commit`. */
  readonly kind: string;
  readonly state: 'merged' | 'conflicts' | 'waiting' | 'nothing_new' | 'dropped';
  /** The commit that holds all of its work; null where none was taken. */
  readonly snapshot: string | null;
}

/** How one path of the result came about, where more than one side had to be joined. */
export interface AnswerPath {
  readonly path: string;
  readonly rung: string;
  readonly reason: string;
  readonly ms: number;
  readonly source: string;
}

export interface AnswerConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Names of the sources that meet here, the one being merged last. */
  readonly sources: readonly string[];
  /** Declarations in which the sides meet; empty where they are not known. */
  readonly symbols: readonly string[];
  readonly message: string;
  /** The other paths of the same conflict. */
  readonly related: readonly string[];
  /** What each rung tried, and why it declined. */
  readonly tried: readonly { readonly rung: string; readonly reason: string }[];
}

export interface AnswerGate {
  readonly name: string;
  readonly command: string;
  readonly outcome: 'passed' | 'failed' | 'timed-out' | 'not-started';
  /** True when the verdict was known for this tree and command, and nothing was run. */
  readonly known: boolean;
  readonly ms: number;
  /** Exit code; null when it was ended by a signal. */
  readonly code: number | null;
  /** The end of what it wrote. */
  readonly tail: string;
  /** File that holds what it wrote; null where nothing was run. */
  readonly log: string | null;
}

export interface AnswerFinding {
  /** Stable name of what was seen, `noun_problem`. */
  readonly check: string;
  readonly severity: Severity;
  readonly message: string;
  readonly paths?: readonly string[] | undefined;
  readonly source?: string | undefined;
  /** What to run about it. */
  readonly remedy?: string | undefined;
  /** True when `doctor --fix` has put it right. */
  readonly fixed?: boolean | undefined;
}

export interface AnswerError {
  readonly code: string;
  readonly message: string;
  /** The way out, as a sentence. Never empty. */
  readonly hint: string;
  /** True when the same call may succeed later without anything being changed. */
  readonly retryable: boolean;
  readonly paths: readonly string[];
}

export interface AnswerCulprits {
  readonly outcome: 'found' | 'target_red' | 'gave_up';
  /** Smallest sets of sources that are red: one name is red by itself, several are red together. */
  readonly sets: readonly (readonly string[])[];
  /** Sources to leave out so that the rest is green. */
  readonly drop: readonly string[];
  /** True when the rest without `drop` was seen green. */
  readonly rest_green: boolean;
  /** Gate runs that the search cost. */
  readonly runs: number;
  /** Why it gave up; null otherwise. */
  readonly reason: string | null;
}

export interface AnswerForecast {
  /** The order of merging with the fewest conflicts. */
  readonly order: readonly string[];
  /** Pairs that were looked at, and those of them that git had to be asked about. */
  readonly pairs: number;
  readonly merged: number;
  readonly collisions: readonly {
    readonly sources: readonly [string, string];
    readonly paths: readonly {
      readonly path: string;
      readonly kind: string;
      readonly symbols: readonly string[];
    }[];
  }[];
}

/** One workspace that `gc` looked at. */
export interface AnswerWorkspace {
  readonly path: string;
  readonly branch: string | null;
  readonly action: 'keep' | 'remove' | 'removed';
  /** The proof that nothing is lost, or why it is kept. */
  readonly reason: string;
  /** Ignored files and folders in it that nothing can make again. */
  readonly ignored: readonly string[];
}

export interface AnswerArchive {
  readonly id: string;
  readonly ref: string;
  readonly commit: string;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly subject: string;
  /** What it holds besides its base; only `archive show` lists it. */
  readonly paths?: readonly string[] | undefined;
}

export interface AnswerOperation {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  /** Short name of the branch that it changes, or null. */
  readonly target: string | null;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly updated: string;
  readonly commit: string | null;
  readonly sources: readonly string[];
}

/** One ref that was moved, or would be; null where it did or does not exist. */
export interface AnswerRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

export interface AnswerSetting {
  readonly key: string;
  /** As `sennit.yaml` would hold it; null for none. */
  readonly value: unknown;
  readonly from: 'default' | 'file' | 'flag';
  readonly where: string;
}

export interface Answer {
  readonly contract_version: typeof CONTRACT_VERSION;
  readonly command: CommandName;
  readonly ok: boolean;
  readonly result: ResultWord;
  /** The landed commit; for a landing that waits for its checkout the commit that would land. */
  readonly commit: string | null;
  readonly tree: string | null;
  /** Short name of the branch that it is about. */
  readonly target: string | null;
  readonly operation: string | null;
  readonly sources: readonly AnswerSource[];
  readonly paths: readonly AnswerPath[];
  readonly conflicts: readonly AnswerConflict[];
  readonly gates: readonly AnswerGate[];
  readonly findings: readonly AnswerFinding[];
  /** Commands to run next, complete, quoted for a POSIX shell. */
  readonly next: readonly string[];
  readonly error: AnswerError | null;
  /** A sentence for people about what came of it. */
  readonly note?: string | undefined;
  /** land, continue, conflicts, status: where conflicts are resolved, and the packet that describes them. */
  readonly handover?: { readonly worktree: string; readonly packet: string } | null | undefined;
  /** land, continue: which sources turn the gate red. */
  readonly culprits?: AnswerCulprits | null | undefined;
  /** land, continue: `remote/branch` that was pushed to. */
  readonly pushed?: string | null | undefined;
  readonly pull_request?: { readonly url: string; readonly created: boolean } | null | undefined;
  readonly forecast?: AnswerForecast | undefined;
  /** status, log. */
  readonly operations?: readonly AnswerOperation[] | undefined;
  /** gc, status. */
  readonly workspaces?: readonly AnswerWorkspace[] | undefined;
  /** archive. */
  readonly archives?: readonly AnswerArchive[] | undefined;
  /** undo, archive restore. */
  readonly refs?: readonly AnswerRef[] | undefined;
  /** config explain. */
  readonly settings?: readonly AnswerSetting[] | undefined;
  /** schema: a JSON Schema. */
  readonly schema?: unknown;
  /** completion, help, version. */
  readonly text?: string | undefined;
}

/** What an answer can say besides its result. */
export type AnswerParts = Partial<Omit<Answer, 'contract_version' | 'command' | 'ok' | 'result'>>;

/** An answer with every field that each must have; what `parts` leaves out is empty. */
export function newAnswer<Name extends CommandName>(
  command: Name,
  result: ResultOf<Name>,
  parts: AnswerParts = {},
): Answer {
  const word: ResultWord = result;
  return {
    contract_version: CONTRACT_VERSION,
    command,
    ok: RESULT_EXITS[word] === EXIT.done,
    result: word,
    commit: null,
    tree: null,
    target: null,
    operation: null,
    sources: [],
    paths: [],
    conflicts: [],
    gates: [],
    findings: [],
    next: [],
    error: null,
    ...parts,
  };
}

/** The word for a failure with this code. */
export function resultOfError(error: Pick<SennitError, 'code' | 'exitCode'>): (typeof FAILURE_WORDS)[number] {
  if (error.code === 'interrupted') return 'interrupted';
  switch (error.exitCode) {
    case EXIT.usage:
      return 'refused';
    case EXIT.conflicts:
      return error.code === 'operation_pending' ? 'pending' : 'conflicts';
    case EXIT.gateRed:
      return 'gate_red';
    case EXIT.busy:
      return 'busy';
    case EXIT.bug:
      return 'bug';
    default:
      return 'failed';
  }
}

/** What `error` of an answer is for a failure. */
export function answerError(error: SennitError): AnswerError {
  const { code, message, hint, retryable, paths } = error;
  return { code, message, hint: hint ?? FALLBACK_HINT, retryable, paths };
}

const FALLBACK_HINT =
  'Nothing is lost. `sennit status` shows how things stand, `sennit doctor` looks for causes.';
