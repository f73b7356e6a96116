// `sennit land`: collect, merge, validate, land. Everything before the landing happens in the object database and in
// Sennit's own folders; what stands in the way stops it before anything of the user's has changed. When the target moves
// meanwhile, the work is merged onto the new tip and validated again: the landed tree is always the validated tree.

import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, newOperationId, type OperationId } from '../model/ids.ts';
import type { Source, WorktreeInfo } from '../model/source.ts';
import { type Collected, collect } from './collect.ts';
import type { Context } from './context.ts';
import { finishLanding } from './finish-landing.ts';
import type { LandData, LandOptions, LandSource } from './land-data.ts';
import { type LandReport, LandSession, type SourceReport } from './land-session.ts';
import { findLanded } from './landed.ts';
import { whileHolding } from './operation-lock.ts';
import { findSources } from './sources.ts';
import { findTarget, type Target } from './target.ts';

export interface LandRequest {
  readonly names: readonly string[];
  /** Full ref name of the target. */
  readonly into: string;
  readonly worktrees: readonly WorktreeInfo[];
  readonly options: LandOptions;
  readonly dryRun: boolean;
}

/** Lands the work of all sources as one commit, or says what stands in the way. */
export async function land(context: Context, request: LandRequest): Promise<LandReport> {
  const { into, worktrees } = request;
  const finding = findSources(context.refs, worktrees, {
    names: request.names,
    cwd: context.cwd,
    target: into,
  });
  finding.catch(() => undefined);
  const [target] = await Promise.all([
    findTarget(context.refs, into),
    context.refs.readIdentity(),
    requireFreeBranch(context, request.options.branch),
  ]);
  const sources = await finding;
  const operation = newOperationId(context.clock.now());
  const work = (): Promise<LandReport> =>
    landSources(context, operation, request, { sources, worktrees, target });
  return request.dryRun ? work() : whileHolding(context, operation, work);
}

interface Named {
  readonly sources: readonly Source[];
  readonly worktrees: readonly WorktreeInfo[];
  readonly target: Target;
}

async function landSources(
  context: Context,
  operation: OperationId,
  request: LandRequest,
  { sources, worktrees, target }: Named,
): Promise<LandReport> {
  const objects = await context.openObjects({ quarantine: request.dryRun });
  try {
    const data = emptyData(target, request.options, await context.refs.readFingerprint());
    if (!request.dryRun) {
      context
        .ledger()
        .createOperation({ id: operation, kind: 'land', target: target.ref, owner: context.process, data });
      context.journalPoint('operation-started');
    }
    const session = new LandSession(context, objects, operation, data, request.dryRun);
    try {
      return await run(session, sources, worktrees, target);
    } catch (error) {
      if (!(error instanceof SennitError) || error.code !== 'interrupted') await session.fail(error);
      throw error;
    }
  } finally {
    await objects.close();
  }
}

function emptyData(target: Target, options: LandOptions, fingerprint: string): LandData {
  return {
    version: 1,
    target: target.ref,
    tip: target.tip,
    targetAt: target.tip,
    remoteTip: null,
    fingerprint,
    options,
    sources: [],
    dropped: [],
    landed: [],
    findings: [],
    merge: null,
    handover: null,
    candidate: null,
    moving: [],
    landing: null,
    pushed: false,
  };
}

async function requireFreeBranch(context: Context, branch: string | null): Promise<void> {
  if (branch === null) return;
  const [taken] = await context.refs.resolveCommits([`refs/heads/${branch}`]);
  if (taken !== undefined) {
    throw new SennitError('target_exists', `The branch ${branch} exists already.`, {
      hint: `Choose another name, or land on it with --into ${branch}.`,
    });
  }
}

