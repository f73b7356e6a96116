// `sennit status`: what waits or runs and which command comes next, the worktrees, the last landing. It must answer at
// once and also where nothing may be written: no snapshot is taken, and the ledger is only read.

import { SennitError } from '../model/errors.ts';
import type { Oid, OperationId } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import { type Context, OWN_REFS } from './context.ts';
import { readLandData } from './land-data.ts';
import { describeOperation, type LogEntry } from './log.ts';
import { tryHoldOperation } from './operation-lock.ts';
import { findScratchOwner } from './own-folders.ts';

export interface StatusOperation extends LogEntry {
  /** `interrupted`: its process is dead; the next command that changes something ends it. */
  readonly phase: 'running' | 'waiting' | 'interrupted';
  /** What it waits for, as a sentence; null for one that runs. */
  readonly waitsFor: string | null;
  /** Where its conflicts are resolved. */
  readonly handover: { readonly worktree: string; readonly packet: string } | null;
  /** Paths of its open conflicts as git has them are in the packet; this is their number. */
  readonly conflicts: number;
  readonly next: readonly string[];
}

export interface StatusWorktree {
  readonly path: string;
  readonly branch: string | null;
  readonly head: Oid | null;
  readonly primary: boolean;
  readonly locked: boolean;
  /** `missing`: its folder is not there; `unlinked`: its `.git` file is lost; `unknown`: not looked at. */
  readonly state: 'clean' | 'dirty' | 'missing' | 'unlinked' | 'unknown';
  /** The last landing that it was a source of. */
  readonly landed: OperationId | null;
  /** True when it holds nothing since that landing, as far as that is known without a snapshot. */
  readonly settled: boolean;
}

export interface StatusReport {
  readonly result: 'idle' | 'waiting' | 'running';
  /** Short name of the branch that is checked out here; null when none is. */
  readonly branch: string | null;
  readonly operations: readonly StatusOperation[];
  readonly worktrees: readonly StatusWorktree[];
  readonly lastLanding: LogEntry | null;
  readonly next: readonly string[];
}

/** Worktrees that are looked at for uncommitted work; with more, none of the linked ones is. */
const MOST_LOOKED = 32;
/** How many are looked at at a time. */
const PARALLEL = 4;
/** Landings that are looked through, newest first. */
const HORIZON = 200;

/** How things stand. */
export async function readStatus(context: Context): Promise<StatusReport> {
  const reader = context.readLedger();
  const [all, live] = [
    await context.refs.listWorktrees(),
    reader?.listOperations({ states: ['running', 'pending'] }) ?? [],
  ];
  const landings = reader?.listOperations({ kinds: ['land'], states: ['done'], limit: HORIZON }) ?? [];
  const worktrees = all.filter(({ path }) => findScratchOwner(context, path) === undefined);
  const operations: StatusOperation[] = [];
  for (const operation of live) operations.push(await describeLive(context, operation));
  const last = landings.find((operation) => readLandData(operation).landing !== null);
  return {
    result: resultOf(operations),
    branch:
      all.find(({ adminDir }) => adminDir === context.place.gitDir)?.branch?.replace(/^refs\/heads\//, '') ??
      null,
    operations,
    worktrees: await describeWorktrees(context, worktrees, landings),
    lastLanding: last === undefined ? null : describeOperation(last),
    next: operations.flatMap(({ next }) => next),
  };
}

function resultOf(operations: readonly StatusOperation[]): StatusReport['result'] {
  if (operations.some(({ phase }) => phase === 'waiting')) return 'waiting';
  return operations.some(({ phase }) => phase === 'running') ? 'running' : 'idle';
}

async function describeLive(context: Context, operation: OperationRecord): Promise<StatusOperation> {
  const common = { ...describeOperation(operation), waitsFor: null, handover: null, conflicts: 0, next: [] };
  if (operation.state === 'running') {
    return (await isHeld(context, operation.id))
      ? { ...common, phase: 'running' }
      : { ...common, phase: 'interrupted', waitsFor: 'the next command, which ends it' };
  }
  const { merge, handover } = readLandData(operation);
  const { id } = operation;
  const next = [`sennit continue --operation ${id}`, `sennit abort --operation ${id}`];
  const open = merge?.open ?? null;
  if (open === null) {
    const waitsFor = `its checkout to be free; it is merged and kept as ${OWN_REFS.candidate(id)}`;
    return { ...common, phase: 'waiting', waitsFor, next };
  }
  const left = open.conflicts.length - open.resolved.length;
  return {
    ...common,
    phase: 'waiting',
    waitsFor: `${left} of ${open.conflicts.length} conflict${open.conflicts.length === 1 ? '' : 's'} with ${open.source} to be resolved`,
    handover: handover === null ? null : { worktree: handover.worktree, packet: handover.packet },
    conflicts: left,
    next: [`sennit conflicts --operation ${id}`, ...next],
  };
}

/** Whether a process works on an operation; true also where that cannot be asked, since nothing may be written. */
async function isHeld(context: Context, operation: OperationId): Promise<boolean> {
  try {
    const lock = await tryHoldOperation(context, operation);
    lock?.release();
    return lock === undefined;
  } catch (error) {
    if (error instanceof SennitError) return true;
    throw error;
  }
}

async function describeWorktrees(
  context: Context,
  worktrees: readonly WorktreeInfo[],
  landings: readonly OperationRecord[],
): Promise<StatusWorktree[]> {
  const landed = new Map<string, { operation: OperationId; snapshot: Oid }>();
  for (const operation of landings) {
    for (const { identity, snapshot } of readLandData(operation).sources) {
      if (!landed.has(identity)) landed.set(identity, { operation: operation.id, snapshot });
    }
  }
  const described: StatusWorktree[] = new Array(worktrees.length);
  const queue = [...worktrees.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, worktree] = next;
      const last = landed.get(worktree.path);
      const state = await stateOf(context, worktree, worktree.primary || worktrees.length <= MOST_LOOKED);
      described[i] = {
        path: worktree.path,
        branch: worktree.branch?.replace(/^refs\/heads\//, '') ?? null,
        head: worktree.head,
        primary: worktree.primary,
        locked: worktree.locked !== null,
        state,
        landed: last?.operation ?? null,
        settled: last !== undefined && state === 'clean' && last.snapshot === worktree.head,
      };
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return described;
}

async function stateOf(
  context: Context,
  worktree: WorktreeInfo,
  look: boolean,
): Promise<StatusWorktree['state']> {
  if (!worktree.exists) return 'missing';
  if (!worktree.linked) return 'unlinked';
  if (!look) return 'unknown';
  try {
    return (await context.checkouts.listDirty(worktree)).length > 0 ? 'dirty' : 'clean';
  } catch (error) {
    if (error instanceof SennitError) return 'unknown'; // half-made, or unreadable: `doctor` says what is wrong
    throw error;
  }
}
