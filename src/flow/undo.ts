// `sennit undo`: takes back the last operation that can be taken back. A landing leaves its branch, a clean-up brings
// its workspaces back, a restoring goes again. Everything is looked at before anything moves, and what stands in the way
// stops it. Undo is an operation of its own in the ledger, and after a crash the next command finishes it or rolls it
// back.

import { basename } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { isOperationId, newOperationId, type Oid, type OperationId } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import type { OperationKind, OperationRecord } from '../ports/ledger.ts';
import { findArchive, readArchives } from './archive-entry.ts';
import { type Removal, readCleanUpData, withRemoval } from './clean-up-data.ts';
import { type Context, OWN_REFS } from './context.ts';
import { judgeWorkspaces } from './judge-workspace.ts';
import { readLandData } from './land-data.ts';
import { whileHolding } from './operation-lock.ts';
import { shellWord } from './packet.ts';
import { removeTree } from './remove-tree.ts';
import { isRemovable, planRemoval, type Removable, removeWorkspace } from './remove-workspace.ts';
import { readRestoreData, withRestoration } from './restore-data.ts';
import {
  abandonRestoration,
  planRestoration,
  type Restoration,
  restoreWorkspace,
} from './restore-workspace.ts';
import { tmpFolderOf } from './tmp-folder.ts';
import type { UndoData } from './undo-data.ts';
import { applyLandingUndo, isTakenBack, type LandingUndo, planLandingUndo } from './undo-landing.ts';
import { whileQuiet } from './while-quiet.ts';

export interface UndoRequest {
  /** Id of the operation to take back; null for the last one that can be. */
  readonly operation: string | null;
  readonly dryRun: boolean;
}

export interface UndoReport {
  readonly result: 'undone' | 'dry_run';
  /** The undo itself; null in a dry run. */
  readonly operation: OperationId | null;
  readonly undoes: OperationId;
  readonly kind: OperationKind;
  /** Short name of the branch that was moved; null where none was. */
  readonly target: string | null;
  /** Refs of the user's that moved, or would. */
  readonly refs: readonly { readonly ref: string; readonly from: Oid | null; readonly to: Oid | null }[];
  /** Folders that come back, and folders that go. */
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly findings: readonly Finding[];
  readonly next: readonly string[];
}

/** How long another process may hold the branch. Milliseconds. */
const TARGET_WAIT = 30 * 60_000;

/** Takes an operation back. Throws `operation_none`, `operation_unknown`, `undo_blocked` or `restore_blocked`; nothing
 * of the user's has changed then. */
export async function undo(context: Context, objects: Objects, request: UndoRequest): Promise<UndoReport> {
  return whileQuiet(context, request.dryRun, async () => {
    const found = requireUndoable(context, request.operation);
    if (found.target === null || request.dryRun) return undoOne(context, objects, found, request.dryRun);
    const lock = await context.locks.acquire(`target ${found.target}`, TARGET_WAIT);
    try {
      // Somebody else may have landed on it, or taken it back, while this one waited.
      const again = requireUndoable(context, request.operation);
      if (again.id !== found.id) {
        throw new SennitError('repository_busy', 'Another operation came in between.', {
          hint: '`sennit log` shows it. Run `sennit undo` again if that is what you mean.',
          next: ['sennit log'],
        });
      }
      return await undoOne(context, objects, again, false);
    } finally {
      lock.release();
    }
  });
}

/** True for an operation that changed something of the user's which can be taken back. */
function isUndoable(operation: OperationRecord): boolean {
  if (operation.state !== 'done') return false;
  switch (operation.kind) {
    case 'land':
      return readLandData(operation).landing !== null;
    case 'gc':
      return readCleanUpData(operation).removals.some(isGone);
    case 'restore': {
      const { restorations, branch } = readRestoreData(operation);
      return branch !== null || restorations.some(({ state }) => state === 'restored');
    }
    default:
      return false;
  }
}

/** A workspace that was removed; one whose trash could not be deleted counts, since its record is gone. */
function isGone({ state }: Removal): boolean {
  return state === 'removed' || state === 'proved';
}

function requireUndoable(context: Context, id: string | null): OperationRecord {
  const reader = context.readLedger();
  if (id !== null) {
    const found = isOperationId(id) ? reader?.findOperation(id) : undefined;
    if (found !== undefined && isUndoable(found)) return found;
    throw new SennitError(
      found === undefined ? 'operation_unknown' : 'undo_blocked',
      found === undefined
        ? `There is no operation ${id}.`
        : `The operation ${id} (${found.kind}, ${found.state}) is none that can be taken back.`,
      { hint: '`sennit log` shows all operations.', next: ['sennit log'] },
    );
  }
  const all = reader?.listOperations({ states: ['done'], kinds: ['land', 'gc', 'restore'] }) ?? [];
  // The last one is that which ended last: a landing that waited may have begun long before others.
  const [last] = all
    .filter(isUndoable)
    .sort((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0));
  if (last !== undefined) return last;
  throw new SennitError('operation_none', 'There is nothing to take back.', {
    hint: '`sennit log` shows what was done so far.',
    next: ['sennit log'],
  });
}