async function run(
  session: LandSession,
  sources: readonly Source[],
  worktrees: readonly WorktreeInfo[],
  target: Target,
): Promise<LandReport> {
  const { context, objects, operation } = session;
  session.outside = workOutside(context, sources, worktrees, target.ref);
  session.outside.catch(() => undefined);
  const collected = await collect(context, objects, {
    operation,
    sources,
    tip: target.tip,
    landed: await findLanded(context, objects, target.ref, target.tip),
    objectsDir: session.dry ? objects.objectsDir : undefined,
    anchor: !session.dry,
    facts: session.facts,
    lineEnds: true,
  });
  session.anchored = collected.anchored;
  const { fresh, stale } = splitStale(collected);
  session.nothingNew = stale;
  session.addFindings([...collected.findings, ...staleFindings(stale), ...platformFindings(context)]);
  session.save(
    'sources.collected',
    { sources: fresh, landed: collected.landed },
    { event: fresh.map(({ name, snapshot, base }) => ({ name, snapshot, base })) },
  );
  if (fresh.length === 0) {
    await session.anchored;
    session.addFindings(await session.outside);
    session.save('landing.found_nothing', {}, { state: 'done' });
    return session.report('nothing_new', { tree: null });
  }
  return finishLanding(session);
}

/** Sources that hold something the target lacks, and those that do not. */
function splitStale(collected: Collected): { fresh: LandSource[]; stale: SourceReport[] } {
  const fresh: LandSource[] = [];
  const stale: SourceReport[] = [];
  for (const { source, commit, prepared, base, changes, ref, uncommitted, history } of collected.snapshots) {
    const common = { name: source.name, kind: source.kind, snapshot: commit };
    if (history.commits.length === 0 || changes.length === 0) stale.push({ ...common, state: 'nothing_new' });
    else {
      fresh.push({
        ...common,
        identity: source.identity,
        prepared: prepared.commit,
        tree: prepared.tree,
        base,
        ref,
        uncommitted,
        entangled: history.shared || history.frontier.length !== 1,
      });
    }
  }
  return { fresh, stale };
}

function staleFindings(stale: readonly SourceReport[]): Finding[] {
  return stale.map(({ name }) => ({
    check: 'source_nothing_new',
    severity: 'info',
    source: name,
    message: `${name} holds nothing that the target does not have.`,
  }));
}

function platformFindings({ place }: Context): Finding[] {
  if (!place.shallow) return [];
  return [
    {
      check: 'clone_shallow',
      severity: 'warning',
      message: 'This is a shallow clone: a merge base that was cut off cannot be seen.',
      remedy: 'git fetch --unshallow',
    },
  ];
}

/** Uncommitted work that is not part of this landing although somebody could think so: in a checkout of the target, in
 * the worktrees of branches that were named, and, where worktrees are landed, in the primary checkout, which an agent
 * may have written to by mistake. It is left where it is, and never silently. */
async function workOutside(
  context: Context,
  sources: readonly Source[],
  worktrees: readonly WorktreeInfo[],
  target: string,
): Promise<Finding[]> {
  const branches = new Set(sources.filter(({ kind }) => kind === 'branch').map(({ identity }) => identity));
  const taken = new Set(sources.map(({ worktree }) => worktree?.path));
  const fromWorktrees = sources.some(({ kind }) => kind === 'worktree');
  const looked = worktrees.filter(
    ({ path, branch, primary, exists }) =>
      exists &&
      !taken.has(path) &&
      (branch === target || (primary && fromWorktrees) || (branch !== null && branches.has(branch))),
  );
  const findings: Finding[] = [];
  for (const worktree of looked) {
    const dirty = await context.checkouts.listDirty(worktree);
    if (dirty.length === 0) continue;
    const paths = dirty.map(displayPath);
    const named = worktree.branch !== null && branches.has(worktree.branch);
    findings.push({
      check: named ? 'worktree_dirty' : 'checkout_dirty',
      severity: 'warning',
      message: `${worktree.path} holds uncommitted work that is not part of this landing: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}.`,
      paths,
      ...(named ? { remedy: `Name ${worktree.path} as the source to take it along.` } : {}),
    });
  }
  return findings;
}
