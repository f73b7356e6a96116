// The ladder at work: sources are merged one after another onto an accumulated commit with true parents, in the object
// database. Sources that can meet nothing go in together, by replacing their paths in the tree: that is what git would
// give, without asking it. A source that conflicts steps back until all others are in, so that what waits for a
// person is as little as possible. Every clean result is verified from outside before it counts.

import { climb } from '../merge/ladder.ts';
import { PathIndex } from '../merge/overlap.ts';
import type { Conflict, Settlement } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import { type EntryChange, sameEntry, type TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource, MergeState, PathRecord } from './land-data.ts';
import { joinContents } from './merge-contents.ts';
import { asSource, type Group, mergeInRounds } from './merge-rounds.ts';
import type { MergeInput } from './merge-work.ts';
import { movedDirectoryFindings } from './moved-directories.ts';
import { verifyMerge } from './verify-merge.ts';

export interface MergeReport {
  readonly state: MergeState;
  readonly findings: readonly Finding[];
}

interface Changes {
  readonly source: LandSource;
  readonly changes: readonly EntryChange[];
}

/** The state from which a merge onto `tip` begins; `landed` are snapshots that the tip already contains. */
export async function startMerge(
  objects: Objects,
  tip: Oid,
  landed: readonly Oid[],
  sources: readonly LandSource[],
): Promise<MergeState> {
  const tree = await objects.treeOf(tip);
  const accumulated =
    landed.length === 0
      ? tip
      : await objects.writeCommit({
          tree,
          parents: [tip, ...landed],
          message: 'sennit: what has landed before\n',
        });
  return {
    tip,
    accumulated,
    tree,
    merged: [],
    waiting: sources.map(({ name }) => name),
    paths: [],
    regenerate: [],
    open: null,
  };
}

/** Merges all waiting sources, or stops at conflicts that no rung settles (`state.open`). */
export async function mergeWaiting(input: MergeInput, start: MergeState): Promise<MergeReport> {
  const { objects } = input;
  const byName = new Map(input.sources.map((source) => [source.name, source]));
  const waiting = start.waiting.map((name) => byName.get(name)).filter((source) => source !== undefined);
  const all = await Promise.all(
    waiting.map(async (source): Promise<Changes> => ({ source, changes: await changesOf(objects, source) })),
  );
  const findings: Finding[] = [...movedDirectoryFindings(all)];
  let state = start;
  const { apart, meeting } = await splitByOverlap(objects, state, all);
  const attributes = {
    tree: await objects.treeOf(start.tip),
    paths: meeting.flatMap(({ changes }) => changes.map(({ path }) => path)),
  };
  if (meeting.length > 0) await objects.useAttributesOf(attributes.tree, attributes.paths);
  if (apart.length > 0) {
    input.step(
      `merging ${apart.length} source${apart.length === 1 ? '' : 's'} that meet${apart.length === 1 ? 's' : ''} nothing`,
    );
    state = await putIn(
      objects,
      state,
      apart.map(({ source }) => source),
      apart.flatMap(({ changes }) => changes),
    );
  }
  const joined = await joinContents(input, meeting);
  const { groups, alone } = await mergeInRounds(input, joined.rest, attributes);
  const back: LandSource[] = [];
  for (const group of [...joined.groups, ...groups]) {
    const next = await joinGroup(input, state, group);
    if (next === undefined) back.push(...group.members);
    else state = next;
  }
  return { state: await mergeEach(input, state, [...back, ...alone]), findings };
}

/** Merges sources one after another; one that conflicts steps back until no other goes in any more. */
async function mergeEach(
  input: MergeInput,
  start: MergeState,
  sources: readonly LandSource[],
): Promise<MergeState> {
  let state = start;
  let queue = sources;
  for (;;) {
    const back: LandSource[] = [];
    let moved = false;
    let stopped: MergeState | undefined;
    for (const source of queue) {
      input.step(`merging ${source.name}`);
      const result = await mergeOne(input, state, source, [source]);
      if (result.outcome === 'merged') {
        state = result.state;
        moved = true;
      } else {
        back.push(source);
        stopped ??= result.state;
      }
    }
    if (stopped === undefined) return { ...state, waiting: [] };
    // Without progress in this round the first stop was made on the state as it is now.
    if (!moved) return { ...stopped, waiting: back.slice(1).map(({ name }) => name) };
    queue = back;
  }
}

/** What a source changes against its base. */
export async function changesOf(objects: Objects, source: LandSource): Promise<readonly EntryChange[]> {
  return objects.diffTrees(await objects.treeOf(source.base), source.tree);
}

