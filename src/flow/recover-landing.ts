// Ending a landing whose process is dead. Where its branch has moved it is finished: checkouts follow, the record is
// written. Where it has not, nothing of the user's had changed; conflicts that were handed over go on waiting.

import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Objects } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import type { Context } from './context.ts';
import { closeScratch } from './hand-over.ts';
import { type LandData, readLandData } from './land-data.ts';
import { endMove } from './move-target.ts';

export type LandingEnd = 'finished' | 'rolled-back' | 'waiting';

/** How long a git process that outlived its parent may still hold a lock. Milliseconds. */
const LOCK_GRACE = 2_000;

/** Ends a dead landing, under its target's lock. Throws `target_dirty` when a checkout cannot follow. */
export async function endLanding(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
): Promise<LandingEnd> {
  const data = readLandData(operation);
  let end: 'finished' | 'rolled-back' = 'rolled-back';
  for (const move of data.moving) {
    await clearLocks(context, move.ref);
    end = await endMove(context, move, (ancestor, tip) => objects.isAncestor(ancestor, tip));
  }
  return recoverLanding(context, operation, data, end);
}

async function recoverLanding(
  context: Context,
  operation: OperationRecord,
  data: LandData,
  end: 'finished' | 'rolled-back',
): Promise<LandingEnd> {
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
    return end;
  }
  // Conflicts were handed over and the record of that was cut short: they are still there to be resolved.
  if (data.handover !== null && data.merge?.open != null) {
    context
      .ledger()
      .append(
        { operation: operation.id, type, data: { end: 'waiting' } },
        { state: 'pending', durable: true },
      );
    return 'waiting';
  }
  // A pushed landing is public: its local branch follows when it is landed or pulled again.
  context
    .ledger()
    .append(
      { operation: operation.id, type, data: { end } },
      { state: 'failed', data: { ...data, moving: [] }, durable: true },
    );
  await dropScratch(context, operation, data);
  return end;
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

/** Removes ref and index locks of a branch that the journal names and whose owner is dead, after a moment for a git process that
 * may have outlived it. */
export async function clearLocks(context: Context, ref: string): Promise<void> {
  const { commonDir } = context.place;
  const checkouts = (await context.refs.listWorktrees()).filter(({ branch }) => branch === ref);
  const locks = [
    join(commonDir, `${ref}.lock`),
    ...checkouts.flatMap(({ adminDir }) => ['HEAD.lock', 'index.lock'].map((name) => join(adminDir, name))),
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