/** All that has to happen, looked at beforehand. */
interface UndoPlan {
  readonly landing: LandingUndo | null;
  readonly restorations: readonly Restoration[];
  readonly removals: readonly { readonly judged: Removable; readonly removal: Removal }[];
  readonly branch: UndoData['branch'];
}

async function undoOne(
  context: Context,
  objects: Objects,
  undone: OperationRecord,
  dryRun: boolean,
): Promise<UndoReport> {
  const operation = newOperationId(context.clock.now());
  const scratch = `${tmpFolderOf(context.place.stateDir, context.process)}/${operation}`;
  try {
    const plan = await planUndo(context, objects, operation, undone, scratch);
    if (dryRun) return report('dry_run', null, undone, plan, []);
    return await whileHolding(context, operation, () => apply(context, objects, operation, undone, plan));
  } finally {
    await removeTree(scratch);
  }
}

async function planUndo(
  context: Context,
  objects: Objects,
  operation: OperationId,
  undone: OperationRecord,
  scratch: string,
): Promise<UndoPlan> {
  const none: UndoPlan = { landing: null, restorations: [], removals: [], branch: null };
  if (undone.kind === 'land') return { ...none, landing: await planLandingUndo(context, objects, undone) };
  if (undone.kind === 'gc') {
    const archives = await readArchives(context, objects);
    const worktrees = await context.refs.listWorktrees();
    const restorations: Restoration[] = [];
    const gone = readCleanUpData(undone).removals.filter(isGone);
    for (const removal of gone) {
      // Back already: an earlier undo came so far, or somebody restored it.
      const back = worktrees.some(({ path, exists, linked }) => path === removal.path && exists && linked);
      if (back && gone.length > 1) continue;
      const id = removal.archive.replace(OWN_REFS.archive(''), '');
      const entry = findArchive(archives, id);
      if (entry === undefined) {
        throw new SennitError('undo_blocked', `The archive ${id} of ${removal.path} is gone.`, {
          hint: '`sennit archive list` shows what there is.',
        });
      }
      restorations.push(await planRestoration(context, objects, operation, entry, removal.path));
    }
    return { ...none, restorations };
  }
  const { restorations, branch } = readRestoreData(undone);
  if (branch !== null) await requireBranchUntouched(context, branch);
  const removals = await planRemovals(context, objects, operation, restorations, scratch);
  return { ...none, removals, branch };
}

async function requireBranchUntouched(
  context: Context,
  { ref, commit }: NonNullable<UndoData['branch']>,
): Promise<void> {
  const [at] = await context.refs.resolveCommits([ref]);
  const holder = (await context.refs.listWorktrees()).find(({ branch }) => branch === ref);
  if (at === commit && holder === undefined) return;
  throw new SennitError(
    'undo_blocked',
    holder === undefined
      ? `${ref} has moved on since it was made.`
      : `${ref} is checked out in ${holder.path}.`,
    {
      hint: `Delete it yourself if nothing on it is needed: git branch -D ${shellWord(ref.replace('refs/heads/', ''))}`,
    },
  );
}

/** Restored workspaces that go again. Throws `undo_blocked` unless each still is exactly what came back. */
async function planRemovals(
  context: Context,
  objects: Objects,
  operation: OperationId,
  restorations: readonly Restoration[],
  scratch: string,
): Promise<UndoPlan['removals']> {
  const worktrees = await context.refs.listWorktrees();
  const planned: { judged: Removable; removal: Removal }[] = [];
  const there = restorations.flatMap(
    ({ path }) => worktrees.find((worktree) => worktree.path === path) ?? [],
  );
  const judged = await judgeWorkspaces(context, objects, {
    workspaces: there,
    worktrees,
    thorough: true,
    scratch,
    objectsDir: undefined,
    operation,
  });
  for (const restoration of restorations) {
    const one = judged.find(({ worktree }) => worktree.path === restoration.path);
    if (one === undefined) continue; // it has gone already
    const same = one.content?.tree === (await objects.treeOf(restoration.commit));
    const unmoved = one.worktree.head === restoration.head;
    if (one.verdict.state === 'refused' || !same || !unmoved || !isRemovable(one)) {
      throw new SennitError(
        'undo_blocked',
        `${restoration.path} cannot go again: ${
          one.verdict.state === 'refused' ? one.verdict.reason : 'it has been worked in since it came back'
        }.`,
        {
          hint: `It is a workspace like others now: \`sennit land ${shellWord(restoration.path)}\`, or \`sennit gc\`.`,
        },
      );
    }
    const proof = `archived as ${restoration.archive}`;
    planned.push({ judged: one, removal: await planRemoval(context, operation, one, proof) });
  }
  return planned;
}

