// `sennit forecast`: which sources' changes will collide, before anything is merged. Pairs that can meet nowhere are
// known to be clean without asking git; all others are merged in memory by one git process, its objects quarantined.
// Nothing is anchored, recorded or kept.

import { planOrder } from '../merge/order.ts';
import { PathIndex } from '../merge/overlap.ts';
import type { ConflictKind } from '../model/conflict.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, newOperationId, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { MergeTreeResult, Objects } from '../ports/git.ts';
import { BlobFacts } from './blob-facts.ts';
import { type CollectedSnapshot, collect } from './collect.ts';
import type { Context } from './context.ts';
import { findLanded } from './landed.ts';
import { type Prepared, prepareLineEnds } from './line-ends.ts';
import { movedDirectoryFindings } from './moved-directories.ts';
import { shellWord } from './packet.ts';
import { findSources } from './sources.ts';
import { findTarget } from './target.ts';

export interface ForecastRequest {
  readonly names: readonly string[];
  /** Full ref name of the target. */
  readonly into: string;
  readonly worktrees: readonly WorktreeInfo[];
}

/** Two sources, or a source and the target (`b` null), whose changes collide. */
export interface Collision {
  readonly a: string;
  readonly b: string | null;
  readonly paths: readonly { readonly path: GitPath; readonly kind: ConflictKind }[];
}

export interface ForecastReport {
  readonly target: string;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly paths: number;
    readonly snapshot: Oid;
    readonly fresh: boolean;
  }[];
  /** The names as the user gave them, quoted for a shell. */
  readonly asTyped: readonly string[];
  readonly collisions: readonly Collision[];
  /** Names in the order with the fewest stops. */
  readonly order: readonly string[];
  /** Number of pairs, and of those that git had to be asked about. */
  readonly pairs: number;
  readonly asked: number;
  readonly findings: readonly Finding[];
}

export async function forecast(context: Context, request: ForecastRequest): Promise<ForecastReport> {
  const { into, worktrees } = request;
  const finding = findSources(context.refs, worktrees, {
    names: request.names,
    cwd: context.cwd,
    target: into,
  });
  finding.catch(() => undefined);
  const target = await findTarget(context.refs, into);
  const sources = await finding;
  const objects = await context.openObjects({ quarantine: true });
  const facts = new BlobFacts(objects);
  try {
    const collected = await collect(context, objects, {
      operation: newOperationId(context.clock.now()),
      sources,
      tip: target.tip,
      landed: await findLanded(context, objects, target.ref, target.tip),
      objectsDir: objects.objectsDir,
      anchor: false,
      facts,
      lineEnds: false,
    });
    const all = collected.snapshots;
    const fresh = all.filter(({ history, changes }) => history.commits.length > 0 && changes.length > 0);
    const meetings = await findMeetings(objects, fresh, target.tip);
    context.narrator.step(`merging ${meetings.length} of ${pairCount(fresh.length)} pairs in memory`);
    const met = await prepareMet(objects, facts, fresh, meetings);
    if (meetings.length > 0) {
      const paths = [...met.keys()].flatMap((i) => fresh[i]?.changes.map(({ path }) => path) ?? []);
      await objects.useAttributesOf(await objects.treeOf(target.tip), paths);
    }
    const commitOf = (i: number | null): Oid =>
      i === null ? target.tip : (met.get(i)?.commit ?? target.tip);
    const results = await objects.probePairs(meetings.map(({ a, b }) => [commitOf(b), commitOf(a)]));
    const collisions = meetings.flatMap(({ a, b }, i) => collisionOf(fresh, a, b, results[i]));
    const numbered = new Map(fresh.map(({ source }, i) => [source.name, i]));
    const order = planOrder(
      fresh.length,
      collisions.flatMap(({ a, b }) =>
        b === null ? [] : [[numbered.get(a) ?? 0, numbered.get(b) ?? 0] as const],
      ),
      new Set(collisions.flatMap(({ a, b }) => (b === null ? [numbered.get(a) ?? 0] : []))),
    );
    return {
      target: target.name,
      sources: all.map((one) => ({
        name: one.source.name,
        kind: one.source.kind,
        snapshot: one.commit,
        paths: one.changes.length,
        fresh: fresh.includes(one),
      })),
      asTyped: request.names.map(shellWord),
      collisions,
      order: order.flatMap((i) => fresh[i]?.source.name ?? []),
      pairs: pairCount(fresh.length),
      asked: meetings.filter(({ b }) => b !== null).length,
      findings: [
        ...collected.findings,
        ...[...met.values()].flatMap(({ findings }) => findings),
        ...unsafeFindings(context, fresh),
      ],
    };
  } finally {
    await objects.close();
  }
}

