// What Sennit itself leaves behind: scratch worktrees and folders of operations that have ended, temporary files of
// processes that are dead, trash that could not be deleted, snapshot refs whose content a branch contains. Each is told
// by its owner, never by its age. Kept whatever happens: packets and logs of landings that wait, archives, kept files,
// resolutions, and the snapshots of sources that still exist (a later landing of the same source needs them as merge
// bases).

import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../model/finding.ts';
import { isOperationId, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects, RefUpdate } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import { type Removal, readCleanUpData } from './clean-up-data.ts';
import type { Context } from './context.ts';
import { type LandData, readLandData } from './land-data.ts';
import { operationLockName } from './operation-lock.ts';
import { findScratchOwner, listNames } from './own-folders.ts';
import { removeTree } from './remove-tree.ts';
import { parseTmpOwner } from './tmp-folder.ts';
import { readUndoData } from './undo-data.ts';

/** Something of Sennit's own that nobody needs any more. */
export interface Leaving {
  readonly what: 'worktree' | 'folder' | 'ref';
  /** Absolute path, or full ref name. */
  readonly name: string;
  readonly why: string;
}

const FINAL = new Set(['done', 'failed', 'aborted', 'undone']);

/** Lists what may go. Changes nothing. */
export async function readLeavings(
  context: Context,
  objects: Objects,
  worktrees: readonly WorktreeInfo[],
): Promise<Leaving[]> {
  const operations = context.readLedger()?.listOperations() ?? [];
  const ended = new Map(operations.filter(({ state }) => FINAL.has(state)).map((one) => [one.id, one]));
  // The newest landing's logs are what its answer pointed to.
  const [newest] = operations.filter(({ kind }) => kind === 'land');
  const spared = newest?.state === 'failed' ? newest.id : undefined;
  return [
    ...scratchWorktrees(context, worktrees, (id) => ended.has(id)),
    ...(await endedFolders(context, (id) => ended.has(id) && id !== spared)),
    ...(await deadFolders(context)),
    ...(await leftTrash(operations)),
    ...(await containedRefs(context, objects, worktrees, ended)),
  ];
}

function scratchWorktrees(
  context: Context,
  worktrees: readonly WorktreeInfo[],
  hasEnded: (id: OperationRecord['id']) => boolean,
): Leaving[] {
  return worktrees.flatMap(({ path }) => {
    const owner = findScratchOwner(context, path);
    if (owner === undefined || !hasEnded(owner)) return [];
    return [{ what: 'worktree', name: path, why: `scratch of ${owner}, which has ended` }];
  });
}

async function endedFolders(
  context: Context,
  mayGo: (id: OperationRecord['id']) => boolean,
): Promise<Leaving[]> {
  const found: Leaving[] = [];
  for (const root of [join(context.place.stateDir, 'operations'), context.gateRoot]) {
    for (const name of await listNames(root)) {
      if (!isOperationId(name) || !mayGo(name)) continue;
      found.push({ what: 'folder', name: join(root, name), why: `scratch of ${name}, which has ended` });
    }
  }
  return found;
}

/** Temporary folders of processes that are dead, and records of worktrees that were taken away. */
async function deadFolders({ place, system }: Context): Promise<Leaving[]> {
  const found: Leaving[] = [];
  for (const name of await listNames(join(place.stateDir, 'tmp'))) {
    const owner = parseTmpOwner(name);
    if (owner === undefined || system.isAlive(owner)) continue;
    const why = `temporary files of process ${owner.pid}, which is dead`;
    found.push({ what: 'folder', name: join(place.stateDir, 'tmp', name), why });
  }
  for (const name of await listNames(join(place.stateDir, 'trash'))) {
    const why = 'the record of a worktree that was taken away';
    found.push({ what: 'folder', name: join(place.stateDir, 'trash', name), why });
  }
  return found;
}

/** Folders of removed workspaces that could not be deleted then. */
async function leftTrash(operations: readonly OperationRecord[]): Promise<Leaving[]> {
  const removals = operations.flatMap((operation): readonly Removal[] => {
    if (!FINAL.has(operation.state)) return [];
    if (operation.kind === 'gc') return readCleanUpData(operation).removals;
    return operation.kind === 'undo' ? readUndoData(operation).removals : [];
  });
  const found: Leaving[] = [];
  for (const { state, trash, path, adminDir, gitdir } of removals) {
    if (state !== 'proved' || (await lstat(trash).catch(() => undefined)) === undefined) continue;
    if ((await readFile(join(adminDir, 'gitdir'), 'utf8').catch(() => null)) === gitdir) continue;
    found.push({ what: 'folder', name: trash, why: `what is left of ${path}, which was removed` });
  }
  return found;
}

const SNAPSHOT_REF =
  /^refs\/sennit\/(?:(?<words>candidates|fetched)\/)?(?<id>\d{8}-\d{6}-[0-9a-z]{4})(?:\/|$)/;

