// Removing one workspace. In this order, each step written down before the next: its content is archived under refs; its
// folder is renamed to a trash name beside it, so that whoever still writes to the old path writes elsewhere; under that
// name it is proved once more to be what was archived; ignored files that nothing can make again are moved to the kept
// folder; its record is taken away; the trash is deleted. Until the record is gone everything can be put back, and after
// a crash it is; from there on it is finished. Never by `git worktree remove`, which deletes what it does not look at,
// and never by `git worktree prune`, which takes other worktrees' records along.

import { lstat, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, type OperationId } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import { archiveId, keptFolder } from './archive-entry.ts';
import { archiveWorkspace } from './archive-workspace.ts';
import type { Removal, RemovalJournal } from './clean-up-data.ts';
import { type Context, OWN_REFS } from './context.ts';
import type { Judged, TakenContent } from './judge-workspace.ts';
import { moveBack, moveToKept } from './kept-files.ts';
import { removeTree } from './remove-tree.ts';
import { occupantObstacle } from './workspace-obstacles.ts';

export type RemovalEnd =
  /** `left` is the trash folder where it could not be deleted. */
  | { readonly outcome: 'removed'; readonly kept: readonly GitPath[]; readonly left: string | null }
  | { readonly outcome: 'put-back'; readonly reason: string; readonly paths: readonly GitPath[] };

/** A workspace whose content was taken. */
export type Removable = Judged & { readonly content: TakenContent };

export function isRemovable(judged: Judged): judged is Removable {
  return judged.content !== null;
}

/** What will be written down about the removal of a workspace. */
export async function planRemoval(
  context: Context,
  operation: OperationId,
  { worktree, slug }: Removable,
  proof: string,
): Promise<Removal> {
  const { path, adminDir, branch, head } = worktree;
  return {
    path,
    adminDir,
    gitdir: await readFile(join(adminDir, 'gitdir'), 'utf8'),
    slug,
    branch,
    head,
    trash: join(dirname(path), `.sennit-trash-${operation}-${slug}`),
    archive: OWN_REFS.archive(archiveId(operation, slug)),
    aside: [OWN_REFS.aside(operation, `${slug}-index`), OWN_REFS.aside(operation, `${slug}-reflog`)],
    kept: keptFolder(context, operation, slug),
    proof,
    state: 'planned',
  };
}

/** Removes a workspace, or puts it back and says why. */
export async function removeWorkspace(
  context: Context,
  objects: Objects,
  operation: OperationId,
  judged: Removable,
  removal: Removal,
  journal: RemovalJournal,
): Promise<RemovalEnd> {
  journal.save('removal.planned', removal, { durable: true });
  context.journalPoint('removal-planned');
  try {
    await archive(context, objects, operation, judged, removal);
    context.journalPoint('workspace-archived');
    await rename(removal.path, removal.trash);
  } catch (error) {
    await putBack(context, removal, journal);
    if (error instanceof SennitError) throw error;
    return { outcome: 'put-back', reason: `its folder could not be renamed: ${String(error)}`, paths: [] };
  }
  context.journalPoint('workspace-moved');
  const proved = await proveTrash(context, judged, removal);
  if (proved.outcome === 'put-back') {
    await putBack(context, removal, journal);
    return proved;
  }
  journal.save('removal.proved', { ...removal, state: 'proved' }, { durable: true });
  context.journalPoint('leftovers-kept');
  await context.checkouts.forgetWorktree(removal.adminDir);
  context.journalPoint('record-forgotten');
  return { outcome: 'removed', kept: proved.kept, left: await deleteTrash(context, removal, journal) };
}

async function archive(
  context: Context,
  objects: Objects,
  operation: OperationId,
  judged: Removable,
  { archive, aside, path, branch, head, proof }: Removal,
): Promise<void> {
  const [staged = '', reflog = ''] = aside;
  const { name, content } = judged;
  const facts = { name, operation, path, branch, head, base: content.base, reason: proof };
  await archiveWorkspace(context, objects, judged, { archive, staged, reflog }, facts);
}