function pairCount(count: number): number {
  return (count * (count - 1)) / 2;
}

/** The sources that meet another or the target, as they are merged: with accidental line ends undone. */
async function prepareMet(
  objects: Objects,
  facts: BlobFacts,
  all: readonly CollectedSnapshot[],
  meetings: readonly Meeting[],
): Promise<Map<number, Prepared>> {
  const met = new Map<number, Prepared>();
  const shared = sharedPaths(all);
  // Between two that start from one base, line ends matter in what both change; else anywhere.
  const isPlain = ({ history }: CollectedSnapshot): boolean =>
    !history.shared && history.frontier.length === 1;
  const whole = new Set(
    meetings.flatMap(({ a, b }) => {
      if (b === null) return [a];
      const [one, other] = [all[a], all[b]];
      const same = one !== undefined && other !== undefined && one.base === other.base;
      return same && isPlain(one) && isPlain(other) ? [] : [a, b];
    }),
  );
  const indexes = new Set(meetings.flatMap(({ a, b }) => (b === null ? [a] : [a, b])));
  await Promise.all(
    [...indexes].map(async (i) => {
      const one = all[i];
      if (one === undefined) throw new RangeError(`no source ${i}`);
      const named = { name: one.source.name, commit: one.commit, tree: one.tree };
      const only = whole.has(i) ? undefined : shared;
      met.set(i, await prepareLineEnds(objects, facts, named, one.changes, only));
    }),
  );
  return met;
}

/** Paths that more than one source changes. */
function sharedPaths(all: readonly CollectedSnapshot[]): Set<GitPath> {
  const seen = new Set<GitPath>();
  const shared = new Set<GitPath>();
  for (const { path } of all.flatMap(({ changes }) => changes)) {
    if (seen.has(path)) shared.add(path);
    seen.add(path);
  }
  return shared;
}

function collisionOf(
  all: readonly CollectedSnapshot[],
  a: number,
  b: number | null,
  result: MergeTreeResult | undefined,
): Collision[] {
  if (result === undefined || result.outcome === 'clean') return [];
  const name = (i: number): string => all[i]?.source.name ?? '';
  const paths =
    result.outcome === 'conflict' ? result.conflicts.map(({ path, kind }) => ({ path, kind })) : [];
  return [{ a: name(a), b: b === null ? null : name(b), paths }];
}

export interface Meeting {
  readonly a: number;
  /** null: the target. */
  readonly b: number | null;
}

/** The pairs that git must be asked about, and the sources that meet the target's own changes. Every pair that is not
 * listed merges clean for certain. */
