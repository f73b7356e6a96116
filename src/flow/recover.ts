// Recovery: every command that changes something begins by looking for operations whose process is dead. What a dead
// process had begun is finished where that is the shorter way, else rolled back, which means that nothing has changed;
// what only waited for a person goes on waiting. The ledger says what was begun, refs and folders say how far it came:
// where they differ, the ledger is wrong.

import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import type { OperationId } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import type { HeldLock, OperationRecord } from '../ports/ledger.ts';
import type { Context } from './context.ts';
import { tryHoldOperation } from './operation-lock.ts';
import { endLanding, type LandingEnd } from './recover-landing.ts';
import { endCleanUp, endRestore, endUndoing } from './recover-workspaces.ts';
import { readUndoData } from './undo-data.ts';

export interface Recovered {
  readonly operation: OperationRecord;
  /** `stuck`: something stands in the way; the next command tries again. */
  readonly end: LandingEnd | 'stuck';
  /** What stands in the way; null otherwise. */
  readonly error: SennitError | null;
}

/** How long another process may hold a lock that recovery needs, before it is left to a later command. Milliseconds. */
const LOCK_WAIT = 10_000;

/** Ends what dead processes left. Cheap where there is nothing: one query. An operation whose lock can be had has no
 * process that works on it. */
export async function recover(context: Context): Promise<Recovered[]> {
  const running = context.readLedger()?.listOperations({ states: ['running'] }) ?? [];
  const recovered: Recovered[] = [];
  // Oldest first: what is being undone was begun before its undo.
  for (const { id } of running.reverse()) {
    const held = await tryHoldOperation(context, id);
    if (held === undefined) continue;
    try {
      recovered.push(...(await takeUp(context, id)));
    } finally {
      held.release();
    }
  }
  return recovered;
}

async function takeUp(context: Context, id: OperationId): Promise<Recovered[]> {
  const locks: HeldLock[] = [];
  let objects: Objects | undefined;
  // Read under the lock: its process may have ended it just now.
  const operation = context.ledger().findOperation(id);
  if (operation?.state !== 'running') return [];
  try {
    for (const name of lockNames(operation)) locks.push(await context.locks.acquire(name, LOCK_WAIT));
    context.ledger().claimOperation(operation.id, operation.owner, context.process);
    objects = await context.openObjects({ quarantine: false });
    return [{ operation, end: await endOperation(context, objects, operation), error: null }];
  } catch (error) {
    if (!(error instanceof SennitError) || error.code === 'internal_bug') throw error;
    // Another process is at work: whichever command comes next does it.
    return error.code === 'repository_busy' ? [] : [{ operation, end: 'stuck', error }];
  } finally {
    await objects?.close();
    for (const lock of locks) lock.release();
  }
}

/** The locks under which an operation does its work, in the order in which all processes take them. */
function lockNames({ kind, target, data }: OperationRecord): string[] {
  if (kind !== 'land') {
    const move = kind === 'undo' ? readUndoData({ data }).move : null;
    return ['workspaces', ...(move === null ? [] : [`target ${target}`])];
  }
  const { moving } = data as { readonly moving?: readonly unknown[] };
  return moving === undefined || moving.length === 0 ? [] : [`target ${target}`];
}

function endOperation(context: Context, objects: Objects, operation: OperationRecord): Promise<LandingEnd> {
  switch (operation.kind) {
    case 'land':
      return endLanding(context, objects, operation);
    case 'gc':
      return endCleanUp(context, operation);
    case 'restore':
      return endRestore(context, operation);
    case 'undo':
      return endUndoing(context, operation);
  }
}

/** What recovery did, for the user of the command that came next. */
export function recoveryFindings(recovered: readonly Recovered[]): Finding[] {
  return recovered.map(({ operation: { kind, id }, end, error }) => ({
    check: end === 'stuck' ? 'operation_stuck' : 'operation_recovered',
    severity: end === 'stuck' ? 'error' : 'info',
    message: {
      finished: `The interrupted ${kind} ${id} was finished.`,
      'rolled-back': `The interrupted ${kind} ${id} was rolled back: nothing had changed.`,
      waiting: `The interrupted ${kind} ${id} waits for you: sennit conflicts.`,
      stuck: `The interrupted ${kind} ${id} could not be ended: ${error?.message}`,
    }[end],
    ...(error?.hint === undefined ? {} : { remedy: error.hint }),
    ...(error === null || error.paths.length === 0 ? {} : { paths: error.paths }),
  }));
}
