import type { Conflict } from '../model/conflict.ts';
import type { Finding } from '../model/finding.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { SourceKind } from '../model/source.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { OperationRecord } from '../ports/ledger.ts';

/** What the user asked of a landing; kept so that `continue` finishes what `land` began. */
export interface LandOptions {
  /** Commands given with --gate. */
  readonly gates: readonly string[];
  readonly noGate: boolean;
  readonly dropCulprits: boolean;
  readonly message: string | null;
  /** Short name of a new branch that the landing goes to instead of the target. */
  readonly branch: string | null;
  readonly push: boolean;
  readonly pullRequest: boolean;
  readonly verify: boolean;
}

/** One source as the landing knows it. */
export interface LandSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly identity: string;
  /** The anchored commit that holds all of its work. */
  readonly snapshot: Oid;
  /** The commit that is merged: the snapshot, or one on top of it with accidental line ends undone. */
  readonly prepared: Oid;
  /** Tree of `prepared`. */
  readonly tree: Oid;
  readonly base: Oid;
  readonly ref: string;
  readonly uncommitted: boolean;
  /** It shares commits with another source, or its base is not the only one: every merge is asked of git. */
  readonly entangled: boolean;
}

/** How one path of the result came about, where more than one side had to be joined. */
export interface PathRecord {
  readonly path: GitPath;
  readonly rung: string;
  readonly reason: string;
  readonly ms: number;
  readonly source: string;
}

/** A source whose merge stopped at conflicts. */
export interface OpenMerge {
  readonly source: string;
  /** The merged tree so far: settled paths are settled, conflicted ones hold what git left there. */
  readonly tree: Oid;
  readonly conflicts: readonly Conflict[];
  /** Conflicts that a person settled: by `resolve`. */
  readonly resolved: readonly {
    readonly path: GitPath;
    readonly entry: TreeEntry | null;
    readonly how: string;
  }[];
}

/** How far the accumulation is. `accumulated` is a commit with true parents, internal, never landed itself. */
export interface MergeState {
  readonly tip: Oid;
  readonly accumulated: Oid;
  readonly tree: Oid;
  readonly merged: readonly string[];
  readonly waiting: readonly string[];
  readonly paths: readonly PathRecord[];
  /** Generated paths that more than one side changed and that a command writes anew. */
  readonly regenerate: readonly GitPath[];
  readonly open: OpenMerge | null;
}

export interface LandData {
  readonly version: 1;
  /** Full name of the branch that the work is merged onto. */
  readonly target: string;
  /** The commit that the work is merged onto. */
  readonly tip: Oid;
  /** What the target branch itself is at: `tip`, or behind it when the remote is ahead. */
  readonly targetAt: Oid;
  /** What the remote branch was at when it was last fetched. */
  readonly remoteTip: Oid | null;
  /** Digest of the repository's configuration when the landing began, or went on. */
  readonly fingerprint: string;
  readonly options: LandOptions;
  readonly sources: readonly LandSource[];
  /** Sources left out as culprits, with the ref that keeps them. */
  readonly dropped: readonly (LandSource & { readonly archive: string })[];
  readonly landed: readonly Oid[];
  readonly findings: readonly Finding[];
  readonly merge: MergeState | null;
  readonly handover: { readonly worktree: string; readonly adminDir: string; readonly packet: string } | null;
  /** The commit to be landed, validated or being so. */
  readonly candidate: Oid | null;
  /** Ref moves that were begun: each with its old and new value. */
  readonly moving: readonly { readonly ref: string; readonly from: Oid | null; readonly to: Oid }[];
  readonly landing: Oid | null;
  readonly pushed: boolean;
}

/** The data of a `land` operation as this version writes it. */
export function readLandData(operation: OperationRecord): LandData {
  return operation.data as LandData;
}

/** The branch that a landing went to. */
export function landedRef(data: LandData): string {
  return data.options.branch === null ? data.target : `refs/heads/${data.options.branch}`;
}