export async function findMeetings(
  objects: Objects,
  all: readonly CollectedSnapshot[],
  tip: Oid,
): Promise<Meeting[]> {
  const asked = new Map<number, Set<number>>();
  const ask = (a: number, b: number): void => {
    const [low, high] = a < b ? [a, b] : [b, a];
    const set = asked.get(low);
    if (set === undefined) asked.set(low, new Set([high]));
    else set.add(high);
  };
  const index = new PathIndex();
  for (const [i, { changes }] of all.entries()) index.add(i, changes);
  for (const [i, { changes }] of all.entries())
    for (const other of index.meetings(i, changes).keys()) ask(i, other);

  // Sources that share commits have a merge base of their own; one that merged other history in has several edges.
  const shared = [...all.entries()].filter(([, { history }]) => history.shared).map(([i]) => i);
  for (const [at, i] of shared.entries()) for (const j of shared.slice(at + 1)) ask(i, j);
  for (const [i, { history }] of all.entries()) {
    if (history.frontier.length !== 1) for (let j = 0; j < all.length; j += 1) if (j !== i) ask(i, j);
  }
  await askAcrossBases(objects, all, ask);

  const meetings: Meeting[] = [];
  const tipTree = await objects.treeOf(tip);
  const moved = new Map<Oid, PathIndex>();
  for (const [i, { baseTree, changes, history }] of all.entries()) {
    let own = moved.get(baseTree);
    if (own === undefined) {
      own = new PathIndex();
      own.add(-1, await objects.diffTrees(baseTree, tipTree));
      moved.set(baseTree, own);
    }
    if (history.frontier.length !== 1 || own.meetings(i, changes).size > 0) meetings.push({ a: i, b: null });
  }
  for (const [a, others] of asked) for (const b of others) meetings.push({ a, b });
  return meetings;
}

/** Two sources with different bases also meet what was done between the bases. */
async function askAcrossBases(
  objects: Objects,
  all: readonly CollectedSnapshot[],
  ask: (a: number, b: number) => void,
): Promise<void> {
  const groups = new Map<Oid, number[]>();
  for (const [i, { base }] of all.entries()) groups.set(base, [...(groups.get(base) ?? []), i]);
  const bases = [...groups.keys()];
  if (bases.length < 2) return;
  const common = await objects.mergeBasesOfAll(bases);
  const histories = await objects.readHistories(bases, common);
  const reached = histories.map(({ commits, frontier }) => new Set([...commits, ...frontier]));
  for (const [x, older] of bases.entries()) {
    for (const [y, newer] of bases.entries()) {
      if (x >= y) continue;
      const inLine = reached[y]?.has(older) === true || reached[x]?.has(newer) === true;
      const [ours, theirs] = [groups.get(older) ?? [], groups.get(newer) ?? []];
      const between = new PathIndex();
      if (inLine)
        between.add(-1, await objects.diffTrees(await objects.treeOf(older), await objects.treeOf(newer)));
      const meets = (i: number): boolean => !inLine || between.meetings(i, all[i]?.changes ?? []).size > 0;
      const met = new Set([...ours, ...theirs].filter(meets));
      for (const a of ours) for (const b of theirs) if (met.has(a) || met.has(b)) ask(a, b);
    }
  }
}

/** What is plainly unsafe although git may call it clean. */
function unsafeFindings(context: Context, all: readonly CollectedSnapshot[]): Finding[] {
  const touched = new Map<GitPath, string[]>();
  const deleted = new Map<GitPath, string[]>();
  const edited = new Map<GitPath, string[]>();
  for (const { source, changes } of all) {
    for (const { path, after } of changes) {
      add(touched, path, source.name);
      add(after === null ? deleted : edited, path, source.name);
    }
  }
  const findings: Finding[] = [];
  for (const [path, names] of touched) {
    if (names.length < 2 || context.patterns.findGenerated(path) === undefined) continue;
    findings.push({
      check: 'generated_shared',
      severity: 'warning',
      message: `${names.join(', ')} all change the generated file ${displayPath(path)}: it is written anew or handed over, never merged.`,
      paths: [displayPath(path)],
    });
  }
  for (const [path, names] of deleted) {
    const editors = edited.get(path) ?? [];
    if (editors.length === 0) continue;
    findings.push({
      check: 'delete_against_edit',
      severity: 'warning',
      message: `${names.join(', ')} deletes ${displayPath(path)}, which ${editors.join(', ')} edits.`,
      paths: [displayPath(path)],
    });
  }
  findings.push(...movedDirectoryFindings(all));
  return findings;
}

function add(map: Map<GitPath, string[]>, path: GitPath, name: string): void {
  const list = map.get(path);
  if (list === undefined) map.set(path, [name]);
  else list.push(name);
}
