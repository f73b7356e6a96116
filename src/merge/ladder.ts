// The ladder: rungs are data plus two functions, the climb is a loop over an array. A rung settles a conflict or
// declines it with a reason; what no rung settles is left over for a person. Which rung settled what is recorded.

import type { Conflict, Settlement } from '../model/conflict.ts';
import type { RungName } from '../model/settings.ts';
import type { TreeEntry } from '../model/tree.ts';

export type Attempt =
  | { readonly outcome: 'settled'; readonly entry: TreeEntry | null; readonly reason: string }
  | { readonly outcome: 'declined'; readonly reason: string };

export interface Rung {
  readonly name: RungName;
  /** Cheap and pure: whether this rung is for conflicts of this kind at all. */
  canTry(conflict: Conflict): boolean;
  attempt(conflict: Conflict): Promise<Attempt>;
}

export interface Climb {
  readonly settled: readonly Settlement[];
  readonly left: readonly Conflict[];
}

/** Tries each conflict on each rung in order. `now` measures, it never decides. */
export async function climb(
  conflicts: readonly Conflict[],
  rungs: readonly Rung[],
  now: () => number,
): Promise<Climb> {
  const settled: Settlement[] = [];
  const left: Conflict[] = [];
  for (const conflict of conflicts) {
    const tried = [...conflict.tried];
    let done: Settlement | undefined;
    const start = now();
    for (const rung of rungs) {
      if (!rung.canTry(conflict)) continue;
      const attempt = await rung.attempt(conflict);
      if (attempt.outcome === 'settled') {
        done = {
          path: conflict.path,
          entry: attempt.entry,
          rung: rung.name,
          reason: attempt.reason,
          ms: Math.round(now() - start),
        };
        break;
      }
      tried.push({ rung: rung.name, reason: attempt.reason });
    }
    if (done === undefined) left.push({ ...conflict, tried });
    else settled.push(done);
  }
  return { settled, left };
}
