import type { Finding } from './finding.ts';
import type { GitPath, Oid } from './ids.ts';

/** What the user named: `worktree` is a directory with work in it, the others are commits. */
export type SourceKind = 'worktree' | 'branch' | 'tag' | 'commit';

/** A source after its name was understood, before anything was read from it. */
export interface Source {
  readonly kind: SourceKind;
  /** Short name for people, unique within one operation: a folder's name, a branch's name. */
  readonly name: string;
  /** What identifies it across operations: absolute real path, full ref name, or commit id. */
  readonly identity: string;
  /** The commit that the ref or the worktree's HEAD is at. `null` for a worktree on an unborn branch. */
  readonly head: Oid | null;
  /** For a worktree: where it is and its private git directory. */
  readonly worktree?: WorktreeInfo;
}

/** One linked worktree, or the primary checkout, as the repository's own records have it. */
export interface WorktreeInfo {
  /** Absolute path of the directory, symlinks resolved where it exists. */
  readonly path: string;
  /** Absolute path of its private git dir: the common git dir itself for the primary checkout. */
  readonly adminDir: string;
  readonly primary: boolean;
  /** Full name of the branch that is checked out, or null when detached. */
  readonly branch: string | null;
  readonly head: Oid | null;
  /** Reason text when locked ('' without reason), or null. */
  readonly locked: string | null;
  /** False when the directory is not there. */
  readonly exists: boolean;
  /** False when the directory's `.git` does not point back to `adminDir`. */
  readonly linked: boolean;
}

/** A commit that holds all of a source's work, anchored by a private ref before anything else happens to it. */
export interface Snapshot {
  readonly source: Source;
  /** The commit; for a ref source with no uncommitted work, the source's own commit. */
  readonly commit: Oid;
  readonly tree: Oid;
  /** The ref that keeps it alive, `refs/sennit/<operation>/<source>`. */
  readonly ref: string;
  /** The commit from which the work counts as new: recorded, last landed, or merge base with the target. */
  readonly base: Oid;
  /** True when the snapshot holds work that was not committed. */
  readonly uncommitted: boolean;
  readonly findings: readonly Finding[];
  /** Work that cannot be part of a commit (nested repositories), kept under refs of its own. */
  readonly aside: readonly { readonly path: GitPath; readonly ref: string }[];
}
