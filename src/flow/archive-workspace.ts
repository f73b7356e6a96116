// All that only one workspace has, put under refs before the workspace goes: its content as the archive commit, what is
// staged where that is neither its commit nor its files, and commits that nothing but its own git dir still names.

import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { isOid, isZeroOid, type Oid } from '../model/ids.ts';
import type { Objects, RefUpdate } from '../ports/git.ts';
import { type ArchiveFacts, renderArchive } from './archive-entry.ts';
import type { Context } from './context.ts';
import type { Judged, TakenContent } from './judge-workspace.ts';

export interface ArchiveRefs {
  readonly archive: string;
  /** For what is staged. */
  readonly staged: string;
  /** For commits that only its git dir names. */
  readonly reflog: string;
}

/** Writes the archive of a workspace and anchors it, in one transaction and on the disk. */
export async function archiveWorkspace(
  context: Context,
  objects: Objects,
  { worktree, content }: Judged & { readonly content: TakenContent },
  refs: ArchiveRefs,
  facts: ArchiveFacts,
): Promise<void> {
  const { head } = worktree;
  const parents = head === null ? [] : [head];
  const commit = await objects.writeCommit({
    tree: content.tree,
    parents: [...parents, ...content.landed.filter((oid) => oid !== head)],
    message: renderArchive(facts),
  });
  const updates: RefUpdate[] = [{ ref: refs.archive, to: commit, from: null }];
  const staged = await context.checkouts.writeIndexTree(worktree);
  if (staged !== null && staged !== content.tree && staged !== (await treeOf(objects, head))) {
    const message = `sennit: what was staged in ${facts.name}\n`;
    updates.push({
      ref: refs.staged,
      to: await objects.writeCommit({ tree: staged, parents, message }),
      from: null,
    });
  }
  const orphans = await findOrphans(context, objects, worktree.adminDir, head);
  if (orphans.length > 0) {
    const message = `sennit: commits that only ${facts.name} named\n`;
    const tree = await objects.treeOf(orphans[0] ?? commit);
    updates.push({
      ref: refs.reflog,
      to: await objects.writeCommit({ tree, parents: orphans, message }),
      from: null,
    });
  }
  await objects.makeDurable(
    updates.flatMap(({ to }) => to ?? []),
    [...parents, ...content.landed],
  );
  const outcome = await context.refs.updateRefs(updates, `sennit: archive of ${facts.name}`);
  if (outcome.outcome === 'moved') {
    throw new SennitError('internal_bug', `An archive ref exists already: ${outcome.message}`);
  }
}

function treeOf(objects: Objects, commit: Oid | null): Promise<Oid> {
  return commit === null ? objects.emptyTree() : objects.treeOf(commit);
}

/** Commits that only the worktree's own git dir names (its reflogs, its private refs, where HEAD was before) and that no
 * branch, tag or HEAD reaches; those that others of them reach are left out. */
async function findOrphans(
  context: Context,
  objects: Objects,
  adminDir: string,
  head: Oid | null,
): Promise<Oid[]> {
  const named = new Set<Oid>();
  for (const name of ['logs', 'refs', 'ORIG_HEAD', 'FETCH_HEAD'])
    await collectIds(join(adminDir, name), named);
  if (named.size === 0) return [];
  const there = (await context.refs.resolveCommits([...named])).filter((oid) => oid !== undefined);
  const known = (await context.refs.listRefs('refs/')).flatMap(({ commit }) => commit ?? []);
  const tips = [...new Set(there)];
  const histories = await objects.readHistories(tips, [
    ...new Set([...known, ...(head === null ? [] : [head])]),
  ]);
  const orphans = tips.filter((_, i) => (histories[i]?.commits.length ?? 0) > 0);
  const reached = new Set(
    tips.flatMap((tip, i) => (histories[i]?.commits ?? []).filter((commit) => commit !== tip)),
  );
  return orphans.filter((tip) => !reached.has(tip));
}

/** Adds all object ids with which lines of a file, or of files below a folder, begin: `<old> <new> Name …` of a reflog,
 * `<id>\tnot-for-merge\t…` of FETCH_HEAD, `<id>` of a ref. */
async function collectIds(path: string, found: Set<Oid>): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory() === true) {
    for (const name of await readdir(path)) await collectIds(join(path, name), found);
  } else if (stat?.isFile() === true) {
    for (const line of (await readFile(path, 'latin1')).split('\n')) {
      for (const word of line.split(/[ \t]/, 2)) if (isOid(word) && !isZeroOid(word)) found.add(word);
    }
  }
}
