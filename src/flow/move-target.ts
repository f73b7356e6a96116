// Moving a branch so that a crash at any point can be finished or rolled back, and two orchestrators never lose each
// other's work. In this order: look whether every checkout of the branch can follow; write the intention into the
// ledger and sync it; move the ref by compare-and-swap; bring the checkouts forward; write down that it is done. Only
// one process at a time does this for a branch, and the compare-and-swap holds even without the lock.

import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { RefUpdate } from '../ports/git.ts';
import type { Context } from './context.ts';

export interface Move {
  /** Full name of the branch. */
  readonly ref: string;
  /** null: the branch must not exist yet. */
  readonly from: Oid | null;
  readonly to: Oid;
}

export type MovePlan =
  | { readonly outcome: 'clear'; readonly checkouts: readonly WorktreeInfo[] }
  | { readonly outcome: 'moved'; readonly at: Oid | null }
  | {
      readonly outcome: 'blocked';
      readonly message: string;
      readonly paths: readonly GitPath[];
      readonly checkout: string;
    };

/** Looks whether a branch is where it should be and every checkout of it can follow. Changes nothing. */
export async function planMove(context: Context, move: Move): Promise<MovePlan> {
  const [at] = await context.refs.resolveCommits([move.ref]);
  if ((at ?? null) !== move.from) return { outcome: 'moved', at: at ?? null };
  if (move.from === null) return { outcome: 'clear', checkouts: [] };
  const all = (await context.refs.listWorktrees()).filter((worktree) => worktree.branch === move.ref);
  const lost = all.find(({ primary, exists }) => primary && !exists);
  if (lost !== undefined) {
    return {
      outcome: 'blocked',
      paths: [],
      checkout: lost.path,
      message: `${move.ref} is checked out in the primary checkout of ${context.place.commonDir}, whose place is not known here: run the command there`,
    };
  }
  const checkouts = all.filter(({ exists }) => exists);
  for (const checkout of checkouts) {
    const plan = await context.checkouts.planAdvance(checkout, move.from, move.to);
    if (plan.outcome === 'blocked') return { ...plan, checkout: checkout.path };
  }
  return { outcome: 'clear', checkouts };
}

export type MoveOutcome = { readonly outcome: 'done' } | { readonly outcome: 'moved' };

/** Applies a clear plan. `journal` writes down the intention before anything moves and must sync it to the disk; it may
 * do what has to come first (a push). `also` are other refs that move with the branch or not at all. */
export async function applyMove(
  context: Context,
  move: Move,
  plan: MovePlan & { outcome: 'clear' },
  how: { readonly reason: string; readonly also: readonly RefUpdate[]; journal(): Promise<void> },
): Promise<MoveOutcome> {
  await how.journal();
  const outcome = await context.refs.updateRefs(
    [{ ref: move.ref, to: move.to, from: move.from }, ...how.also],
    how.reason,
  );
  if (outcome.outcome === 'moved') return { outcome: 'moved' };
  context.journalPoint('target-moved');
  await followCheckouts(context, move, plan.checkouts);
  context.journalPoint('checkout-advanced');
  return { outcome: 'done' };
}

async function followCheckouts(
  context: Context,
  { from, to }: Move,
  checkouts: readonly WorktreeInfo[],
): Promise<void> {
  if (from === null) return;
  for (const checkout of checkouts) await context.checkouts.advance(checkout, from, to);
}

export type MoveEnd = 'finished' | 'rolled-back';

/** After a crash: where the ref has moved, its checkouts follow; where it has not, nothing was changed. Throws
 * `target_dirty` when a checkout was changed by somebody since. */
export async function endMove(
  context: Context,
  move: Move,
  contains: (ancestor: Oid, tip: Oid) => Promise<boolean>,
): Promise<MoveEnd> {
  const [at] = await context.refs.resolveCommits([move.ref]);
  if (at === undefined || at === move.from || !(await contains(move.to, at))) return 'rolled-back';
  // Later landings stand on this one only after it was ended, so a checkout can lack at most this move.
  if (at === move.to && move.from !== null) {
    for (const checkout of await context.refs.listWorktrees()) {
      if (checkout.branch !== move.ref || !checkout.exists) continue;
      const plan = await context.checkouts.finishAdvance(checkout, move.from, move.to);
      if (plan.outcome === 'blocked') {
        throw new SennitError(
          'target_dirty',
          `${move.ref} has moved to ${move.to.slice(0, 12)}, but its checkout ${checkout.path} could not follow: ${plan.message}`,
          {
            hint: `Everything landed is safe on ${move.ref}. In ${checkout.path}, \`git status\` shows what differs.`,
            paths: plan.paths.map(displayPath),
          },
        );
      }
    }
  }
  return 'finished';
}