/** Sources that share no path with the target's own changes nor with each other, and the rest in the given order. */
async function splitByOverlap(
  objects: Objects,
  state: MergeState,
  all: readonly Changes[],
): Promise<{ apart: Changes[]; meeting: Changes[] }> {
  const index = new PathIndex();
  for (const [i, { changes }] of all.entries()) index.add(i, changes);
  const targetChanges = new Map<Oid, PathIndex>();
  for (const base of new Set(all.map(({ source }) => source.base))) {
    const own = new PathIndex();
    own.add(-1, await objects.diffTrees(await objects.treeOf(base), state.tree));
    targetChanges.set(base, own);
  }
  const apart: Changes[] = [];
  const meeting: { one: Changes; weight: number; at: number }[] = [];
  for (const [i, one] of all.entries()) {
    const others = index.meetings(i, one.changes);
    const target = targetChanges.get(one.source.base)?.meetings(i, one.changes) ?? new Map();
    if (!one.source.entangled && others.size === 0 && target.size === 0) apart.push(one);
    else
      meeting.push({
        one,
        weight: [...others.values(), ...target.values()].reduce((sum, paths) => sum + paths.length, 0),
        at: i,
      });
  }
  meeting.sort((a, b) => a.weight - b.weight || a.at - b.at);
  return { apart, meeting: meeting.map(({ one }) => one) };
}

/** Puts in what meets nothing that the state has changed: every path as it is, which is what git would give. */
async function putIn(
  objects: Objects,
  state: MergeState,
  sources: readonly LandSource[],
  changes: readonly EntryChange[],
): Promise<MergeState> {
  const tree = await objects.applyToTree(
    state.tree,
    new Map<GitPath, TreeEntry | null>(changes.map(({ path, after }) => [path, after])),
  );
  const names = sources.map(({ name }) => name);
  const accumulated = await objects.writeCommit({
    tree,
    parents: [state.accumulated, ...sources.map(({ prepared }) => prepared)],
    message: `sennit: merge ${names.join(', ')}\n`,
  });
  return advanced(state, { accumulated, tree, names, paths: [], regenerate: [] });
}

/** Merges a group onto the state; undefined when its members must be merged one by one. */
async function joinGroup(
  input: MergeInput,
  state: MergeState,
  group: Group,
): Promise<MergeState | undefined> {
  const { objects } = input;
  const since = new PathIndex();
  since.add(-1, await objects.diffTrees(await objects.treeOf(group.base), state.tree));
  const joined =
    since.meetings(0, group.changes).size === 0
      ? await putIn(objects, state, group.members, group.changes)
      : await mergeAsOne(input, state, group);
  return joined && { ...joined, paths: [...joined.paths, ...group.paths] };
}

async function mergeAsOne(
  input: MergeInput,
  state: MergeState,
  group: Group,
): Promise<MergeState | undefined> {
  const result = await mergeOne(input, state, await asSource(input.objects, group), group.members);
  return result.outcome === 'merged' ? result.state : undefined;
}

function advanced(
  state: MergeState,
  step: {
    accumulated: Oid;
    tree: Oid;
    names: readonly string[];
    paths: readonly PathRecord[];
    regenerate: readonly GitPath[];
  },
): MergeState {
  return {
    ...state,
    accumulated: step.accumulated,
    tree: step.tree,
    merged: [...state.merged, ...step.names],
    waiting: state.waiting.filter((name) => !step.names.includes(name)),
    paths: [...state.paths, ...step.paths],
    regenerate: [...new Set([...state.regenerate, ...step.regenerate])],
    open: null,
  };
}

type OneMerge =
  | { readonly outcome: 'merged'; readonly state: MergeState }
  | { readonly outcome: 'conflicts'; readonly state: MergeState };

