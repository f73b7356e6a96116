import type { Rung } from '../merge/ladder.ts';
import type { RungName } from '../model/settings.ts';
import { isRegular } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';

/** `git apply --3way` of the change's own diff. It helps where the change's base is not the base of the merge. */
function patchRung(objects: Objects): Rung {
  return {
    name: 'patch',
    canTry: ({ kind, sides }) =>
      kind === 'content' && isRegular(sides.base) && isRegular(sides.target) && isRegular(sides.change),
    async attempt({ sides: { base, target, change } }) {
      if (!isRegular(base) || !isRegular(target) || !isRegular(change))
        return { outcome: 'declined', reason: 'not three regular files' };
      const oid = await objects.applyPatch({ base, target, change });
      if (oid === null) return { outcome: 'declined', reason: 'the patch does not apply' };
      return {
        outcome: 'settled',
        entry: { mode: target.mode === base.mode ? change.mode : target.mode, oid },
        reason: 'the patch of the change applies',
      };
    },
  };
}

/** The rungs between `text`, which merges whole trees, and `hand-over`, which is a person. In the order asked for. */
export function middleRungs(objects: Objects, ladder: readonly RungName[]): Rung[] {
  const known: Partial<Record<RungName, (objects: Objects) => Rung>> = { patch: patchRung };
  return ladder.flatMap((name) => known[name]?.(objects) ?? []);
}
