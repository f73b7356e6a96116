import type { Finding } from '../model/finding.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';

export interface CaptureRequest {
  readonly worktree: WorktreeInfo;
  /** Commit whose ignore rules count besides the workspace's own: an agent's new `*` rule must not hide its work. */
  readonly base: Oid;
  /** Files above this many bytes are an error that names them. */
  readonly maxFileBytes: number;
  /** Names of content filters (`filter.<name>`) that may run, besides `lfs` with its standard commands. */
  readonly filters: readonly string[];
  /** Patterns (settings) of paths that are left out: they stay as HEAD has them, and a finding names them. */
  readonly exclude: readonly string[];
  /** Folder of this workspace alone for the private index and other scratch; made when missing. What a capture keeps
   * there makes a later comparison cheap and has no other effect. */
  readonly scratch: string;
  /** Where new objects go instead of the repository's own store: for a forecast. Must exist. Nothing is set aside then. */
  readonly objectsDir?: string;
}

export interface Capture {
  /** Tree of all that the workspace holds, proved equal to the disk. */
  readonly tree: Oid;
  /** True when the tree differs from HEAD's. */
  readonly uncommitted: boolean;
  readonly findings: readonly Finding[];
  /** Trees of what cannot be part of the snapshot but must not be lost: nested repositories. A `.git` in them is named
   * `git-dir` (`git-dir-1` where that is taken); the path `.` stands for a git dir at the top of the workspace. Empty
   * folders (`refs`, `objects`) are not in a tree and have to be made again. */
  readonly aside: readonly { readonly path: GitPath; readonly tree: Oid }[];
}

/** What a workspace holds besides what a snapshot takes. */
export interface Leftovers {
  /** Ignored files and folders (folders collapsed, with a slash at their end), and git dirs below the top. `bytes` of a
   * very large folder are those that were counted. */
  readonly ignored: readonly {
    readonly path: GitPath;
    readonly reproducible: boolean;
    readonly bytes: number;
  }[];
  /** Sockets, FIFOs, devices. */
  readonly special: readonly GitPath[];
}

export interface Workspaces {
  /** Takes all work of a workspace into a tree without touching the workspace or its index. Throws
   * `snapshot_incomplete` (naming the paths), `snapshot_unstable`, `source_gone`, `disk_full` or `object_missing`. */
  capture(request: CaptureRequest): Promise<Capture>;
  /** The paths in which the disk differs from a tree that was captured; none when it is still the same. Writes nothing
   * into the repository. Throws as `capture` does. */
  compare(request: CaptureRequest, tree: Oid): Promise<readonly GitPath[]>;
  listLeftovers(worktree: WorktreeInfo): Promise<Leftovers>;
}
