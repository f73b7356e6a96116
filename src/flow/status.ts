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
  /** `missing`: its folder is not there; `unlinked`: its `.git` file is lost. Work in it is not looked for. */
  readonly state: 'present' | 'missing' | 'unlinked';
  /** The last landing that it was a source of. */
  readonly landed: OperationId | null;
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

/** Landings that are looked through, newest first. */
const HORIZON = 200;

/** What a status reads: little, so that it starts fast. */
export type StatusContext = Pick<Context, 'place' | 'refs' | 'readLedger' | 'locks' | 'gateRoot'>;

/** How things stand. */
export async function readStatus(context: StatusContext): Promise<StatusReport> {
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
    worktrees: describeWorktrees(worktrees, landings),
    lastLanding: last === undefined ? null : describeOperation(last),
    next: operations.flatMap(({ next }) => next),
  };
}

function resultOf(operations: readonly StatusOperation[]): StatusReport['result'] {
  if (operations.some(({ phase }) => phase === 'waiting')) return 'waiting';
  return operations.some(({ phase }) => phase === 'running') ? 'running' : 'idle';
}

async function describeLive(context: StatusContext, operation: OperationRecord): Promise<StatusOperation> {
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
    const waitsFor = `you: it is merged and kept as ${OWN_REFS.candidate(id)}; what stopped it was said then, and \`sennit continue\` tries again`;
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
async function isHeld(context: StatusContext, operation: OperationId): Promise<boolean> {
  try {
    const lock = await tryHoldOperation(context, operation);
    lock?.release();
    return lock === undefined;
  } catch (error) {
    if (error instanceof SennitError) return true;
    throw error;
  }
}

function describeWorktrees(
  worktrees: readonly WorktreeInfo[],
  landings: readonly OperationRecord[],
): StatusWorktree[] {
  const landed = new Map<string, OperationId>();
  for (const operation of landings) {
    for (const { identity } of readLandData(operation).sources) {
      if (!landed.has(identity)) landed.set(identity, operation.id);
    }
  }
  return worktrees.map((worktree) => {
    const last = landed.get(worktree.path);
    return {
      path: worktree.path,
      branch: worktree.branch?.replace(/^refs\/heads\//, '') ?? null,
      head: worktree.head,
      primary: worktree.primary,
      locked: worktree.locked !== null,
      state: stateOf(worktree),
      landed: last ?? null,
    };
  });
}

/** What is seen without reading the worktree: `land --dry-run` and `git status` look further. */
function stateOf({ exists, linked }: WorktreeInfo): StatusWorktree['state'] {
  if (!exists) return 'missing';
  return linked ? 'present' : 'unlinked';
}
