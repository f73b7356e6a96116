// The archive: what clean-up took away and what landings left out. Listing and showing read; restoring makes a workspace
// or a branch of an entry, and uses nothing up but the ignored files that it puts back.

import { resolve } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { type GitPath, newOperationId, type OperationId } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import { type ArchiveEntry, findArchive, keptFolderOf, readArchives } from './archive-entry.ts';
import type { Context } from './context.ts';
import { whileHolding } from './operation-lock.ts';
import { listNames } from './own-folders.ts';
import { shellWord } from './packet.ts';
import { type RestoreData, withRestoration } from './restore-data.ts';
import {
  abandonRestoration,
  planRestoration,
  type Restoration,
  restoreWorkspace,
} from './restore-workspace.ts';
import { whileQuiet } from './while-quiet.ts';

/** All entries, newest first. */
export function listArchives(context: Context, objects: Objects): Promise<ArchiveEntry[]> {
  return readArchives(context, objects);
}

export interface ShownArchive {
  readonly entry: ArchiveEntry;
  /** What it holds besides its commit (or, where all is committed, its base). */
  readonly paths: readonly { readonly path: GitPath; readonly change: 'added' | 'changed' | 'deleted' }[];
  /** Folder with ignored files that come back with it, where it has some; the first names in it. */
  readonly kept: { readonly folder: string; readonly names: readonly string[] } | null;
}

/** One entry with what it holds. Throws `archive_unknown`. */
export async function showArchive(context: Context, objects: Objects, name: string): Promise<ShownArchive> {
  const entry = requireArchive(await readArchives(context, objects), name);
  const folder = keptFolderOf(context, entry);
  const names = folder === null ? [] : await listNames(folder);
  return {
    entry,
    paths: await contentOf(objects, entry),
    kept: folder === null || names.length === 0 ? null : { folder, names },
  };
}

async function contentOf(
  objects: Objects,
  { head, base, tree }: ArchiveEntry,
): Promise<ShownArchive['paths']> {
  const trees = await Promise.all(
    [head, base].map((commit) => (commit === null ? objects.emptyTree() : objects.treeOf(commit))),
  );
  for (const before of trees) {
    const changes = await objects.diffTrees(before, tree);
    if (changes.length > 0) {
      return changes.map((one) => ({
        path: one.path,
        change: one.before === null ? 'added' : one.after === null ? 'deleted' : 'changed',
      }));
    }
  }
  return [];
}

function requireArchive(entries: readonly ArchiveEntry[], name: string): ArchiveEntry {
  const entry = findArchive(entries, name);
  if (entry !== undefined) return entry;
  throw new SennitError('archive_unknown', `There is no archive ${name === '' ? "''" : name}.`, {
    hint: '`sennit archive list` shows what there is.',
    next: ['sennit archive list'],
  });
}

export interface RestoreRequest {
  readonly name: string;
  /** Folder for the workspace; null for where it was. */
  readonly path: string | null;
  /** Short name of a new branch that is made of the entry instead of a workspace; null for none. */
  readonly branch: string | null;
  readonly dryRun: boolean;
}

export interface RestoreReport {
  readonly result: 'restored' | 'dry_run';
  readonly operation: OperationId | null;
  readonly entry: ArchiveEntry;
  /** Folder of the workspace; null where a branch was made. */
  readonly path: string | null;
  /** Full name of the branch that was made, or that the workspace has checked out again. */
  readonly branch: string | null;
  readonly findings: readonly Finding[];
  readonly next: readonly string[];
}

/** Restores an entry. Throws `archive_unknown`, `restore_blocked` or `target_exists`; nothing has changed then. */
export async function restoreArchive(
  context: Context,
  objects: Objects,
  request: RestoreRequest,
): Promise<RestoreReport> {
  const entry = requireArchive(await readArchives(context, objects), request.name);
  return whileQuiet(context, request.dryRun, () =>
    request.branch === null
      ? restoreFolder(context, objects, entry, request)
      : restoreBranch(context, entry, request.branch, request.dryRun),
  );
}

