import { SennitError } from '../model/errors.ts';
import { type OperationId, slugOf } from '../model/ids.ts';
import type { GateSetting } from '../model/settings.ts';
import { OWN_REFS } from './context.ts';
import { type CulpritSearch, findCulprits, type SubsetVerdict } from './culprits.ts';
import type { LandSession } from './land-session.ts';
import { mergeWaiting, startMerge } from './merge.ts';
import { mergeInputOf } from './merge-input.ts';
import { regenerate } from './regenerate.ts';
import { runGates } from './validate.ts';

/** Searches which sources turn the gate red, by merging and validating subsets on the same tip. */
export async function searchCulprits(
  session: LandSession,
  gates: readonly GateSetting[],
): Promise<CulpritSearch> {
  const { context, data } = session;
  context.narrator.step('the gate is red: looking for the sources at fault');
  const order = data.merge?.merged ?? [];
  const search = await findCulprits({
    names: order.filter((name) => data.sources.some((source) => source.name === name)),
    maxRuns: context.settings.gates.maxRuns,
    test: (subset) => testSubset(session, subset, gates),
  });
  session.save('culprits.searched', {}, { event: search });
  return search;
}

async function testSubset(
  session: LandSession,
  subset: readonly string[],
  gates: readonly GateSetting[],
): Promise<SubsetVerdict> {
  const { context, objects, operation, data } = session;
  const sources = data.sources.filter(({ name }) => subset.includes(name));
  const input = { ...mergeInputOf(session), sources };
  const { state } = await mergeWaiting(input, await startMerge(objects, data.tip, data.landed, sources));
  if (state.open !== null) return 'unknown';
  let { tree } = state;
  if (state.regenerate.length > 0)
    tree = (await regenerate(context, objects, operation, state.accumulated, tree, state.regenerate)).tree;
  const commit = await objects.writeCommit({
    tree,
    parents: [data.tip],
    message: `sennit: subset of ${operation}\n`,
  });
  context.narrator.step(
    `gate without ${data.sources.length - subset.length} of ${data.sources.length} sources`,
  );
  return (await runGates(context, operation, commit, tree, gates)).ok ? 'green' : 'red';
}

/** Name of the archive entry of a source that a landing dropped. */
function droppedArchive(operation: OperationId, name: string): string {
  return `${operation}-${slugOf(name)}`;
}

/** Takes sources out of the landing; each stays under an archive ref. */
export async function dropCulprits(session: LandSession, names: readonly string[]): Promise<void> {
  const { context, operation, data } = session;
  const gone = data.sources.filter(({ name }) => names.includes(name));
  const archived = gone.map((source) => ({
    ...source,
    archive: OWN_REFS.archive(droppedArchive(operation, source.name)),
  }));
  const outcome = await context.refs.updateRefs(
    archived.map(({ archive, snapshot }) => ({ ref: archive, to: snapshot, from: null })),
    `sennit: dropped from ${operation}`,
  );
  if (outcome.outcome === 'moved')
    throw new SennitError('internal_bug', `An archive ref exists already: ${outcome.message}`);
  session.addFindings(
    archived.map(({ name, archive }) => ({
      check: 'source_dropped',
      severity: 'warning',
      source: name,
      message: `${name} was left out because the gate is red with it; it is kept as ${archive}.`,
      remedy: `sennit archive show ${archive.replace('refs/sennit/archive/', '')}`,
    })),
  );
  session.save(
    'culprits.dropped',
    {
      sources: data.sources.filter(({ name }) => !names.includes(name)),
      dropped: [...data.dropped, ...archived],
      merge: null,
    },
    { event: names },
  );
}