async function apply(
  context: Context,
  objects: Objects,
  operation: OperationId,
  undone: OperationRecord,
  plan: UndoPlan,
): Promise<UndoReport> {
  const ledger = context.ledger();
  let data: UndoData = {
    version: 1,
    undoes: undone.id,
    kind: undone.kind,
    move: plan.landing?.move ?? null,
    restorations: plan.restorations,
    removals: plan.removals.map(({ removal }) => removal),
    branch: plan.branch,
  };
  ledger.createOperation({
    id: operation,
    kind: 'undo',
    target: undone.target,
    owner: context.process,
    data,
  });
  const save = (type: string, patch: Partial<UndoData>, durable: boolean): void => {
    data = { ...data, ...patch };
    ledger.append({ operation, type, data: {} }, { data, durable });
  };
  const findings: Finding[] = [];
  try {
    if (plan.landing !== null) {
      await applyLandingUndo(context, undone.id, plan.landing, () => {
        save('undo.prepared', {}, true);
        context.journalPoint('undo-planned');
      });
      context.journalPoint('undo-moved');
    } else {
      save('undo.prepared', {}, true);
      context.journalPoint('undo-planned');
    }
    for (const planned of plan.restorations) {
      const done = await restoreWorkspace(context, planned, {
        save: (type, one, { durable = false } = {}) =>
          save(type, { restorations: withRestoration(data.restorations, one) }, durable),
      });
      findings.push(...done.findings);
    }
    for (const { judged, removal } of plan.removals) {
      const end = await removeWorkspace(context, objects, operation, judged, removal, {
        save: (type, one, { durable = false } = {}) =>
          save(type, { removals: withRemoval(data.removals, one) }, durable),
      });
      if (end.outcome === 'put-back') {
        throw new SennitError('undo_blocked', `${removal.path} stays: ${end.reason}.`, {
          hint: 'Nothing of it was lost.',
        });
      }
    }
    await dropBranch(context, data.branch, undone.id);
    endUndo(context, operation, undone.id);
    return report('undone', operation, undone, plan, findings);
  } catch (error) {
    for (const restoration of data.restorations) await abandonRestoration(context, restoration);
    // A landing that has left its branch is taken back, whatever came after: the next command finishes that.
    if (plan.landing === null || !(await isTakenBack(context, undone.id))) {
      ledger.append({ operation, type: 'undo.failed', data: { error: String(error) } }, { state: 'failed' });
    }
    throw error;
  }
}

/** Deletes a branch that a restoring had made, where it still is what was made. */
export async function dropBranch(
  context: Context,
  branch: UndoData['branch'],
  undone: OperationId,
): Promise<void> {
  if (branch === null) return;
  const outcome = await context.refs.updateRefs(
    [{ ref: branch.ref, to: null, from: branch.commit }],
    `sennit: undo ${undone}`,
  );
  const [left] = await context.refs.resolveCommits([branch.ref]);
  if (outcome.outcome === 'updated' || left === undefined) return;
  throw new SennitError('undo_blocked', `${branch.ref} has moved on since it was made.`, {
    hint: `Delete it yourself if nothing on it is needed: git branch -D ${shellWord(branch.ref.replace('refs/heads/', ''))}`,
  });
}

/** Writes down that an operation was taken back. May be done again. */
export function endUndo(context: Context, operation: OperationId, undone: OperationId): void {
  const ledger = context.ledger();
  ledger.append(
    { operation: undone, type: 'operation.undone', data: { by: operation } },
    { state: 'undone', durable: true },
  );
  context.journalPoint('undo-recorded');
  ledger.append({ operation, type: 'undo.done', data: {} }, { state: 'done' });
}

function report(
  result: UndoReport['result'],
  operation: OperationId | null,
  undone: OperationRecord,
  plan: UndoPlan,
  findings: readonly Finding[],
): UndoReport {
  const { landing, restorations, removals, branch } = plan;
  const refs = [
    ...(landing === null ? [] : [landing.move]),
    ...(branch === null ? [] : [{ ref: branch.ref, from: branch.commit, to: null }]),
  ];
  const back = restorations.map(({ path }) => path);
  return {
    result,
    operation,
    undoes: undone.id,
    kind: undone.kind,
    target: refs[0]?.ref.replace(/^refs\/heads\//, '') ?? null,
    refs,
    restored: back,
    removed: removals.map(({ judged }) => judged.worktree.path),
    findings: [...findings, ...back.map(restoredFinding)],
    next: result === 'dry_run' ? ['sennit undo'] : ['sennit log'],
  };
}

function restoredFinding(path: string): Finding {
  return {
    check: 'workspace_restored',
    severity: 'info',
    message: `${basename(path)} comes back at ${path}; what programs make again (installed packages, builds) does not.`,
  };
}
