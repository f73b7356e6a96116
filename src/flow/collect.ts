// Collect: every source becomes a commit that holds all of its work, anchored by a private ref and on the disk, before
// anything else happens. A ref or a clean worktree is its own snapshot. What was committed by an agent stays in the
// snapshot's history, so nothing becomes unreachable; and a source whose earlier work has landed gets that earlier
// snapshot as a parent, so that only what is new since counts.

import { dirname, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid, type OperationId, slugOf } from '../model/ids.ts';
import type { Snapshot, Source } from '../model/source.ts';
import type { EntryChange } from '../model/tree.ts';
import type { History, Objects } from '../ports/git.ts';
import type { BlobFacts } from './blob-facts.ts';
import { type Context, OWN_REFS } from './context.ts';
import type { LandedSnapshot } from './landed.ts';
import { type Prepared, prepareLineEnds } from './line-ends.ts';

export interface CollectRequest {
  readonly operation: OperationId;
  readonly sources: readonly Source[];
  /** The commit that the target is at. */
  readonly tip: Oid;
  /** Snapshots whose landing the target contains. */
  readonly landed: readonly LandedSnapshot[];
  /** New objects go here instead of the repository's store (forecast). */
  readonly objectsDir: string | undefined;
  readonly facts: BlobFacts;
  /** Whether accidental changes of line ends are undone here; else the caller does so where it matters. */
  readonly lineEnds: boolean;
  /** False for a forecast or a dry run: nothing is anchored. */
  readonly anchor: boolean;
}

export interface CollectedSnapshot extends Snapshot {
  readonly history: History;
  readonly baseTree: Oid;
  /** What is merged: the snapshot, or a commit on top of it with accidental line ends undone. */
  readonly prepared: Prepared;
  /** What it changes, from base to prepared. */
  readonly changes: readonly EntryChange[];
}

export interface Collected {
  readonly snapshots: readonly CollectedSnapshot[];
  /** Ends when all of them are on the disk and under their refs: to be awaited before anything else changes. */
  readonly anchored: Promise<void>;
  /** Landed snapshots that some source builds on. */
  readonly landed: readonly Oid[];
  readonly findings: readonly Finding[];
}

interface Taken {
  readonly source: Source;
  readonly commit: Oid;
  readonly tree: Oid;
  readonly uncommitted: boolean;
  readonly findings: readonly Finding[];
  readonly aside: Snapshot['aside'];
}

/** How many workspaces are read at a time: reading is bound by the disk and by git's own threads. */
const PARALLEL_CAPTURES = 2;

/** Takes a snapshot of every source. Throws `snapshot_incomplete`, `snapshot_unstable`, `source_gone` or
 * `source_unrelated`; no ref has been made then. */
export async function collect(
  context: Context,
  objects: Objects,
  request: CollectRequest,
): Promise<Collected> {
  const taken: Taken[] = new Array(request.sources.length);
  const queue = [...request.sources.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, source] = next;
      taken[index] =
        source.worktree === undefined
          ? await takeRef(objects, source)
          : await takeWorktree(context, objects, source, request);
    }
  };
  context.narrator.step(`reading ${request.sources.length} source${request.sources.length === 1 ? '' : 's'}`);
  await Promise.all(Array.from({ length: PARALLEL_CAPTURES }, work));
  context.journalPoint('sources-captured');

  const first = await objects.readHistories(
    taken.map(({ commit }) => commit),
    [request.tip],
  );
  const landed = relevantLandings(first, request.landed);
  const histories =
    landed.length === 0
      ? first
      : await objects.readHistories(
          taken.map(({ commit }) => commit),
          [request.tip, ...landed],
        );
  const placed = await Promise.all(
    taken.map(async (one, i) => {
      const history = histories[i] ?? { commits: [], frontier: [one.commit], shared: false };
      const base = await baseOf(context, objects, one, history, request.tip, landed);
      const baseTree = await objects.treeOf(base);
      return { ...one, history, base, baseTree, changes: await objects.diffTrees(baseTree, one.tree) };
    }),
  );
  const contested = request.lineEnds
    ? await contestedPaths(objects, request.tip, placed)
    : new Set<GitPath>();
  const snapshots = await Promise.all(
    placed.map(async (one): Promise<CollectedSnapshot> => {
      const named = { name: one.source.name, commit: one.commit, tree: one.tree };
      const prepared = request.lineEnds
        ? await prepareLineEnds(
            objects,
            request.facts,
            named,
            one.changes,
            await accidentPaths(objects, one, contested),
          )
        : { ...named, findings: [] };
      return {
        ...one,
        prepared,
        changes:
          prepared.tree === one.tree ? one.changes : await objects.diffTrees(one.baseTree, prepared.tree),
        ref: OWN_REFS.snapshot(request.operation, slugOf(one.source.name)),
      };
    }),
  );
  // Merging happens in the object database alone, so it need not wait for the refs.
  const anchored = request.anchor ? anchor(context, objects, request, snapshots) : Promise.resolve();
  anchored.catch(() => undefined);
  return {
    snapshots,
    anchored,
    landed,
    findings: snapshots.flatMap(({ findings, prepared }) => [...findings, ...prepared.findings]),
  };
}

