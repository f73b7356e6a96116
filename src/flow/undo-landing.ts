// Taking a landing back: its branch moves from the landing to the commit below it, by the same journalled move as a
// landing, with its checkouts following. In the same transaction the landing goes from its own ref to
// `refs/sennit/undone/<operation>`: so the refs alone say whether it was taken back, and it stays within reach. A
// landing that others can have seen or built on is not taken back: that would need a force.

import { SennitError } from '../model/errors.ts';
import { displayPath, type Oid, type OperationId } from '../model/ids.ts';
import type { Objects, RefUpdate } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import { type Context, OWN_REFS } from './context.ts';
import { type LandData, landedRef, readLandData } from './land-data.ts';
import { applyMove, endMove, type Move, type MovePlan, planMove } from './move-target.ts';
import type { UndoMove } from './undo-data.ts';

export type LandingUndo =
  | { readonly how: 'move'; readonly move: UndoMove; readonly plan: MovePlan & { outcome: 'clear' } }
  | { readonly how: 'delete'; readonly move: UndoMove };

function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** Looks whether a landing can be taken back. Throws `undo_blocked` when not. Changes nothing. */
export async function planLandingUndo(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
): Promise<LandingUndo> {
  const data = readLandData(operation);
  const { landing } = data;
  if (landing === null) throw new TypeError('nothing was landed');
  const ref = landedRef(data);
  const [at] = await context.refs.resolveCommits([ref]);
  await requireTip(objects, ref, at, landing);
  await requireUnpublished(context, objects, data, landing);
  const [parent] = (await objects.readCommit(landing)).parents;
  if (data.options.branch !== null) {
    await requireNotCheckedOut(context, ref);
    return { how: 'delete', move: { ref, from: landing, to: null } };
  }
  if (parent === undefined) throw new TypeError('a landing has a parent');
  const plan = await planMove(context, { ref, from: landing, to: parent });
  if (plan.outcome === 'blocked') {
    throw new SennitError('undo_blocked', `The landing cannot be taken back: ${plan.message}.`, {
      hint: `Commit or move that work away in ${plan.checkout}, then run \`sennit undo\` again; or keep the landing and take it back by \`git revert ${landing}\`.`,
      paths: plan.paths.map(displayPath),
    });
  }
  if (plan.outcome === 'moved') throw movedOn(ref, landing);
  return { how: 'move', move: { ref, from: landing, to: parent }, plan };
}

async function requireTip(objects: Objects, ref: string, at: Oid | undefined, landing: Oid): Promise<void> {
  if (at === landing) return;
  if (at !== undefined && (await objects.isAncestor(landing, at))) throw movedOn(ref, landing);
  throw new SennitError(
    'undo_blocked',
    at === undefined
      ? `The branch ${shortName(ref)} is gone, so there is nothing to take back from it.`
      : `${shortName(ref)} does not contain the landing ${landing.slice(0, 12)} any more: somebody took it back already.`,
    {
      hint: '`sennit log` shows what was done before; name one of those: sennit undo <operation>.',
      next: ['sennit log'],
    },
  );
}

function movedOn(ref: string, landing: Oid): SennitError {
  return new SennitError(
    'undo_blocked',
    `${shortName(ref)} has moved on since the landing ${landing.slice(0, 12)}: what came after it would be lost.`,
    {
      hint: `Take it back by a commit of its own: git revert ${landing}`,
      next: [`git revert ${landing}`],
    },
  );
}

async function requireUnpublished(
  context: Context,
  objects: Objects,
  data: LandData,
  landing: Oid,
): Promise<void> {
  const remote = (await context.refs.listRefs('refs/remotes/')).flatMap(({ commit }) => commit ?? []);
  const [history] = await objects.readHistories([landing], [...new Set(remote)]);
  const seen = remote.length > 0 && history?.commits.includes(landing) !== true;
  if (!data.pushed && !seen) return;
  throw new SennitError(
    'undo_blocked',
    `The landing ${landing.slice(0, 12)} was pushed: others may have it by now.`,
    {
      hint: `Take it back by a commit of its own and push that: git revert ${landing}`,
      next: [`git revert ${landing}`],
    },
  );
}

async function requireNotCheckedOut(context: Context, ref: string): Promise<void> {
  const holder = (await context.refs.listWorktrees()).find(({ branch }) => branch === ref);
  if (holder === undefined) return;
  throw new SennitError('undo_blocked', `${shortName(ref)} is checked out in ${holder.path}.`, {
    hint: `Switch ${holder.path} to another branch, then run \`sennit undo\` again.`,
  });
}

/** The refs that tell that a landing was taken back. */
function tokens(operation: OperationId, landing: Oid, hasLandingRef: boolean): RefUpdate[] {
  return [
    { ref: OWN_REFS.undone(operation), to: landing, from: null },
    ...(hasLandingRef ? [{ ref: OWN_REFS.landing(operation), to: null, from: landing }] : []),
  ];
}

/** Applies the plan, under the target's lock. `journal` writes the intention down, and onto the disk. Throws
 * `undo_blocked` when the branch moved meanwhile; nothing has changed then. */
export async function applyLandingUndo(
  context: Context,
  operation: OperationId,
  undo: LandingUndo,
  journal: () => void,
): Promise<void> {
  const { ref, from, to } = undo.move;
  const [own] = await context.refs.resolveCommits([OWN_REFS.landing(operation)]);
  const also = tokens(operation, from, own === from);
  const reason = `sennit: undo ${operation}`;
  if (undo.how === 'move' && to !== null) {
    const outcome = await applyMove(context, { ref, from, to }, undo.plan, {
      reason,
      also,
      journal: async () => journal(),
    });
    if (outcome.outcome === 'moved') throw movedOn(ref, from);
    return;
  }
  journal();
  const outcome = await context.refs.updateRefs([{ ref, to: null, from }, ...also], reason);
  if (outcome.outcome === 'moved') throw movedOn(ref, from);
}

/** After a crash: true when the landing was taken back, with the checkouts brought along. Throws as `endMove`. */
export async function endLandingUndo(
  context: Context,
  operation: OperationId,
  { ref, from, to }: UndoMove,
): Promise<boolean> {
  if (!(await isTakenBack(context, operation))) return false;
  if (to !== null) {
    const move: Move = { ref, from, to };
    await endMove(context, move, async () => true);
  }
  return true;
}

/** True when the refs say that a landing was taken back. */
export async function isTakenBack(context: Context, operation: OperationId): Promise<boolean> {
  const [token] = await context.refs.resolveCommits([OWN_REFS.undone(operation)]);
  return token !== undefined;
}
