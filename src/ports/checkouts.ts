import type { Conflict } from '../model/conflict.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { TreeEntry } from '../model/tree.ts';

/** Whether a checkout can be brought from one commit to another without touching anything of the user's. */
export type AdvancePlan =
  | { readonly outcome: 'clear' }
  | { readonly outcome: 'blocked'; readonly paths: readonly GitPath[]; readonly message: string };

/** A worktree of Sennit's own: for a gate, for a hand-over. */
export interface ScratchWorktree {
  readonly path: string;
  readonly adminDir: string;
}

export interface Checkouts {
  /** Makes a detached worktree at `path` with the files of `commit`; one at a time per repository. */
  addScratch(path: string, commit: Oid): Promise<ScratchWorktree>;
  /** Makes index and files of a scratch worktree those of a tree; HEAD stays, so the difference is staged. */
  stageTree(scratch: ScratchWorktree, tree: Oid): Promise<void>;
  /** The tree that the index of a scratch worktree stands for. */
  readStaged(scratch: ScratchWorktree): Promise<Oid>;
  /** Removes a worktree that Sennit made, directory and record. Never one that it did not make. */
  removeScratch(scratch: ScratchWorktree): Promise<void>;
  /** The tree of what is staged in a worktree, its index untouched; null where that is unmerged or lost. */
  writeIndexTree(worktree: WorktreeInfo): Promise<Oid | null>;
  /** Sets HEAD (detached) and index of a scratch worktree and leaves its files: what differs is uncommitted work. */
  rewind(scratch: ScratchWorktree, head: Oid, staged: Oid): Promise<void>;
  /** Makes a branch the one that is checked out in a scratch worktree, whose HEAD must be at its commit. */
  attachBranch(scratch: ScratchWorktree, branch: string): Promise<void>;
  /** Moves a scratch worktree to where nothing is, or finishes such a move. Throws `restore_blocked`. */
  moveScratch(scratch: ScratchWorktree, path: string): Promise<ScratchWorktree>;
  /** Removes only the record of a worktree whose directory is gone. Never prunes any other. */
  forgetWorktree(adminDir: string): Promise<void>;
  /** Looks whether `advance` would overwrite anything uncommitted, untracked or ignored. Changes nothing. */
  planAdvance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<AdvancePlan>;
  /** Brings index and files of a checkout from one commit to another. Only after a clear plan. */
  advance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<void>;
  /** Finishes an `advance` that a crash cut short: files that already are as in `to` count as done. */
  finishAdvance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<AdvancePlan>;
  /** Paths with uncommitted work in a checkout, untracked included. */
  listDirty(worktree: WorktreeInfo): Promise<readonly GitPath[]>;
  /** Tracked paths whose files differ from the index: untracked ones are not looked for. */
  listChangedTracked(worktree: WorktreeInfo): Promise<readonly GitPath[]>;
  /** Fills a scratch worktree with a conflicted tree: files as merged so far, index with the three stages. */
  writeConflicts(scratch: ScratchWorktree, tree: Oid, conflicts: readonly Conflict[]): Promise<void>;
  /** Settles one path in a scratch worktree: file and index. `null` deletes. */
  writeResolution(scratch: ScratchWorktree, path: GitPath, entry: TreeEntry | null): Promise<void>;
  /** Paths that the index of a scratch worktree still holds unmerged. */
  listUnmerged(scratch: ScratchWorktree): Promise<readonly GitPath[]>;
}