/** Paths that more than one side changes: there other line ends would make a conflict of every line. */
async function contestedPaths(
  objects: Objects,
  tip: Oid,
  all: readonly { readonly baseTree: Oid; readonly changes: readonly EntryChange[] }[],
): Promise<Set<GitPath>> {
  const tipTree = await objects.treeOf(tip);
  const seen = new Set<GitPath>();
  for (const baseTree of new Set(all.map((one) => one.baseTree)))
    for (const { path } of await objects.diffTrees(baseTree, tipTree)) seen.add(path);
  const contested = new Set<GitPath>();
  for (const { changes } of all) {
    for (const { path } of changes) {
      if (seen.has(path)) contested.add(path);
      else seen.add(path);
    }
  }
  return contested;
}

/** Paths whose line ends may have been changed by accident: contested ones, and those that nobody has committed. Line
 * ends that were committed, where nothing else meets them, are what somebody recorded. */
async function accidentPaths(
  objects: Objects,
  { source, tree, uncommitted, history }: Taken & { readonly history: History },
  contested: ReadonlySet<GitPath>,
): Promise<ReadonlySet<GitPath>> {
  // Sources that share commits agree about what these changed: that is no contest.
  const met = history.shared ? new Set<GitPath>() : contested;
  if (!uncommitted || source.head === null) return met;
  const loose = await objects.diffTrees(await objects.treeOf(source.head), tree);
  return new Set([...met, ...loose.map(({ path }) => path)]);
}

async function takeRef(objects: Objects, source: Source): Promise<Taken> {
  if (source.head === null) throw new SennitError('source_unknown', `${source.name} has no commit.`);
  const tree = await objects.treeOf(source.head);
  return { source, commit: source.head, tree, uncommitted: false, findings: [], aside: [] };
}

async function takeWorktree(
  context: Context,
  objects: Objects,
  source: Source,
  request: CollectRequest,
): Promise<Taken> {
  const { worktree } = source;
  if (worktree === undefined) throw new TypeError(`${source.name} is not a worktree`);
  if (!worktree.exists)
    throw new SennitError('source_gone', `The worktree ${worktree.path} is not there any more.`);
  const earlier = request.landed.filter((one) => one.identity === source.identity).map((one) => one.snapshot);
  // A clean-up may have let go of one whose workspace was away.
  const [previous] = await context.refs.resolveCommits(earlier.slice(0, 1));
  const base =
    source.head === null
      ? request.tip
      : ((await objects.mergeBases(request.tip, source.head))[0] ?? source.head);
  const { snapshot } = context.settings;
  const capture = await context.workspaces.capture({
    worktree,
    base,
    maxFileBytes: snapshot.maxFileBytes,
    filters: snapshot.filters,
    exclude: snapshot.exclude,
    scratch: join(captureFolder(context, request), slugOf(source.name)),
    ...(request.objectsDir === undefined ? {} : { objectsDir: request.objectsDir }),
  });
  const findings = capture.findings.map((finding) => ({ ...finding, source: source.name }));
  const aside = capture.aside.map(({ path, tree }, i) => ({
    path,
    tree,
    ref: OWN_REFS.aside(request.operation, `${slugOf(source.name)}-${i + 1}`),
  }));
  if (request.anchor && aside.length > 0) {
    await anchorAside(context, objects, source, aside);
    for (const { path, ref } of aside) {
      findings.push({
        check: 'work_set_aside',
        severity: 'warning',
        source: source.name,
        message: `${displayPath(path)} is a repository of its own: it is not part of the landing and is kept as ${ref}.`,
        paths: [displayPath(path)],
        remedy: `git ls-tree -r ${ref}`,
      });
    }
  }
  const same = source.head !== null && !capture.uncommitted;
  if (same && previous === undefined && source.head !== null) {
    return { source, commit: source.head, tree: capture.tree, uncommitted: false, findings, aside };
  }
  const commit = await objects.writeCommit({
    tree: capture.tree,
    parents: [...(source.head === null ? [] : [source.head]), ...(previous === undefined ? [] : [previous])],
    message: `sennit: snapshot of ${source.name}\n\nSennit-Operation: ${request.operation}\nSennit-Workspace: ${worktree.path}\n`,
  });
  return { source, commit, tree: capture.tree, uncommitted: capture.uncommitted, findings, aside };
}

