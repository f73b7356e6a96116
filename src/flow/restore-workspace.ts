// Bringing one archived workspace back. It is built under a staging name beside its place and renamed when it is whole,
// so that nobody ever finds half of it: files as archived; HEAD, index and branch as they were where that is still
// possible; ignored files that were kept put back. Each step is written down, and after a crash the next command goes on
// from there: the archive stays, so beginning again loses nothing.

import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import type { Oid, OperationId } from '../model/ids.ts';
import { slugOf } from '../model/ids.ts';
import type { ScratchWorktree } from '../ports/checkouts.ts';
import type { Objects } from '../ports/git.ts';
import { type ArchiveEntry, keptFolderOf, stagedRef } from './archive-entry.ts';
import type { Context } from './context.ts';
import { moveBack } from './kept-files.ts';
import { shellWord } from './packet.ts';
import { removeTree } from './remove-tree.ts';

/** One workspace that is being brought back. Folders are absolute paths. */
export interface Restoration {
  /** Id of the archive entry. */
  readonly archive: string;
  readonly commit: Oid;
  /** What HEAD gets; the archive's own commit where the workspace had none. */
  readonly head: Oid;
  /** Tree of what was staged. */
  readonly staged: Oid;
  readonly branch: string | null;
  readonly path: string;
  /** Folder beside `path` in which it is built. */
  readonly staging: string;
  readonly kept: string | null;
  /** Known from `filled` on. */
  readonly adminDir: string | null;
  readonly state: 'planned' | 'filled' | 'restored';
}

export interface RestorationJournal {
  /** Writes one restoration into the ledger, in place of the one with the same path. */
  save(type: string, restoration: Restoration, options?: { readonly durable?: boolean }): void;
}

/** How long another process may be making a worktree. Milliseconds. */
const WORKTREE_WAIT = 120_000;

/** Plans to restore an entry to a folder. Throws `restore_blocked` when something is there. */
export async function planRestoration(
  context: Context,
  objects: Objects,
  operation: OperationId,
  entry: ArchiveEntry,
  path: string,
): Promise<Restoration> {
  await requireFree(context, path);
  const head = entry.head ?? entry.commit;
  const [staged] =
    entry.operation === null
      ? []
      : await context.refs.resolveCommits([stagedRef({ operation: entry.operation, id: entry.id })]);
  return {
    archive: entry.id,
    commit: entry.commit,
    head,
    staged: await objects.treeOf(staged ?? head),
    branch: entry.branch,
    path,
    staging: join(dirname(path), `.sennit-restore-${operation}-${slugOf(basename(path))}`),
    kept: entry.kind === 'workspace' ? keptFolderOf(context, entry) : null,
    adminDir: null,
    state: 'planned',
  };
}

/** Throws `restore_blocked` unless a worktree can be made at the path. */
async function requireFree(context: Context, path: string): Promise<void> {
  const recorded = (await context.refs.listWorktrees()).find((worktree) => worktree.path === path);
  if (recorded !== undefined && !recorded.exists) {
    throw new SennitError('restore_blocked', `git still has a record of a worktree at ${path}.`, {
      hint: `If its folder is gone for good, run: git worktree remove ${shellWord(path)}. Or restore to another folder.`,
    });
  }
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return;
  if (stat.isDirectory() && recorded === undefined && (await readdir(path)).length === 0) return;
  throw new SennitError('restore_blocked', `${path} is there already.`, {
    hint: 'Name another folder: sennit archive restore <id> <folder>.',
  });
}

