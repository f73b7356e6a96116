// Many sources that touch the same paths are merged pairwise, in rounds, each round by one git process, instead of one
// after another by a process each. Every merge is a merge of two commits with true parents from the same base, and is
// verified like any other; what is not clean and believed at once is left to be merged alone, where its conflicts can be
// settled or handed over. The steps between are made on a bench and vanish with it: what is kept of a group is what it
// changes, and the content that its merges made.

import type { GitPath, Oid } from '../model/ids.ts';
import type { EntryChange, TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource, PathRecord } from './land-data.ts';
import type { MergeInput } from './merge-work.ts';
import { verifyMerge } from './verify-merge.ts';

/** Sources merged with each other but not with the target yet. */
export interface Group {
  readonly base: Oid;
  readonly members: readonly LandSource[];
  /** What all of them together change against the base. */
  readonly changes: readonly EntryChange[];
  readonly paths: readonly PathRecord[];
}

export interface Rounds {
  readonly groups: readonly Group[];
  /** Sources that must be merged alone, in the given order. */
  readonly alone: readonly LandSource[];
}

/** A group while it grows: poses as one source, whose commit is on the bench. */
interface Growing {
  readonly source: LandSource;
  readonly members: readonly LandSource[];
  readonly paths: readonly PathRecord[];
}

/** Fewer sources than this are merged one after another: rounds would save nothing. */
const WORTH_ROUNDS = 4;

/** Merges sources that start from the same base with each other. `attributes` is the tree whose attributes count, for
 * these paths. */
export async function mergeInRounds(
  input: MergeInput,
  sources: readonly LandSource[],
  attributes: { readonly tree: Oid; readonly paths: readonly GitPath[] },
): Promise<Rounds> {
  const byBase = new Map<Oid, LandSource[]>();
  const alone = new Set<LandSource>();
  for (const source of sources) {
    if (source.entangled) alone.add(source);
    else byBase.set(source.base, [...(byBase.get(source.base) ?? []), source]);
  }
  const groups: Group[] = [];
  const worthy = [...byBase.values()].filter((members) => members.length >= WORTH_ROUNDS);
  for (const members of byBase.values())
    if (!worthy.includes(members)) for (const source of members) alone.add(source);
  if (worthy.length > 0) {
    const bench = await input.objects.openBench();
    try {
      await bench.useAttributesOf(attributes.tree, attributes.paths);
      for (const members of worthy) {
        input.step(`merging ${members.length} sources with each other`);
        groups.push(...(await mergeMembers({ ...input, objects: bench }, input.objects, members, alone)));
      }
    } finally {
      await bench.close();
    }
  }
  return { groups, alone: sources.filter((source) => alone.has(source)) };
}

/** Merges sources of one base on the bench; what cannot be merged so goes to `alone`. */
async function mergeMembers(
  input: MergeInput,
  kept: Objects,
  members: readonly LandSource[],
  alone: Set<LandSource>,
): Promise<Group[]> {
  let growing: Growing[] = members.map((source) => ({ source, members: [source], paths: [] }));
  while (growing.length > 1) growing = await oneRound(input, growing, alone);
  const groups: Group[] = [];
  for (const group of growing) {
    if (group.members.length === 1) alone.add(group.source);
    else groups.push(await keepGroup(input.objects, kept, group));
  }
  return groups;
}

async function oneRound(
  input: MergeInput,
  groups: readonly Growing[],
  alone: Set<LandSource>,
): Promise<Growing[]> {
  const pairs: (readonly [Growing, Growing])[] = [];
  for (let i = 0; i + 1 < groups.length; i += 2) {
    const [a, b] = [groups[i], groups[i + 1]];
    if (a !== undefined && b !== undefined) pairs.push([a, b]);
  }
  const start = input.now();
  const results = await input.objects.mergePairs(
    pairs.map(([a, b]) => [a.source.prepared, b.source.prepared]),
  );
  const ms = Math.round((input.now() - start) / Math.max(1, pairs.length));
  const next = await Promise.all(
    pairs.map(async ([a, b], i) => {
      const result = results[i];
      const joined = result?.outcome === 'clean' ? await believe(input, a, b, result.tree, ms) : undefined;
      if (joined !== undefined) return joined;
      for (const member of b.members) alone.add(member);
      return a;
    }),
  );
  const odd = groups.length % 2 === 1 ? groups.at(-1) : undefined;
  return odd === undefined ? next : [...next, odd];
}

/** The joined group, or undefined when a check does not believe the merge. */
async function believe(
  input: MergeInput,
  a: Growing,
  b: Growing,
  tree: Oid,
  ms: number,
): Promise<Growing | undefined> {
  const check = await verifyMerge(
    input,
    { accumulated: a.source.prepared, tree: a.source.tree },
    b.source,
    tree,
    new Set(),
  );
  if (check.conflicts.length > 0) return undefined;
  const prepared = await input.objects.writeCommit({
    tree,
    parents: [a.source.prepared, b.source.prepared],
    message: `sennit: merge ${b.source.name} with ${a.source.name}\n`,
  });
  const paths = check.joined.map((path) => ({
    path,
    rung: 'text',
    reason: 'both sides changed it; git merged its lines',
    ms,
    source: b.members.map(({ name }) => name).join(', '),
  }));
  return {
    source: { ...a.source, name: `${a.source.name} with others`, prepared, tree },
    members: [...a.members, ...b.members],
    paths: [...a.paths, ...b.paths, ...paths],
  };
}

/** What is kept of a group: the contents that its merges made are written where they stay. */
async function keepGroup(bench: Objects, kept: Objects, { source, members, paths }: Growing): Promise<Group> {
  const baseTree = await bench.treeOf(source.base);
  const changes = await bench.diffTrees(baseTree, source.tree);
  const own = new Set<Oid>();
  for (const changed of await Promise.all(members.map(({ tree }) => bench.diffTrees(baseTree, tree))))
    for (const { after } of changed) if (after !== null) own.add(after.oid);
  for (const { after } of changes)
    if (after !== null && !own.has(after.oid)) await kept.writeBlob(await bench.readBlob(after.oid));
  return { base: source.base, members, changes, paths };
}

/** A group as one source that can be merged like any other. */
export async function asSource(objects: Objects, { base, members, changes }: Group): Promise<LandSource> {
  const [first] = members;
  if (first === undefined) throw new RangeError('a group without members');
  const entries = new Map<GitPath, TreeEntry | null>(changes.map(({ path, after }) => [path, after]));
  const tree = await objects.applyToTree(await objects.treeOf(base), entries);
  const prepared = await objects.writeCommit({
    tree,
    parents: members.map((member) => member.prepared),
    message: `sennit: merge ${members.map(({ name }) => name).join(', ')}\n`,
  });
  return { ...first, name: `${first.name} with others`, prepared, tree };
}