/** Merges one source, or a group of sources that poses as one, onto the accumulated commit, by every rung. */
async function mergeOne(
  input: MergeInput,
  state: MergeState,
  source: LandSource,
  members: readonly LandSource[],
): Promise<OneMerge> {
  const { objects } = input;
  const start = input.now();
  const text = await objects.mergeTree(
    { oid: state.accumulated, label: input.targetLabel },
    { oid: source.prepared, label: source.name },
  );
  if (text.outcome === 'refused') {
    throw new SennitError('merge_failed', `git could not merge ${source.name}: ${text.reason}`, {
      hint: 'Nothing has been changed. `sennit doctor` looks for known causes.',
    });
  }
  const raw = text.outcome === 'conflict' ? text.conflicts : [];
  const unsettled = new Set(raw.flatMap(({ path, related }) => [path, ...related]));
  const verified = await verifyMerge(input, state, source, text.tree, unsettled);
  const conflicts: Conflict[] = [];
  for (const conflict of raw) {
    const kind = verified.kinds.get(conflict.path) ?? conflict.kind;
    const leftover = await objects.entryAt(text.tree, conflict.path);
    conflicts.push({
      ...conflict,
      kind,
      leftover,
      sources: await meetingSources(input, state, source, conflict.path),
      tried: [{ rung: 'text', reason: conflict.message }],
    });
  }
  for (const conflict of verified.conflicts) {
    conflicts.push({ ...conflict, sources: await meetingSources(input, state, source, conflict.path) });
  }

  const settled: Settlement[] = [];
  const open: Conflict[] = [];
  const regenerate = new Set<GitPath>();
  for (const conflict of conflicts) {
    if (conflict.kind === 'generated' && input.canRegenerate(conflict.path)) {
      const entry = conflict.sides.target ?? conflict.sides.change;
      settled.push({
        path: conflict.path,
        entry,
        rung: 'regenerate',
        reason: 'written anew by its command after the merge',
        ms: 0,
      });
      regenerate.add(conflict.path);
      continue;
    }
    const replayed = await input.replay(conflict);
    if (replayed !== undefined) {
      settled.push({
        path: conflict.path,
        entry: replayed,
        rung: 'hand-over',
        reason: 'replayed an earlier resolution of the same versions',
        ms: 0,
      });
    } else open.push(conflict);
  }
  const climbed = await climb(open, input.rungs, input.now);
  const believed = await Promise.all(climbed.settled.map((one) => verified.check(one, conflicts)));
  const left = [...climbed.left];
  climbed.settled.forEach((one, i) => {
    const doubt = believed[i];
    const conflict = conflicts.find(({ path }) => path === one.path);
    if (doubt === undefined) settled.push(one);
    else if (conflict !== undefined)
      left.push({ ...conflict, tried: [...conflict.tried, { rung: one.rung, reason: doubt }] });
  });
  const tree = await objects.applyToTree(text.tree, new Map(settled.map(({ path, entry }) => [path, entry])));
  const ms = Math.round(input.now() - start);
  const paths: PathRecord[] = [
    ...verified.joined.map((path) => ({
      path,
      rung: 'text',
      reason: 'both sides changed it; git merged its lines',
      ms,
      source: source.name,
    })),
    ...settled.map(({ path, rung, reason, ms: took }) => ({
      path,
      rung,
      reason,
      ms: took,
      source: source.name,
    })),
  ];
  if (left.length > 0) {
    return {
      outcome: 'conflicts',
      state: {
        ...state,
        paths: [...state.paths, ...paths],
        regenerate: [...new Set([...state.regenerate, ...regenerate])],
        open: { source: source.name, tree, conflicts: left, resolved: [] },
      },
    };
  }
  const names = members.map(({ name }) => name);
  const accumulated = await objects.writeCommit({
    tree,
    parents: [state.accumulated, source.prepared],
    message: `sennit: merge ${names.join(', ')}\n`,
  });
  return {
    outcome: 'merged',
    state: advanced(state, { accumulated, tree, names, paths, regenerate: [...regenerate] }),
  };
}

/** Goes on after a person settled all open conflicts: `tree` is the whole resolved tree. */
export async function closeOpenMerge(
  objects: Objects,
  state: MergeState,
  source: LandSource,
  tree: Oid,
  resolved: readonly PathRecord[],
): Promise<MergeState> {
  const accumulated = await objects.writeCommit({
    tree,
    parents: [state.accumulated, source.prepared],
    message: `sennit: merge ${source.name}, resolved by hand\n`,
  });
  return advanced(state, { accumulated, tree, names: [source.name], paths: resolved, regenerate: [] });
}

/** The sources that meet at a path: those already merged that changed it, then the one being merged. */
async function meetingSources(
  input: MergeInput,
  state: MergeState,
  source: LandSource,
  path: GitPath,
): Promise<string[]> {
  const names: string[] = [];
  for (const other of input.sources) {
    if (!state.merged.includes(other.name)) continue;
    const [before, after] = await Promise.all([
      input.objects.treeOf(other.base).then((tree) => input.objects.entryAt(tree, path)),
      input.objects.entryAt(other.tree, path),
    ]);
    if (!sameEntry(before, after)) names.push(other.name);
  }
  return [...names, source.name];
}