async function restoreFolder(
  context: Context,
  objects: Objects,
  entry: ArchiveEntry,
  request: RestoreRequest,
): Promise<RestoreReport> {
  const path = request.path === null ? entry.path : resolve(context.cwd, request.path);
  if (path === null) {
    throw new SennitError('restore_blocked', `${entry.id} was no workspace: say where it shall go.`, {
      hint: `Name a folder: sennit archive restore ${entry.id} <folder>.`,
      next: [`sennit archive restore ${entry.id} ../${entry.name.replace(/[^A-Za-z0-9._-]+/g, '-')}`],
    });
  }
  const operation = newOperationId(context.clock.now());
  const planned = await planRestoration(context, objects, operation, entry, path);
  if (request.dryRun) return report('dry_run', null, entry, planned, []);
  return whileHolding(context, operation, async () => {
    let data: RestoreData = { version: 1, restorations: [], branch: null };
    const ledger = context.ledger();
    ledger.createOperation({ id: operation, kind: 'restore', target: null, owner: context.process, data });
    const save = (type: string, restoration: Restoration, { durable = false } = {}): void => {
      data = { ...data, restorations: withRestoration(data.restorations, restoration) };
      ledger.append({ operation, type, data: { path: restoration.path } }, { data, durable });
    };
    try {
      const done = await restoreWorkspace(context, planned, { save });
      ledger.append({ operation, type: 'archive.restored', data: { archive: entry.id } }, { state: 'done' });
      return report('restored', operation, entry, done.restoration, done.findings);
    } catch (error) {
      for (const restoration of data.restorations) await abandonRestoration(context, restoration);
      ledger.append(
        { operation, type: 'restore.failed', data: { error: String(error) } },
        { state: 'failed' },
      );
      throw error;
    }
  });
}

function report(
  result: RestoreReport['result'],
  operation: OperationId | null,
  entry: ArchiveEntry,
  { path, branch }: Restoration,
  findings: readonly Finding[],
): RestoreReport {
  const attached = findings.some(({ check }) => check === 'branch_not_attached') ? null : branch;
  const next =
    result === 'dry_run'
      ? [`sennit archive restore ${entry.id}`]
      : [`sennit land ${shellWord(path)}`, 'sennit undo'];
  return { result, operation, entry, path, branch: attached, findings, next };
}

async function restoreBranch(
  context: Context,
  entry: ArchiveEntry,
  name: string,
  dryRun: boolean,
): Promise<RestoreReport> {
  const ref = `refs/heads/${name}`;
  const common = { entry, path: null, branch: ref, findings: [] };
  const taken = new SennitError('target_exists', `The branch ${name} exists already.`, {
    hint: 'Choose another name. Nothing has been changed.',
  });
  if ((await context.refs.resolveCommits([ref]))[0] !== undefined) throw taken;
  if (dryRun) return { ...common, result: 'dry_run', operation: null, next: [] };
  const operation = newOperationId(context.clock.now());
  return whileHolding(context, operation, async () => {
    const ledger = context.ledger();
    const data: RestoreData = { version: 1, restorations: [], branch: { ref, commit: entry.commit } };
    ledger.createOperation({ id: operation, kind: 'restore', target: ref, owner: context.process, data });
    context.journalPoint('restore-planned');
    const outcome = await context.refs.updateRefs(
      [{ ref, to: entry.commit, from: null }],
      `sennit: restore ${entry.id}`,
    );
    const state = outcome.outcome === 'updated' ? 'done' : 'failed';
    ledger.append({ operation, type: 'archive.restored', data: { archive: entry.id, ref } }, { state });
    context.journalPoint('restored');
    if (state === 'failed') throw taken;
    return {
      ...common,
      result: 'restored',
      operation,
      next: [`sennit land ${shellWord(name)}`, 'sennit undo'],
    };
  });
}
