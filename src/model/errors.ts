// Every expected failure of Sennit is a SennitError: a code that programs may rely on, a message for people,
// a hint with the way out, and whether trying again can help. One place (src/cli/failure.ts) turns it into
// text or JSON and an exit code. Codes are enumerated here, follow `noun_problem`, and are never reused.

/** Exit codes of the command. Source: the design's table; 128+n is used for signal n. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  conflicts: 3,
  gateRed: 4,
  busy: 5,
  bug: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Each error code with the exit code that it leads to. */
export const ERROR_CODES = {
  // wrong usage, configuration or place
  usage_wrong: EXIT.usage,
  config_invalid: EXIT.usage,
  repository_missing: EXIT.usage,
  repository_empty: EXIT.usage,
  repository_readonly: EXIT.failed,
  repository_shallow: EXIT.failed,
  object_missing: EXIT.failed,
  disk_full: EXIT.failed,
  git_missing: EXIT.failed,
  git_too_old: EXIT.failed,
  git_failed: EXIT.failed,
  platform_unsupported: EXIT.failed,
  identity_missing: EXIT.usage,
  // sources and targets
  source_unknown: EXIT.usage,
  source_ambiguous: EXIT.usage,
  source_foreign: EXIT.usage,
  source_gone: EXIT.failed,
  source_unlinked: EXIT.failed,
  source_is_target: EXIT.usage,
  source_unrelated: EXIT.failed,
  source_markers: EXIT.failed,
  target_unknown: EXIT.usage,
  target_detached: EXIT.usage,
  target_exists: EXIT.usage,
  target_dirty: EXIT.failed,
  target_moved: EXIT.busy,
  target_diverged: EXIT.failed,
  // snapshots
  snapshot_incomplete: EXIT.failed,
  snapshot_unstable: EXIT.busy,
  // merging and landing
  conflict_pending: EXIT.conflicts,
  conflict_unresolved: EXIT.conflicts,
  conflict_unknown: EXIT.usage,
  regenerate_failed: EXIT.failed,
  gate_red: EXIT.gateRed,
  landing_refused: EXIT.failed,
  primary_changed: EXIT.failed,
  merge_failed: EXIT.failed,
  push_rejected: EXIT.busy,
  push_failed: EXIT.failed,
  remote_missing: EXIT.usage,
  pull_request_failed: EXIT.failed,
  hook_failed: EXIT.failed,
  // operations, archives, the ledger
  operation_unknown: EXIT.usage,
  operation_none: EXIT.usage,
  operation_pending: EXIT.conflicts,
  undo_blocked: EXIT.failed,
  archive_unknown: EXIT.usage,
  restore_blocked: EXIT.failed,
  workspace_unproved: EXIT.failed,
  repository_unhealthy: EXIT.failed,
  ledger_newer: EXIT.failed,
  ledger_broken: EXIT.failed,
  repository_busy: EXIT.busy,
  interrupted: EXIT.failed,
  internal_bug: EXIT.bug,
} as const satisfies Record<string, ExitCode>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  /** What the user can do, as a sentence; commands in it are complete. */
  readonly hint?: string;
  /** True when the same call may succeed later without anything being changed. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** Paths (for display) that the error is about. */
  readonly paths?: readonly string[];
  /** Commands to run next, with the ids filled in. */
  readonly next?: readonly string[];
}

/** An expected failure. `code` is stable; `message` and `hint` are for people. */
export class SennitError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly paths: readonly string[];
  readonly next: readonly string[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SennitError';
    this.code = code;
    this.hint = details.hint;
    this.retryable = details.retryable ?? ERROR_CODES[code] === EXIT.busy;
    this.paths = details.paths ?? [];
    this.next = details.next ?? [];
  }

  get exitCode(): ExitCode {
    return ERROR_CODES[this.code];
  }
}