/** Proves that the renamed folder is what was archived, and moves what else is worth keeping. */
async function proveTrash(
  context: Context,
  { worktree, content }: Removable,
  removal: Removal,
): Promise<{ outcome: 'proved'; kept: readonly GitPath[] } | (RemovalEnd & { outcome: 'put-back' })> {
  const moved = { ...worktree, path: removal.trash };
  try {
    const differing = await context.workspaces.compare({ ...content.request, worktree: moved }, content.tree);
    if (differing.length > 0) {
      const some = differing.slice(0, 5).map(displayPath).join(', ');
      return {
        outcome: 'put-back',
        reason: `it changed while it was being removed: ${some}`,
        paths: differing,
      };
    }
    context.journalPoint('workspace-proved');
    const { ignored } = await context.workspaces.listLeftovers(moved);
    const kept = ignored.filter(({ reproducible }) => !reproducible).map(({ path }) => path);
    await moveToKept(removal.trash, removal.kept, kept);
    const reason = occupantObstacle(context, removal.trash);
    return reason === undefined ? { outcome: 'proved', kept } : { outcome: 'put-back', reason, paths: [] };
  } catch (error) {
    const said = error instanceof SennitError ? error.message : String(error);
    return { outcome: 'put-back', reason: `it could not be proved that nothing is lost: ${said}`, paths: [] };
  }
}

/** Deletes the trash of a workspace whose record is gone; the folder where that is not possible. */
async function deleteTrash(
  context: Context,
  removal: Removal,
  journal: RemovalJournal,
): Promise<string | null> {
  try {
    await removeTree(removal.trash);
  } catch (error) {
    journal.save('trash.left', { ...removal, state: 'proved' });
    context.narrator.step(`${removal.trash} could not be deleted: ${String(error)}`);
    return removal.trash;
  }
  context.journalPoint('workspace-removed');
  journal.save('workspace.removed', { ...removal, state: 'removed' });
  return null;
}

/** Gives a workspace everything back. May be begun again. Throws `restore_blocked` where something else has taken its
 * place meanwhile; then its folder stays under the trash name. */
async function putBack(context: Context, removal: Removal, journal: RemovalJournal): Promise<void> {
  const putting: Removal = { ...removal, state: 'putting-back' };
  journal.save('removal.given_up', putting, { durable: true });
  if (await exists(removal.trash)) {
    await moveBack(removal.kept, removal.trash);
    if (await exists(removal.path)) {
      throw new SennitError(
        'restore_blocked',
        `${removal.path} was made anew while it was being removed: what it held is in ${removal.trash}.`,
        { hint: `Move ${removal.path} away, then rename ${basename(removal.trash)} back to it.` },
      );
    }
    await rename(removal.trash, removal.path);
  } else await moveBack(removal.kept, removal.path);
  // Where somebody took the record away meanwhile, the refs are all that holds its commits.
  if (await isRecorded(removal)) await dropRefs(context, [removal.archive, ...removal.aside]);
  journal.save('workspace.put_back', { ...removal, state: 'put-back' }, { durable: true });
}

async function dropRefs(context: Context, refs: readonly string[]): Promise<void> {
  const at = await context.refs.resolveCommits(refs);
  const updates = refs.flatMap((ref, i) => {
    const from = at[i];
    return from === undefined ? [] : [{ ref, to: null, from }];
  });
  await context.refs.updateRefs(updates, 'sennit: the workspace stays');
}

/** After a crash: puts a workspace back whose record is still there, and finishes the removal of one whose record is
 * gone. Throws as `putBack`. */
export async function endRemoval(
  context: Context,
  removal: Removal,
  journal: RemovalJournal,
): Promise<'removed' | 'put-back'> {
  if (removal.state === 'removed' || removal.state === 'put-back') return removal.state;
  const hasTrash = await exists(removal.trash);
  const taken = await exists(removal.path);
  const recorded = await isRecorded(removal);
  // Once proved, a folder at the old path is a new one, and so may the record be: the trash may go.
  if (removal.state === 'proved' && (!recorded || taken || !hasTrash)) {
    if (recorded && !taken) await context.checkouts.forgetWorktree(removal.adminDir);
    await deleteTrash(context, removal, journal);
    return 'removed';
  }
  if (!hasTrash && !taken) {
    // Somebody deleted the folder; the archive has what it held.
    journal.save('workspace.gone', { ...removal, state: 'removed' }, { durable: true });
    return 'removed';
  }
  await putBack(context, removal, journal);
  return 'put-back';
}

/** True while the record of the workspace is there, and not a later one of the same name. */
async function isRecorded({ adminDir, gitdir }: Removal): Promise<boolean> {
  return (await readFile(join(adminDir, 'gitdir'), 'utf8').catch(() => null)) === gitdir;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
