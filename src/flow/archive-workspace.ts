// All that only one workspace has, put under refs before the workspace goes: its content as the archive commit, what is
// staged where that is neither its commit nor its files, and commits that only the reflog of its HEAD still names.

import { readFile } from 'node:fs/promises';
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
  /** For commits of the reflog. */
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
    const message = `sennit: commits that only the reflog of ${facts.name} names\n`;
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

/** Commits that the reflog of a worktree's HEAD names and that no branch, tag or HEAD reaches; those that others of
 * them reach are left out. */
async function findOrphans(
  context: Context,
  objects: Objects,
  adminDir: string,
  head: Oid | null,
): Promise<Oid[]> {
  const named = parseReflog(await readFile(join(adminDir, 'logs', 'HEAD'), 'latin1').catch(() => ''));
  if (named.length === 0) return [];
  const there = (await context.refs.resolveCommits(named)).filter((oid) => oid !== undefined);
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

/** All ids of a reflog, whose lines are `<old> <new> Name <email> 1700000000 +0000\tmessage`. */
function parseReflog(text: string): Oid[] {
  const found = new Set<Oid>();
  for (const line of text.split('\n')) {
    for (const oid of line.split(' ', 2)) if (isOid(oid) && !isZeroOid(oid)) found.add(oid);
  }
  return [...found];
}
