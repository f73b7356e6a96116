import type { OperationId } from '../model/ids.ts';

/** What an operation is about. */
export type OperationKind = 'land' | 'gc' | 'undo' | 'restore';

/** Where an operation is in its life. `pending` waits for a person (conflicts, a dirty checkout); `running` has a
 * process; the others are final. `undone` was taken back by a later `undo`. */
export type OperationState = 'running' | 'pending' | 'done' | 'failed' | 'aborted' | 'undone';

/** Identifies a process beyond the reuse of its pid: the start time as the system reports it. */
export interface ProcessMark {
  readonly pid: number;
  readonly started: string;
}

export interface OperationRecord {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly state: OperationState;
  /** Full ref name of the branch that it changes, where it changes one. */
  readonly target: string | null;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly updated: string;
  readonly owner: ProcessMark;
  /** All that a later process needs to go on or to roll back; its shape belongs to the flow of `kind`. */
  readonly data: unknown;
}

/** One thing that happened. `type` is `noun.verb` in the past tense; `data` is JSON. Events are never changed. */
export interface LedgerEvent {
  readonly seq: number;
  readonly at: string;
  readonly operation: OperationId | null;
  readonly type: string;
  readonly data: unknown;
}

export interface Verdict {
  readonly tree: string;
  readonly command: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly at: string;
}

/** The reading half of the ledger: for commands that change nothing, also where nothing may be written. */
export interface LedgerReader {
  findOperation(id: OperationId): OperationRecord | undefined;
  /** Newest first. `states` and `kinds` filter where given. */
  listOperations(filter?: {
    readonly states?: readonly OperationState[];
    readonly kinds?: readonly OperationKind[];
    readonly target?: string;
    readonly limit?: number;
  }): OperationRecord[];
  /** Oldest first. */
  listEvents(operation: OperationId): LedgerEvent[];
  findVerdict(tree: string, command: string): Verdict | undefined;
  /** Reads the whole file and says what is wrong with it, one sentence a fault; empty when it is sound. */
  findDamage(): string[];
  close(): void;
}

/** The durable record. What git holds is read from git; the ledger holds what git cannot: who, when, why,
 * how far. All methods are synchronous: SQLite is. Any of them may throw `ledger_broken`, `ledger_newer` or
 * `repository_busy`, and those that write `repository_readonly` or `disk_full`; then nothing has been written. */
export interface Ledger extends LedgerReader {
  /** Creates the operation in state `running` and its `operation.started` event in one transaction. */
  createOperation(op: Omit<OperationRecord, 'created' | 'updated' | 'state'>): void;
  /** Appends one event and, where given, changes the operation's state, data or owner, in one transaction. With
   * `durable` the transaction, and all before it, is on the disk when this returns (a full sync); otherwise it
   * survives a crash of the process but perhaps not of the machine. Throws `operation_unknown`. */
  append(
    event: { readonly operation: OperationId | null; readonly type: string; readonly data?: unknown },
    change?: {
      readonly state?: OperationState;
      readonly data?: unknown;
      readonly owner?: ProcessMark;
      readonly durable?: boolean;
    },
  ): void;
  /** Takes over a `running` or `pending` operation whose owner is dead, with an `operation.claimed` event, durable:
   * true when `to` now owns it, false when another process did so first or it came to its end (compare-and-swap on
   * the owner). Whether the owner is dead is for the caller to know. */
  claimOperation(id: OperationId, from: ProcessMark, to: ProcessMark): boolean;
  /** Replaces an earlier verdict on the same tree and command. */
  saveVerdict(verdict: Omit<Verdict, 'at'>): void;
}

/** A lock that the kernel frees at once when its process dies, however it dies. */
export interface HeldLock {
  /** May be called more than once. */
  release(): void;
}

export interface Locks {
  /** Waits up to `waitMs` (0: does not wait) for the lock `name` (any text) of this repository, without blocking
   * the event loop. Not reentrant: the same process waits for itself. Throws `repository_busy`. */
  acquire(name: string, waitMs: number): Promise<HeldLock>;
  /** Removes what stands on the disk for a name that nobody will ever ask for again, such as that of an operation that
   * has ended. Two processes could hold a lock that is still asked for. */
  retire(name: string): void;
}
