// The commit that would be landed: the merged tree with generated files written anew, looked at by the guards, on top of
// the tip, with the user as author. It is on the disk and under a ref before a gate runs, so that it survives whatever
// happens next.

import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid } from '../model/ids.ts';
import type { Identity } from '../ports/git.ts';
import { OWN_REFS } from './context.ts';
import { inspectLanding } from './guards.ts';
import type { MergeState } from './land-data.ts';
import type { LandSession } from './land-session.ts';
import { changesOf } from './merge.ts';
import { landingMessage, withTrailers } from './message.ts';
import { regenerate } from './regenerate.ts';
import { verifyByHooks } from './verify-hooks.ts';

export type Candidate =
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'made'; readonly commit: Oid; readonly tree: Oid };

/** Makes the candidate of a finished merge. Throws `landing_refused` when a guard objects. */
export async function makeCandidate(session: LandSession, state: MergeState): Promise<Candidate> {
  const { context, objects, operation, data } = session;
  const tipTree = await objects.treeOf(state.tip);
  const merged = await objects.diffTrees(tipTree, state.tree);
  const generated = context.settings.generated.every(({ by }) => by === null)
    ? []
    : [...state.regenerate, ...merged.map(({ path }) => path)].filter(
        (path) => context.patterns.findGenerated(path)?.by != null,
      );
  const regenerated =
    generated.length === 0 || session.dry
      ? { tree: state.tree, paths: [], findings: [] }
      : await regenerate(context, objects, operation, state.accumulated, state.tree, generated);
  session.addFindings(regenerated.findings);
  const { tree } = regenerated;
  const changes = await objects.diffTrees(tipTree, tree);
  if (changes.length === 0) return { outcome: 'empty' };
  const findings = await inspectLanding(context, objects, {
    tip: state.tip,
    tree,
    changes,
    allowed: await allowedPaths(session, state, regenerated.paths),
    facts: session.facts,
  });
  session.addFindings(findings);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw await refusal(session, errors);
  const commit = await writeLanding(session, state, tree);
  session.save('candidate.made', {
    candidate: commit,
    merge: {
      ...state,
      tree,
      paths: [
        ...state.paths,
        ...regenerated.paths.map((path) => ({
          path,
          rung: 'regenerate',
          reason: 'written anew by its command',
          ms: 0,
          source: '',
        })),
      ],
    },
  });
  if (!session.dry) {
    await objects.makeDurable(
      [commit, state.accumulated],
      [state.tip, ...data.sources.map(({ snapshot }) => snapshot)],
    );
    await anchorCandidate(session, commit);
  }
  return { outcome: 'made', commit, tree };
}

/** What the guards object to, as an error; markers are blamed on the sources that brought them. */
async function refusal(session: LandSession, errors: readonly Finding[]): Promise<SennitError> {
  const paths = errors.flatMap((error) => error.paths ?? []);
  const hint =
    errors.map(({ remedy }) => remedy).find((remedy) => remedy !== undefined) ?? 'Nothing has been changed.';
  const message = errors.map((error) => error.message).join(' ');
  if (errors.some(({ check }) => check !== 'markers_left'))
    return new SennitError('landing_refused', message, { hint, paths });
  const names: string[] = [];
  for (const source of session.data.sources) {
    const changed = (await changesOf(session.objects, source)).map(({ path }) => displayPath(path));
    if (changed.some((path) => paths.includes(path))) names.push(source.name);
  }
  return new SennitError('source_markers', `${message} They come from ${names.join(', ')}.`, { hint, paths });
}

async function allowedPaths(
  session: LandSession,
  state: MergeState,
  regenerated: readonly GitPath[],
): Promise<Set<GitPath>> {
  const allowed = new Set<GitPath>([
    ...regenerated,
    ...state.regenerate,
    ...state.paths.map(({ path }) => path),
  ]);
  for (const source of session.data.sources)
    for (const { path } of await changesOf(session.objects, source)) allowed.add(path);
  return allowed;
}

async function writeLanding(session: LandSession, state: MergeState, tree: Oid): Promise<Oid> {
  const { context, objects, operation, data } = session;
  const { author, committer } = await context.refs.readIdentity();
  const written = await landingMessage(
    objects,
    data.sources,
    data.target.replace(/^refs\/heads\//, ''),
    data.options.message,
    context.settings.message,
  );
  const message =
    data.options.verify || context.settings.verify
      ? await verifyByHooks(session, state.tip, tree, written)
      : written;
  const now = context.clock.now();
  const dated = (who: Identity): Identity & { date: string } => ({ ...who, date: gitDate(now) });
  return objects.writeCommit({
    tree,
    parents: [state.tip],
    message: withTrailers(message, operation, data.sources),
    author: dated(author),
    committer: dated(committer),
  });
}

/** `1700000000 +0100`: seconds since the epoch and the local offset. */
function gitDate(now: Date): string {
  const offset = -now.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0');
  const minutes = String(Math.abs(offset) % 60).padStart(2, '0');
  return `${Math.floor(now.getTime() / 1000)} ${sign}${hours}${minutes}`;
}

async function anchorCandidate(session: LandSession, commit: Oid): Promise<void> {
  const { context, operation } = session;
  const ref = OWN_REFS.candidate(operation);
  const [from] = await context.refs.resolveCommits([ref]);
  const outcome = await context.refs.updateRefs(
    [{ ref, to: commit, from: from ?? null }],
    `sennit: candidate of ${operation}`,
  );
  if (outcome.outcome === 'moved')
    throw new SennitError('internal_bug', `${ref} was moved by somebody else: ${outcome.message}`);
  context.journalPoint('candidate-anchored');
}
