// The proof that a workspace's content is in a branch already. Three ways, cheapest first: the branch contains a landing
// of a snapshot with the same tree; the workspace has nothing uncommitted and its HEAD is an ancestor of the branch;
// merging the workspace into the branch adds nothing. A branch that the workspace itself has checked out proves nothing.

import type { GitPath, Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects } from '../ports/git.ts';
import type { Context } from './context.ts';
import { readLandData } from './land-data.ts';

/** A branch in which content may be contained. */
export interface TargetFacts {
  readonly ref: string;
  /** Short name. */
  readonly name: string;
  readonly tip: Oid;
  readonly tree: Oid;
  /** Trees of snapshots whose landing the branch contains. */
  readonly landed: ReadonlySet<Oid>;
  /** The newest of those snapshots that still exists, by the identity of its source. */
  readonly snapshots: ReadonlyMap<string, Oid>;
}

/** A workspace's content as a commit. */
export interface Content {
  readonly branch: string | null;
  readonly head: Oid | null;
  readonly commit: Oid;
  readonly tree: Oid;
  readonly uncommitted: boolean;
}

export type Containment =
  | { readonly outcome: 'contained'; readonly target: string; readonly proof: string }
  /** `paths` are those that the branch `target` would get, or meet in conflict. */
  | { readonly outcome: 'open'; readonly target: string | null; readonly paths: readonly GitPath[] };

/** The branches that work goes to: the settings' target, the branch that is checked out here, the repository's own, and
 * all that something was landed on. In this order, each that exists. */
export async function readTargets(
  context: Context,
  objects: Objects,
  worktrees: readonly WorktreeInfo[],
): Promise<TargetFacts[]> {
  const landings = (context.readLedger()?.listOperations({ kinds: ['land'], states: ['done'] }) ?? [])
    .map(readLandData)
    .flatMap((data) => (data.landing === null ? [] : [{ ...data, landing: data.landing }]));
  const { target } = context.settings;
  const named = [
    target === null ? null : `refs/heads/${target.replace(/^refs\/heads\//, '')}`,
    worktrees.find(({ adminDir }) => adminDir === context.place.gitDir)?.branch ?? null,
    await context.refs.readHead(),
    ...landings.flatMap((data) => [
      data.target,
      data.options.branch === null ? null : `refs/heads/${data.options.branch}`,
    ]),
  ];
  const refs = [...new Set(named.filter((ref) => ref !== null))];
  const tips = await context.refs.resolveCommits(refs);
  const trees = await snapshotTrees(
    context,
    objects,
    landings.flatMap(({ sources }) => sources),
  );
  const found: TargetFacts[] = [];
  for (const [i, ref] of refs.entries()) {
    const tip = tips[i];
    if (tip === undefined) continue;
    const known = await objects.areAncestors(
      landings.map(({ landing }) => landing),
      tip,
    );
    const sources = landings
      .filter((_, at) => known[at] === true)
      .flatMap((landing) => landing.sources)
      .filter(({ snapshot }) => trees.has(snapshot));
    found.push({
      ref,
      name: ref.replace(/^refs\/heads\//, ''),
      tip,
      tree: await objects.treeOf(tip),
      landed: new Set(sources.flatMap(({ snapshot }) => trees.get(snapshot) ?? [])),
      // Newest first: of several entries of one key, the last one stays.
      snapshots: new Map(sources.reverse().map(({ identity, snapshot }) => [identity, snapshot])),
    });
  }
  return found;
}

/** Trees of snapshots, those that still exist. */
async function snapshotTrees(
  context: Context,
  objects: Objects,
  sources: readonly { readonly snapshot: Oid }[],
): Promise<Map<Oid, Oid>> {
  const snapshots = [...new Set(sources.map(({ snapshot }) => snapshot))];
  const there = await context.refs.resolveCommits(snapshots);
  const trees = new Map<Oid, Oid>();
  for (const commit of there) if (commit !== undefined) trees.set(commit, await objects.treeOf(commit));
  return trees;
}

/** Looks for a branch that contains the content. */
export async function proveContained(
  objects: Objects,
  targets: readonly TargetFacts[],
  content: Content,
): Promise<Containment> {
  const others = targets.filter(({ ref }) => ref !== content.branch);
  for (const { name, tree, landed } of others) {
    if (landed.has(content.tree)) {
      return { outcome: 'contained', target: name, proof: `landed on ${name}` };
    }
    if (tree === content.tree) {
      return { outcome: 'contained', target: name, proof: `contained in ${name}: the same content` };
    }
  }
  if (!content.uncommitted && content.head !== null) {
    for (const { name, tip } of others) {
      if (await objects.isAncestor(content.head, tip)) {
        return {
          outcome: 'contained',
          target: name,
          proof: `contained in ${name}: its commit is an ancestor and nothing is uncommitted`,
        };
      }
    }
  }
  let open: Containment | undefined;
  for (const target of others) {
    const paths = await addedPaths(objects, target, content);
    if (paths.length === 0) {
      const proof = `contained in ${target.name}: merging it adds nothing`;
      return { outcome: 'contained', target: target.name, proof };
    }
    open ??= { outcome: 'open', target: target.name, paths };
  }
  return open ?? { outcome: 'open', target: null, paths: await ownPaths(objects, content) };
}

/** Paths that merging the content would change in the branch; never empty unless it is contained. */
async function addedPaths(objects: Objects, target: TargetFacts, content: Content): Promise<GitPath[]> {
  const differing = (await objects.diffTrees(target.tree, content.tree)).map(({ path }) => path);
  await objects.useAttributesOf(target.tree, differing);
  const merged = await objects.mergeTree(
    { oid: target.tip, label: target.name },
    { oid: content.commit, label: 'workspace' },
  );
  if (merged.outcome === 'refused') return differing;
  const changed = (await objects.diffTrees(target.tree, merged.tree)).map(({ path }) => path);
  if (merged.outcome === 'clean') return changed;
  return [...new Set([...merged.conflicts.map(({ path }) => path), ...changed])].sort();
}

async function ownPaths(objects: Objects, { head, tree }: Content): Promise<GitPath[]> {
  const before = head === null ? await objects.emptyTree() : await objects.treeOf(head);
  return (await objects.diffTrees(before, tree)).map(({ path }) => path);
}
