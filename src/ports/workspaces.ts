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
  /** Glob patterns (settings) of paths that are left out; each one left out is named in a finding. */
  readonly exclude: readonly string[];
  /** Folder for the private index and other scratch; made when missing. An index kept there is used again. */
  readonly scratch: string;
  /** Where new objects go instead of the repository's own store: for a forecast. Must exist. */
  readonly objectsDir?: string;
}

export interface Capture {
  /** Tree of all that the workspace holds, proved equal to the disk. */
  readonly tree: Oid;
  /** True when the tree differs from HEAD's. */
  readonly uncommitted: boolean;
  readonly findings: readonly Finding[];
  /** Trees of what cannot be part of the snapshot but must not be lost: nested repositories with their git dirs. */
  readonly aside: readonly { readonly path: GitPath; readonly tree: Oid }[];
}

/** What a workspace holds besides what a snapshot takes. */
export interface Leftovers {
  /** Ignored files and folders (folders collapsed, with a slash at their end). */
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
   * `snapshot_incomplete` (naming the paths), `snapshot_unstable` or `source_gone`. */
  capture(request: CaptureRequest): Promise<Capture>;
  /** True when the disk still is what the capture saw; otherwise the paths that differ. */
  compare(request: CaptureRequest, tree: Oid): Promise<readonly GitPath[]>;
  listLeftovers(worktree: WorktreeInfo): Promise<Leftovers>;
}
