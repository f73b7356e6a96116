// Many sources that touch the same paths are merged pairwise, in rounds, each round by one git process, instead of one
// after another by a process each. Every merge is a merge of two commits with true parents from the same base, and is
// verified like any other; what is not clean and believed at once is left to be merged alone, where its conflicts can be
// settled or handed over.

import type { Oid } from '../model/ids.ts';
import type { LandSource, PathRecord } from './land-data.ts';
import type { MergeInput } from './merge.ts';
import { verifyMerge } from './verify-merge.ts';

/** Sources merged with each other but not with the target yet. Poses as one source. */
export interface Group {
  readonly source: LandSource;
  readonly members: readonly LandSource[];
  readonly paths: readonly PathRecord[];
}

export interface Rounds {
  readonly groups: readonly Group[];
  /** Sources that must be merged alone, in the given order. */
  readonly alone: readonly LandSource[];
}

/** Fewer sources than this are merged one after another: rounds would save nothing. */
const WORTH_ROUNDS = 4;

/** Merges sources that start from the same base with each other. */
export async function mergeInRounds(input: MergeInput, sources: readonly LandSource[]): Promise<Rounds> {
  const byBase = new Map<Oid, LandSource[]>();
  const alone = new Set<LandSource>();
  for (const source of sources) {
    if (source.entangled) alone.add(source);
    else byBase.set(source.base, [...(byBase.get(source.base) ?? []), source]);
  }
  const groups: Group[] = [];
  for (const members of byBase.values()) {
    if (members.length < WORTH_ROUNDS) {
      for (const source of members) alone.add(source);
      continue;
    }
    input.step(`merging ${members.length} sources with each other`);
    let groupsNow: Group[] = members.map((source) => ({ source, members: [source], paths: [] }));
    while (groupsNow.length > 1) groupsNow = await oneRound(input, groupsNow, alone);
    for (const group of groupsNow) {
      if (group.members.length === 1) alone.add(group.source);
      else groups.push(group);
    }
  }
  return { groups, alone: sources.filter((source) => alone.has(source)) };
}

async function oneRound(
  input: MergeInput,
  groups: readonly Group[],
  alone: Set<LandSource>,
): Promise<Group[]> {
  const pairs: (readonly [Group, Group])[] = [];
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
  a: Group,
  b: Group,
  tree: Oid,
  ms: number,
): Promise<Group | undefined> {
  const check = await verifyMerge(
    input,
    { accumulated: a.source.prepared, tree: a.source.tree },
    b.source,
    tree,
    new Set(),
  );
  if (check.conflicts.length > 0) return undefined;
  const commit = await input.objects.writeCommit({
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
    source: {
      ...a.source,
      name: `${a.source.name} with others`,
      prepared: commit,
      tree,
      base: a.source.base,
      entangled: false,
    },
    members: [...a.members, ...b.members],
    paths: [...a.paths, ...b.paths, ...paths],
  };
}
