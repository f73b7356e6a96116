// Ending a landing whose process is dead. Where its branch has moved it is finished: checkouts follow, the record is
// written. Where it has not, nothing of the user's had changed; conflicts that were handed over go on waiting.

import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Objects } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import { type Context, OWN_REFS } from './context.ts';
import { isGitAtWork } from './git-at-work.ts';
import { closeScratch } from './hand-over.ts';
import { type LandData, readLandData } from './land-data.ts';
import { applyMove, endMove, type Move, planMove } from './move-target.ts';
import { listNames } from './own-folders.ts';

export type LandingEnd = 'finished' | 'rolled-back' | 'waiting';

/** How long a git process that outlived its parent may still hold a lock. Milliseconds. */
const LOCK_GRACE = 2_000;
/** By how much times of files and of the ledger may differ. Milliseconds. */
const CLOCK_GRAIN = 2_000;
/** How long after the intention a lock of the dead process may have been made. Milliseconds. */
const OWN_MOMENT = 60_000;

/** Ends a dead landing, under its target's lock. Throws `target_dirty` when a checkout cannot follow. */
export async function endLanding(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
): Promise<LandingEnd> {
  const data = readLandData(operation);
  let end: LandingEnd = 'rolled-back';
  for (const move of data.moving) {
    await clearLocks(context, operation, move.ref);
    end = await endMove(context, move, (ancestor, tip) => objects.isAncestor(ancestor, tip));
    if (end === 'rolled-back' && (await isPublic(context, objects, operation, move))) {
      const followed = await followPush(context, operation, move);
      if (followed === 'blocked') return park(context, operation, data);
      end = followed;
    }
  }
  return recoverLanding(context, operation, data, end);
}

/** Whether the commit is on a remote: the push came before the local branch, and may have ended before its record, or
 * before its answer came. */
async function isPublic(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
  move: Move,
): Promise<boolean> {
  const { pushed, options } = readLandData(operation);
  if (pushed || !options.push) return pushed;
  if ((await context.refs.listRefs('refs/remotes/')).some(({ commit }) => commit === move.to)) return true;
  try {
    const remote = await context.remotes.findRemote(move.ref, context.settings.push.remote ?? undefined);
    const tip = await context.remotes.fetch(
      remote.name,
      options.branch ?? remote.branch,
      OWN_REFS.fetched(operation.id),
    );
    return tip !== null && (await objects.isAncestor(move.to, tip));
  } catch (error) {
    if (error instanceof SennitError) return false; // out of reach: the next push finds out
    throw error;
  }
}

/** Moves the local branch to what is public already. */
async function followPush(
  context: Context,
  { id }: OperationRecord,
  move: Move,
): Promise<LandingEnd | 'blocked'> {
  const plan = await planMove(context, move);
  if (plan.outcome === 'moved') return 'rolled-back';
  if (plan.outcome === 'blocked') return 'blocked';
  const [candidate] = await context.refs.resolveCommits([OWN_REFS.candidate(id)]);
  const outcome = await applyMove(context, move, plan, {
    reason: `sennit: land ${id}`,
    also: [
      { ref: OWN_REFS.landing(id), to: move.to, from: null },
      ...(candidate === undefined ? [] : [{ ref: OWN_REFS.candidate(id), to: null, from: candidate }]),
    ],
    journal: async () => undefined, // it was written before the push
  });
  return outcome.outcome === 'done' ? 'finished' : 'rolled-back';
}

/** A checkout is in the way: the landing waits as it would have without the crash. */
function park(context: Context, { id }: OperationRecord, data: LandData): LandingEnd {
  context
    .ledger()
    .append(
      { operation: id, type: 'landing.parked', data: { end: 'waiting' } },
      { state: 'pending', data: { ...data, moving: [] }, durable: true },
    );
  return 'waiting';
}

async function recoverLanding(
  context: Context,
  operation: OperationRecord,
  data: LandData,
  end: LandingEnd,
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
  context
    .ledger()
    .append(
      { operation: operation.id, type, data: { end } },
      { state: 'failed', data: { ...data, moving: [] }, durable: true },
    );
  await dropScratch(context, operation, data);
  return end;
}

/** Names that git gives to the records of Sennit's own worktrees: the folder's name, with a number where it is taken. */
const OWN_RECORD = /^(?:gate-[0-9a-f]{12}|regenerate|hooks|worktree)\d*$/;

/** Removes records that a killed `git worktree add` of this operation had only begun: locked by git itself, naming no
 * worktree and no commit, so that nothing can be in them. git's own prune passes them over. */
async function dropBegunRecords(context: Context, operation: OperationRecord): Promise<void> {
  const { commonDir } = context.place;
  if (isGitAtWork(context, [commonDir]) !== false) return;
  for (const name of await listNames(join(commonDir, 'worktrees'))) {
    if (!OWN_RECORD.test(name)) continue;
    const record = join(commonDir, 'worktrees', name);
    const info = await lstat(record).catch(() => undefined);
    const locked = await readFile(join(record, 'locked'), 'utf8').catch(() => '');
    const begun = info !== undefined && info.mtimeMs + CLOCK_GRAIN >= Date.parse(operation.created);
    const holds = (await listNames(record)).filter((file) => file !== 'locked' && file !== 'refs');
    if (begun && locked.trim() === 'initializing' && holds.length === 0)
      await context.checkouts.forgetWorktree(record);
  }
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
      if (worktree.exists) await context.checkouts.removeScratch(worktree);
      else await context.checkouts.forgetWorktree(worktree.adminDir);
    }
  }
  await dropBegunRecords(context, operation);
  await rm(join(context.gateRoot, operation.id), { recursive: true, force: true });
}

/** Removes the ref and index locks that a dead operation left when it moved a branch: made after it had written down
 * that it would, and, as far as processes can be seen, with no git at work. Others are left: git then says so. */
export async function clearLocks(context: Context, operation: OperationRecord, ref: string): Promise<void> {
  const { commonDir } = context.place;
  const prepared = context
    .ledger()
    .listEvents(operation.id)
    .find(({ type }) => type.endsWith('.prepared'));
  if (prepared === undefined) return;
  const from = Date.parse(prepared.at) - CLOCK_GRAIN;
  const checkouts = (await context.refs.listWorktrees()).filter(({ branch }) => branch === ref);
  const locks = [
    join(commonDir, `${ref}.lock`),
    ...checkouts.flatMap(({ adminDir }) => ['HEAD.lock', 'index.lock'].map((name) => join(adminDir, name))),
  ];
  const present = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const lock of locks) {
      const made = (await lstat(lock).catch(() => undefined))?.mtimeMs;
      if (made !== undefined && made >= from) found.push(lock);
    }
    return found;
  };
  if ((await present()).length === 0) return;
  await context.clock.sleep(LOCK_GRACE);
  const atWork = isGitAtWork(context, [commonDir, ...checkouts.map(({ path }) => path)]);
  if (atWork === true) return;
  for (const lock of await present()) {
    const made = (await lstat(lock).catch(() => undefined))?.mtimeMs ?? 0;
    // Where nobody can be seen at work, only a lock from that very moment is taken for its own.
    if (atWork === null && made > from + OWN_MOMENT) continue;
    await rm(lock, { force: true });
  }
}
