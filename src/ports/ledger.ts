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

/** The durable record. What git holds is read from git; the ledger holds what git cannot: who, when, why,
 * how far. All methods are synchronous: SQLite is. */
export interface Ledger {
  /** Creates the operation in state `running` and its `operation.started` event in one transaction. */
  createOperation(op: Omit<OperationRecord, 'created' | 'updated' | 'state'>): void;
  findOperation(id: OperationId): OperationRecord | undefined;
  /** Newest first. `states` and `kinds` filter where given. */
  listOperations(filter?: {
    readonly states?: readonly OperationState[];
    readonly kinds?: readonly OperationKind[];
    readonly target?: string;
    readonly limit?: number;
  }): OperationRecord[];
  /** Appends one event and, where given, changes the operation's state, data or owner, in one transaction. With
   * `durable` the transaction is on the disk when this returns (a full sync), otherwise it survives a crash of
   * the process but perhaps not of the machine. */
  append(
    event: { readonly operation: OperationId | null; readonly type: string; readonly data?: unknown },
    change?: { readonly state?: OperationState; readonly data?: unknown; readonly owner?: ProcessMark; readonly durable?: boolean },
  ): void;
  /** Takes over an operation whose owner is dead: true when this process now owns it, false when another did so
   * first (compare-and-swap on the owner). */
  claimOperation(id: OperationId, from: ProcessMark, to: ProcessMark): boolean;
  listEvents(operation: OperationId): LedgerEvent[];
  findVerdict(tree: string, command: string): Verdict | undefined;
  saveVerdict(verdict: Omit<Verdict, 'at'>): void;
  close(): void;
}

/** A lock that a dead process frees at once. */
export interface HeldLock {
  release(): void;
}

export interface Locks {
  /** Waits up to `waitMs` for the lock `name` (any text) of this repository. Throws `repository_busy`. */
  acquire(name: string, waitMs: number): Promise<HeldLock>;
}
