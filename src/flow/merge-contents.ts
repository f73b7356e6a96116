// Sources of one base that meet nowhere but in files which each of them plainly edits are merged by those files alone:
// the versions of each file are joined pairwise, all files at once, in as many rounds as the most contested one needs.
// What git makes of a file does not depend on the rest of its tree then (src/merge/contested.ts), and every joined file
// is verified like that of any other merge. A source whose version does not join cleanly is left out and the others
// begin again, so that nothing of it is in their result.

import { type ContestedPath, findContest } from '../merge/contested.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { EntryChange, TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource, PathRecord } from './land-data.ts';
import type { Group } from './merge-rounds.ts';
import { doubtsOf } from './verify-merge.ts';

export interface Contender {
  readonly source: LandSource;
  readonly changes: readonly EntryChange[];
}

interface Tools {
  readonly objects: Objects;
  isGenerated(path: GitPath): boolean;
  now(): number;
}

/** Times that sources are left out before all that are left are merged in another way. */
const MOST_TRIES = 4;

/** Joins sources by the bases that they start from. Uses the attributes that `objects` uses. */
export async function joinContents(
  tools: Tools,
  all: readonly Contender[],
): Promise<{ readonly groups: readonly Group[]; readonly rest: readonly LandSource[] }> {
  const byBase = new Map<Oid, Contender[]>();
  for (const one of all)
    if (!one.source.entangled) byBase.set(one.source.base, [...(byBase.get(one.source.base) ?? []), one]);
  const groups: Group[] = [];
  for (const some of byBase.values()) {
    const group = await joinSome(tools, some);
    if (group !== undefined) groups.push(group);
  }
  const members = new Set(groups.flatMap((group) => group.members));
  return { groups, rest: all.map(({ source }) => source).filter((source) => !members.has(source)) };
}

/** Joins sources of one base; undefined when fewer than two can be. */
async function joinSome(tools: Tools, all: readonly Contender[]): Promise<Group | undefined> {
  const special = await findSpecial(tools, all);
  let taking = all;
  for (let tries = 0; tries < MOST_TRIES && taking.length > 1; tries += 1) {
    const { contested, rough } = findContest(
      taking.map(({ changes }) => changes),
      special,
    );
    const smooth = taking.filter((_, i) => !rough.has(i));
    if (smooth.length < 2) return undefined;
    const start = tools.now();
    const joined = await joinPaths(tools.objects, contested);
    const out = new Set(joined.flatMap((one) => (one.outcome === 'joined' ? [] : one.owners)));
    if (out.size === 0) {
      const ms = Math.round((tools.now() - start) / Math.max(1, contested.length));
      const done = joined.flatMap((one) => (one.outcome === 'joined' ? [one] : []));
      return groupOf(taking, smooth, done, ms);
    }
    taking = taking.filter((_, i) => !out.has(i));
  }
  return undefined;
}

/** Paths of which git or the settings want more than their lines merged. Only shared ones matter. */
async function findSpecial(
  { objects, isGenerated }: Tools,
  all: readonly Contender[],
): Promise<Set<GitPath>> {
  const seen = new Set<GitPath>();
  const shared = new Set<GitPath>();
  for (const { changes } of all)
    for (const { path } of changes) {
      if (seen.has(path)) shared.add(path);
      seen.add(path);
    }
  const special = await objects.findSpecial([...shared]);
  for (const path of shared) if (isGenerated(path)) special.add(path);
  return special;
}

type Joined =
  | {
      readonly outcome: 'joined';
      readonly path: GitPath;
      readonly entry: TreeEntry;
      readonly owners: readonly number[];
      /** False when all have the same version. */
      readonly merged: boolean;
    }
  /** These owners' versions do not go in. */
  | { readonly outcome: 'stopped'; readonly owners: readonly number[] };

interface Version {
  readonly owners: readonly number[];
  readonly entry: TreeEntry;
}

/** Joins the versions of each path, pairwise and in rounds. */
async function joinPaths(objects: Objects, contested: readonly ContestedPath[]): Promise<Joined[]> {
  const stopped: Joined[] = [];
  let open = contested.map(({ path, base, versions }) => ({
    path,
    base,
    versions: [...versions] as Version[],
  }));
  while (open.some(({ versions }) => versions.length > 1)) {
    const pairs = open.flatMap(({ base, versions }, at) =>
      versions.flatMap((left, i) => {
        const right = i % 2 === 0 ? versions[i + 1] : undefined;
        return right === undefined ? [] : [{ at, base, left, right }];
      }),
    );
    const merges = await objects.mergeContents(
      pairs.map(({ base, left, right }) => ({ base, target: left.entry, change: right.entry })),
    );
    const next = open.map(({ versions }): Version[] =>
      versions.slice(versions.length - (versions.length % 2)),
    );
    const odd = next.map((list) => list.pop());
    const clean = pairs.flatMap(({ at, base, left, right }, k) => {
      const merge = merges[k];
      const path = open[at]?.path;
      if (merge === undefined || path === undefined) throw new RangeError('an answer is missing');
      if (merge.outcome !== 'clean') return [];
      return [{ k, question: { path, base, target: left.entry, change: right.entry, result: merge.entry } }];
    });
    const doubts = await doubtsOf(
      objects,
      clean.map(({ question }) => question),
    );
    const results = new Map(
      clean.flatMap(({ k, question }, i) => (doubts[i] === undefined ? [[k, question.result]] : [])),
    );
    for (const [k, { at, left, right }] of pairs.entries()) {
      const entry = results.get(k);
      if (entry !== undefined) next[at]?.push({ owners: [...left.owners, ...right.owners], entry });
      else {
        next[at]?.push(left);
        stopped.push({ outcome: 'stopped', owners: right.owners });
      }
    }
    open = open.map((one, at) => {
      const last = odd[at];
      return { ...one, versions: [...(next[at] ?? []), ...(last === undefined ? [] : [last])] };
    });
  }
  return [
    ...stopped,
    ...open.flatMap(({ path, versions: [only] }, at): Joined[] => {
      const merged = (contested[at]?.versions.length ?? 0) > 1;
      return only === undefined ? [] : [{ outcome: 'joined', path, merged, ...only }];
    }),
  ];
}

function groupOf(
  taking: readonly Contender[],
  smooth: readonly Contender[],
  joined: readonly (Joined & { outcome: 'joined' })[],
  ms: number,
): Group {
  const entries = new Map(joined.map(({ path, entry }) => [path, entry]));
  const changes = new Map<GitPath, EntryChange>();
  for (const one of smooth)
    for (const change of one.changes)
      changes.set(change.path, { ...change, after: entries.get(change.path) ?? change.after });
  const paths = joined
    .filter(({ merged }) => merged)
    .map(({ path, owners: [, ...later] }): PathRecord => {
      const names = later.map((i) => taking[i]?.source.name ?? '');
      const reason = 'both sides changed it; git merged its lines';
      return { path, rung: 'text', reason, ms, source: names.join(', ') };
    });
  const [first] = smooth;
  if (first === undefined) throw new RangeError('a group without members');
  return {
    base: first.source.base,
    members: smooth.map(({ source }) => source),
    changes: [...changes.values()],
    paths,
  };
}