/** Where captures keep their private indexes. Those of a forecast vanish with its objects. */
function captureFolder(context: Context, { operation, objectsDir }: CollectRequest): string {
  return objectsDir === undefined
    ? join(context.place.stateDir, 'operations', operation, 'capture')
    : join(dirname(objectsDir), 'capture');
}

async function anchorAside(
  context: Context,
  objects: Objects,
  source: Source,
  aside: readonly { readonly tree: Oid; readonly ref: string }[],
): Promise<void> {
  const commits = await Promise.all(
    aside.map(({ tree }) =>
      objects.writeCommit({ tree, parents: [], message: `sennit: set aside from ${source.name}\n` }),
    ),
  );
  await objects.makeDurable(commits, []);
  const outcome = await context.refs.updateRefs(
    aside.map(({ ref }, i) => ({ ref, to: commits[i] ?? null, from: null })),
    'sennit: set aside',
  );
  if (outcome.outcome === 'moved')
    throw new SennitError('internal_bug', `A private ref exists already: ${outcome.message}`);
}

/** Landed snapshots that lie in the history of some source. */
function relevantLandings(histories: readonly History[], landed: readonly LandedSnapshot[]): Oid[] {
  if (landed.length === 0) return [];
  const reached = new Set(histories.flatMap(({ commits }) => commits));
  return [...new Set(landed.map(({ snapshot }) => snapshot).filter((oid) => reached.has(oid)))];
}

async function baseOf(
  context: Context,
  objects: Objects,
  { source, commit }: Taken,
  { commits, frontier }: History,
  tip: Oid,
  landed: readonly Oid[],
): Promise<Oid> {
  if (commits.length === 0) return commit;
  const [only] = frontier;
  if (frontier.length === 1 && only !== undefined) return only;
  // Landed snapshots win over the target's own history: they are newer.
  for (const oid of landed) if (frontier.includes(oid) && (await objects.isAncestor(oid, commit))) return oid;
  const [base] = await objects.mergeBases(tip, commit);
  if (base === undefined) {
    throw new SennitError(
      context.place.shallow ? 'repository_shallow' : 'source_unrelated',
      `${source.name} shares no history with the target${context.place.shallow ? ' as far as this shallow clone goes' : ''}.`,
      {
        hint: context.place.shallow
          ? 'This is a shallow clone: run `git fetch --unshallow` first.'
          : "Sennit merges only work that started from the target's history.",
      },
    );
  }
  return base;
}

/** Puts all snapshots on the disk and under refs, in one transaction. */
async function anchor(
  context: Context,
  objects: Objects,
  request: CollectRequest,
  snapshots: readonly { readonly ref: string; readonly commit: Oid; readonly uncommitted: boolean }[],
): Promise<void> {
  await objects.makeDurable(
    snapshots.filter(({ uncommitted }) => uncommitted).map(({ commit }) => commit),
    [request.tip, ...request.sources.flatMap(({ head }) => head ?? [])],
  );
  const outcome = await context.refs.updateRefs(
    snapshots.map(({ ref, commit }) => ({ ref, to: commit, from: null })),
    `sennit: snapshot for ${request.operation}`,
  );
  if (outcome.outcome === 'moved')
    throw new SennitError('internal_bug', `A snapshot ref exists already: ${outcome.message}`);
  context.journalPoint('snapshots-anchored');
}