interface OwnRef {
  readonly ref: string;
  readonly commit: Oid;
  readonly operation: OperationRecord;
}

/** Refs of ended landings whose commit a branch contains, or that hold nothing of anybody's. */
async function containedRefs(
  context: Context,
  objects: Objects,
  worktrees: readonly WorktreeInfo[],
  ended: ReadonlyMap<string, OperationRecord>,
): Promise<Leaving[]> {
  const snapshots = new Map<string, OwnRef[]>();
  const found: Leaving[] = [];
  for (const { ref, commit } of await context.refs.listRefs('refs/sennit/')) {
    const { id = '', words } = SNAPSHOT_REF.exec(ref)?.groups ?? {};
    const operation = ended.get(id);
    if (operation?.kind !== 'land' || operation.target === null || commit === null) continue;
    if (words === 'fetched') {
      found.push({ what: 'ref', name: ref, why: 'a copy of a remote branch, for a landing that has ended' });
    } else if (words === undefined) {
      const others = snapshots.get(operation.target);
      if (others === undefined) snapshots.set(operation.target, [{ ref, commit, operation }]);
      else others.push({ ref, commit, operation });
    }
  }
  const isNeeded = await sourceCheck(context, worktrees);
  for (const [target, refs] of snapshots) {
    const name = target.replace(/^refs\/heads\//, '');
    for (const { ref } of await selectContained(context, objects, target, refs)) {
      const one = refs.find((candidate) => candidate.ref === ref);
      if (one === undefined || isNeeded(one)) continue;
      found.push({ what: 'ref', name: ref, why: `a snapshot whose content ${name} contains` });
    }
  }
  return found;
}

/** Tells whether the source of a snapshot still exists. */
async function sourceCheck(
  context: Context,
  worktrees: readonly WorktreeInfo[],
): Promise<(ref: OwnRef) => boolean> {
  const names = new Set((await context.refs.listRefs('refs/')).map(({ ref }) => ref));
  const paths = new Set(worktrees.map(({ path }) => path));
  return ({ ref, operation }) => {
    const source = readLandData(operation).sources.find((one) => one.ref === ref);
    if (source === undefined) return false;
    return source.kind === 'worktree' ? paths.has(source.identity) : names.has(source.identity);
  };
}

/** Those snapshots that the target reaches, or whose landing it contains. */
async function selectContained(
  context: Context,
  objects: Objects,
  target: string,
  refs: readonly OwnRef[],
): Promise<OwnRef[]> {
  const [tip] = await context.refs.resolveCommits([target]);
  if (tip === undefined) return [];
  const landings = refs.map(({ ref, operation }) => {
    const data = readLandData(operation);
    return isPartOf(data, ref) && operation.state === 'done' ? data.landing : null;
  });
  const [reached, landed] = await Promise.all([
    objects.areAncestors(
      refs.map(({ commit }) => commit),
      tip,
    ),
    objects.areAncestors(
      landings.map((landing, i) => landing ?? refs[i]?.commit ?? tip),
      tip,
    ),
  ]);
  return refs.filter((_, i) => reached[i] === true || (landings[i] != null && landed[i] === true));
}

/** True when the source of the snapshot is in the landing, and not one that was left out. */
function isPartOf(data: LandData, ref: string): boolean {
  return data.sources.some((source) => source.ref === ref);
}

/** Takes leavings away; what could not go is told. */
export async function removeLeavings(context: Context, leavings: readonly Leaving[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { what, name } of leavings) {
    try {
      if (what === 'worktree') await removeScratch(context, name);
      else if (what === 'folder') await removeTree(name);
    } catch (error) {
      findings.push({
        check: 'leaving_stays',
        severity: 'warning',
        message: `${name} could not be removed: ${String(error)}`,
        paths: [name],
      });
    }
  }
  const refs = leavings.filter(({ what }) => what === 'ref').map(({ name }) => name);
  const at = await context.refs.resolveCommits(refs);
  const updates = refs.flatMap((ref, i): RefUpdate[] => {
    const from = at[i];
    return from === undefined ? [] : [{ ref, to: null, from }];
  });
  await context.refs.updateRefs(updates, 'sennit: clean up');
  retireLocks(context);
  return findings;
}

async function removeScratch(context: Context, path: string): Promise<void> {
  const worktree = (await context.refs.listWorktrees()).find((one) => one.path === path);
  if (worktree === undefined) return;
  if (worktree.exists) await context.checkouts.removeScratch(worktree);
  else await context.checkouts.forgetWorktree(worktree.adminDir);
  await rm(path, { recursive: true, force: true });
}

/** Nobody asks again for the locks of operations that have ended. */
function retireLocks(context: Context): void {
  for (const { id, state } of context.ledger().listOperations()) {
    if (FINAL.has(state)) context.locks.retire(operationLockName(id));
  }
}