/** Brings a planned workspace back, or goes on after a crash. Throws `restore_blocked`. */
export async function restoreWorkspace(
  context: Context,
  planned: Restoration,
  journal: RestorationJournal,
): Promise<{ readonly restoration: Restoration; readonly findings: readonly Finding[] }> {
  if (planned.state === 'restored') return { restoration: planned, findings: [] };
  const filled = planned.state === 'filled' ? planned : await fill(context, planned, journal);
  const findings: Finding[] = [];
  const scratch = await place(context, filled);
  context.journalPoint('restore-moved');
  findings.push(...(await attach(context, filled, scratch)));
  context.journalPoint('restore-attached');
  if (filled.kept !== null) {
    const left = await moveBack(filled.kept, filled.path);
    if (left.length > 0) {
      findings.push({
        check: 'files_kept',
        severity: 'warning',
        message: `Ignored files stay in ${filled.kept}, because something is at their place: ${left.slice(0, 5).join(', ')}.`,
        paths: left,
      });
    }
  }
  await removeTree(filled.staging); // empty by now
  const restoration: Restoration = { ...filled, state: 'restored' };
  journal.save('workspace.restored', restoration, { durable: true });
  context.journalPoint('restored');
  return { restoration, findings };
}

/** Builds the workspace under its staging name. */
async function fill(
  context: Context,
  planned: Restoration,
  journal: RestorationJournal,
): Promise<Restoration & { readonly adminDir: string }> {
  journal.save('restoration.planned', planned, { durable: true });
  context.journalPoint('restore-planned');
  const built = join(planned.staging, basename(planned.path));
  const lock = await context.locks.acquire('worktrees', WORKTREE_WAIT);
  let scratch: ScratchWorktree;
  try {
    await clearStaging(context, planned.staging);
    scratch = await context.checkouts.addScratch(built, planned.commit);
  } finally {
    lock.release();
  }
  await context.checkouts.rewind(scratch, planned.head, planned.staged);
  const filled = { ...planned, adminDir: scratch.adminDir, state: 'filled' as const };
  journal.save('workspace.filled', filled, { durable: true });
  context.journalPoint('restore-filled');
  return filled;
}

/** Takes away what an earlier try built: nobody but Sennit has ever seen it. */
async function clearStaging(context: Context, staging: string): Promise<void> {
  for (const worktree of await context.refs.listWorktrees()) {
    if (dirname(worktree.path) !== staging) continue;
    if (worktree.exists) await context.checkouts.removeScratch(worktree);
    else await context.checkouts.forgetWorktree(worktree.adminDir);
  }
  await removeTree(staging);
}

/** Gives up a workspace that could not be brought to its place: what was built goes, the archive stays. */
export async function abandonRestoration(context: Context, { state, staging }: Restoration): Promise<void> {
  if (state !== 'restored') await clearStaging(context, staging);
}

async function place(context: Context, { staging, path, adminDir }: Restoration): Promise<ScratchWorktree> {
  if (adminDir === null) throw new TypeError('a filled workspace has a record');
  const built = { path: join(staging, basename(path)), adminDir };
  return context.checkouts.moveScratch(built, path);
}

/** Checks the branch out again where it still is at the same commit and free. */
async function attach(
  context: Context,
  { branch, head, path }: Restoration,
  scratch: ScratchWorktree,
): Promise<Finding[]> {
  if (branch === null) return [];
  const [at] = await context.refs.resolveCommits([branch]);
  const name = branch.replace(/^refs\/heads\//, '');
  const holder = (await context.refs.listWorktrees()).find(
    (worktree) => worktree.branch === branch && worktree.adminDir !== scratch.adminDir,
  );
  if (branch.startsWith('refs/heads/') && at === head && holder === undefined) {
    await context.checkouts.attachBranch(scratch, branch);
    return [];
  }
  const why =
    holder !== undefined
      ? `${holder.path} has it checked out`
      : at === undefined
        ? 'it does not exist any more'
        : 'it has moved on';
  return [
    {
      check: 'branch_not_attached',
      severity: 'info',
      message: `${path} is at ${head.slice(0, 12)}, detached from ${name}: ${why}.`,
      remedy: `git -C ${shellWord(path)} switch ${at === undefined ? '-c ' : ''}${shellWord(name)}`,
    },
  ];
}
