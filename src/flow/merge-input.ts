import type { LandSession } from './land-session.ts';
import type { MergeInput } from './merge.ts';
import { openResolutions } from './resolutions.ts';
import { middleRungs } from './rungs.ts';

/** What the merge of a session works with: the ladder of the settings, remembered resolutions, generated paths. */
export async function mergeInputOf(session: LandSession): Promise<MergeInput> {
  const { context, objects, data } = session;
  return {
    objects,
    sources: data.sources,
    rungs: middleRungs(objects, context.settings.ladder),
    replay: await openResolutions(context, objects),
    isGenerated: (path) => context.patterns.findGenerated(path) !== undefined,
    canRegenerate: (path) => context.patterns.findGenerated(path)?.by != null,
    targetLabel: data.target.replace(/^refs\/heads\//, ''),
    now: () => context.clock.elapsed(),
    step: (text) => context.narrator.step(text),
  };
}
