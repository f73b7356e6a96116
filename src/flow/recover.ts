// Recovery: every command begins by looking for operations whose process is dead. A landing whose branch has moved is
// finished; one whose branch has not is rolled back, which means that nothing had changed; one that only waited for a
// person goes on waiting. The ledger says what was begun, the refs say how far it came: where they differ, the refs win.

import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../model/finding.ts';
import type { Objects } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import type { Context } from './context.ts';
import { closeScratch } from './hand-over.ts';
import { type LandData, readLandData } from './land-data.ts';
import { endMove, type Move } from './move-target.ts';
import { tryHoldOperation } from './operation-lock.ts';

export interface Recovered {
  readonly operation: OperationRecord;
  readonly end: 'finished' | 'rolled-back' | 'waiting';
}

/** How long a git process that outlived its parent may still hold a lock. Milliseconds. */
const LOCK_GRACE = 2_000;

/** Ends what dead processes left. Cheap where there is nothing: one query. An operation whose lock can be had has no
 * process that works on it. */
export async function recover(context: Context): Promise<Recovered[]> {
  const running = context.ledger().listOperations({ states: ['running'] });
  const recovered: Recovered[] = [];
  for (const { id } of running.reverse()) {
    const held = await tryHoldOperation(context, id);
    if (held === undefined) continue;
    try {
      // Read again under the lock: its process may have ended it just now.
      const operation = context.ledger().findOperation(id);
      if (operation?.state === 'running') recovered.push(await takeUp(context, operation));
    } finally {
      held.release();
    }
  }
  return recovered;
}

async function takeUp(context: Context, operation: OperationRecord): Promise<Recovered> {
  context.ledger().claimOperation(operation.id, operation.owner, context.process);
  const { moving } = readMoves(operation);
  const lock =
    moving.length === 0 ? undefined : await context.locks.acquire(`target ${operation.target}`, 60_000);
  const objects = await context.openObjects({ quarantine: false });
  try {
    return await recoverOne(context, objects, operation, moving);
  } finally {
    await objects.close();
    lock?.release();
  }
}

function readMoves(operation: OperationRecord): { moving: readonly Move[] } {
  const data = operation.data as { moving?: readonly Move[] } | null;
  return { moving: data?.moving ?? [] };
}

async function recoverOne(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
  moving: readonly Move[],
): Promise<Recovered> {
  let end: 'finished' | 'rolled-back' = 'rolled-back';
  for (const move of moving) {
    await clearLocks(context, move);
    end = await endMove(context, move, (ancestor, tip) => objects.isAncestor(ancestor, tip));
  }
  if (operation.kind === 'land') return recoverLanding(context, operation, readLandData(operation), end);
  const state = end === 'finished' ? 'done' : 'failed';
  context
    .ledger()
    .append(
      { operation: operation.id, type: 'operation.recovered', data: { end } },
      { state, durable: true },
    );
  return { operation, end };
}

async function recoverLanding(
  context: Context,
  operation: OperationRecord,
  data: LandData,
  end: 'finished' | 'rolled-back',
): Promise<Recovered> {
  const [move] = data.moving;
  const type = 'operation.recovered';
  if (end === 'finished' && move !== undefined) {
    context
      .ledger()
      .append(
        { operation: operation.id, type, data: { end } },
        { state: 'done', data: { ...data, landing: move.to, moving: [] }, durable: true },
      );
    await dropScratch(context, operation, data);
    return { operation, end };
  }
  // Conflicts were handed over and the record of that was cut short: they are still there to be resolved.
  if (data.handover !== null && data.merge?.open != null) {
    context
      .ledger()
      .append(
        { operation: operation.id, type, data: { end: 'waiting' } },
        { state: 'pending', durable: true },
      );
    return { operation, end: 'waiting' };
  }
  // A pushed landing is public: its local branch follows when it is landed or pulled again.
  context
    .ledger()
    .append(
      { operation: operation.id, type, data: { end } },
      { state: 'failed', data: { ...data, moving: [] }, durable: true },
    );
  await dropScratch(context, operation, data);
  return { operation, end };
}

/** Scratch worktrees of an operation that nobody works on any more: for conflicts, for gates. */
async function dropScratch(context: Context, operation: OperationRecord, data: LandData): Promise<void> {
  if (data.handover !== null) await closeScratch(context, data.handover);
  const folders = [
    join(context.gateRoot, operation.id),
    join(context.place.stateDir, 'operations', operation.id, 'worktree'),
  ];
  for (const worktree of await context.refs.listWorktrees()) {
    if (folders.some((folder) => worktree.path === folder || worktree.path.startsWith(`${folder}/`))) {
      if (worktree.exists) await context.checkouts.removeScratch(worktree.path);
      else await context.checkouts.forgetWorktree(worktree.adminDir);
    }
  }
  await rm(join(context.gateRoot, operation.id), { recursive: true, force: true });
}

/** Removes ref and index locks that the journal names and whose owner is dead, after a moment for a git process that
 * may have outlived it. */
async function clearLocks(context: Context, move: Move): Promise<void> {
  const { commonDir } = context.place;
  const checkouts = (await context.refs.listWorktrees()).filter(({ branch }) => branch === move.ref);
  const locks = [
    join(commonDir, `${move.ref}.lock`),
    ...checkouts.map(({ adminDir }) => join(adminDir, 'index.lock')),
  ];
  const present = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const lock of locks) if ((await lstat(lock).catch(() => undefined)) !== undefined) found.push(lock);
    return found;
  };
  if ((await present()).length === 0) return;
  await context.clock.sleep(LOCK_GRACE);
  for (const lock of await present()) await rm(lock, { force: true });
}

/** What recovery did, for the user of the command that came next. */
export function recoveryFindings(recovered: readonly Recovered[]): Finding[] {
  return recovered.map(({ operation, end }) => ({
    check: 'operation_recovered',
    severity: 'info',
    message: {
      finished: `The interrupted ${operation.kind} ${operation.id} was finished.`,
      'rolled-back': `The interrupted ${operation.kind} ${operation.id} was rolled back: nothing had changed.`,
      waiting: `The interrupted ${operation.kind} ${operation.id} waits for you: sennit conflicts.`,
    }[end],
  }));
}
