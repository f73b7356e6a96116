import type { LandSession } from './land-session.ts';
import type { MergeInput } from './merge-work.ts';
import { openResolutions } from './resolutions.ts';
import { middleRungs } from './rungs.ts';

/** What the merge of a session works with: the ladder of the settings, remembered resolutions, generated paths. */
export function mergeInputOf(session: LandSession): MergeInput {
  const { context, objects, data } = session;
  let replay: ReturnType<typeof openResolutions> | undefined;
  return {
    objects,
    sources: data.sources,
    rungs: middleRungs(objects, context.settings.ladder),
    replay: async (conflict) => {
      // Most merges meet no conflict: the remembered ones are read at the first.
      replay ??= openResolutions(context, objects);
      return (await replay)(conflict);
    },
    isGenerated: (path) => context.patterns.findGenerated(path) !== undefined,
    canRegenerate: (path) => context.patterns.findGenerated(path)?.by != null,
    targetLabel: data.target.replace(/^refs\/heads\//, ''),
    now: () => context.clock.elapsed(),
    step: (text) => context.narrator.step(text),
  };
}
