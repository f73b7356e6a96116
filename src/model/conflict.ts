import type { GitPath } from './ids.ts';
import type { TreeEntry } from './tree.ts';

/** The kinds in which a conflict reaches a person. `doubtful` is a clean result that a check did not believe;
 * `generated` is a generated or lock file that several sources changed; `driver` needs a merge driver that
 * Sennit does not run. */
export type ConflictKind =
  | 'content'
  | 'add-add'
  | 'modify-delete'
  | 'rename-delete'
  | 'rename-rename'
  | 'rename-add'
  | 'file-directory'
  | 'mode'
  | 'symlink'
  | 'submodule'
  | 'binary'
  | 'lfs-pointer'
  | 'generated'
  | 'driver'
  | 'doubtful'
  | 'other';

/** The three versions of a path; `null` where a side does not have it. `target` is the accumulated result. */
export interface Sides {
  readonly base: TreeEntry | null;
  readonly target: TreeEntry | null;
  readonly change: TreeEntry | null;
}

export interface Conflict {
  readonly path: GitPath;
  readonly kind: ConflictKind;
  readonly sides: Sides;
  /** What git (or a check) says about it, in its own words. */
  readonly message: string;
  /** The other paths of the same conflict (the two names of a rename, the moved-aside file). */
  readonly related: readonly GitPath[];
  /** What merge-tree left at this path: with markers for content, one side for others, null when nothing. */
  readonly leftover: TreeEntry | null;
  /** Names of the sources that meet here: those already merged that touched it, then the one being merged. */
  readonly sources: readonly string[];
  /** What each rung tried and why it declined. */
  readonly tried: readonly { readonly rung: string; readonly reason: string }[];
}

/** How one conflicted path was settled. `entry` null means that the path is deleted. */
export interface Settlement {
  readonly path: GitPath;
  readonly entry: TreeEntry | null;
  readonly rung: string;
  readonly reason: string;
  readonly ms: number;
}

/** Key under which a person's resolution is remembered: the three blobs (and modes) that met. */
export function sidesKey(sides: Sides): string {
  const part = (entry: TreeEntry | null): string =>
    entry === null ? 'absent' : `${entry.mode}:${entry.oid}`;
  return [part(sides.base), part(sides.target), part(sides.change)].join(' ');
}

export type Take = 'base' | 'target' | 'change' | 'file';
