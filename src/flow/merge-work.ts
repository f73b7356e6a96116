import type { Rung } from '../merge/ladder.ts';
import type { Conflict } from '../model/conflict.ts';
import type { GitPath } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource } from './land-data.ts';

/** What a merge works with. */
export interface MergeInput {
  readonly objects: Objects;
  readonly sources: readonly LandSource[];
  /** Rungs between `text` and `hand-over`, in order. */
  readonly rungs: readonly Rung[];
  /** Replays a remembered resolution of the same three versions; undefined where there is none. */
  replay(conflict: Conflict): Promise<TreeEntry | null | undefined>;
  isGenerated(path: GitPath): boolean;
  /** Whether a configured command writes this generated path anew after the merge. */
  canRegenerate(path: GitPath): boolean;
  readonly targetLabel: string;
  now(): number;
  step(text: string): void;
}
