import type { ConflictKind, Sides } from '../model/conflict.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { EntryChange, TreeEntry } from '../model/tree.ts';

/** Where the repository is and what kind it is. All paths are absolute. */
export interface RepositoryPlace {
  /** The git dir that all worktrees share. */
  readonly commonDir: string;
  /** The git dir of the place the command was run in: the common dir or `<common>/worktrees/<id>`. */
  readonly gitDir: string;
  /** Top of the work tree that the command was run in; null in a bare repository. */
  readonly topLevel: string | null;
  readonly bare: boolean;
  /** Top of the primary checkout: null when there is none (bare), undefined when its place is not known. */
  readonly primary: string | null | undefined;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly shallow: boolean;
  readonly gitVersion: readonly [number, number, number];
  /** Sennit's own directory: `<common>/sennit`. It may not exist yet. */
  readonly stateDir: string;
}

export interface Identity {
  readonly name: string;
  readonly email: string;
}

export interface CommitInput {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly message: string;
  /** Sennit's own fixed identity and the date of the newest parent unless given: ids are then the same everywhere. */
  readonly author?: { readonly name: string; readonly email: string; readonly date: string };
  readonly committer?: { readonly name: string; readonly email: string; readonly date: string };
}

export interface CommitInfo {
  readonly oid: Oid;
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since the epoch. */
  readonly committed: number;
  readonly author: string;
  readonly message: string;
}

/** One conflict as git's merge reports it, before Sennit gave it a kind that a person meets. */
export interface RawConflict {
  readonly path: GitPath;
  readonly kind: ConflictKind;
  readonly sides: Sides;
  readonly message: string;
  readonly related: readonly GitPath[];
}

/** The part of a commit's history that lies outside known history. */
export interface History {
  /** Commits that the tip reaches and known history does not. */
  readonly commits: readonly Oid[];
  /** Known commits that are parents of those: where the history leaves known history. */
  readonly frontier: readonly Oid[];
  /** True when another tip reaches one of these commits too. */
  readonly shared: boolean;
}

/** What one merge in the object database came to. `refused` never means conflict: nothing was merged. */
export type MergeTreeResult =
  | { readonly outcome: 'clean'; readonly tree: Oid }
  | { readonly outcome: 'conflict'; readonly tree: Oid; readonly conflicts: readonly RawConflict[] }
  | { readonly outcome: 'refused'; readonly reason: string };

/** Three versions of a regular file, all of one mode. */
export interface ContentSides {
  readonly base: TreeEntry;
  readonly target: TreeEntry;
  readonly change: TreeEntry;
}

/** What merging one file's content came to. */
export type ContentMerge =
  | { readonly outcome: 'clean'; readonly entry: TreeEntry }
  | { readonly outcome: 'conflict'; readonly kind: ConflictKind };

/** The repository's objects, without its configuration, hooks, drivers or attributes: what comes out depends on
 * nothing but the ids that go in. */
export interface Objects {
  /** Folder of new objects when they are quarantined, else undefined. */
  readonly objectsDir: string | undefined;
  /** Commits for revision texts (full ref names, ids); undefined where there is none. */
  readCommit(oid: Oid): Promise<CommitInfo>;
  treeOf(commit: Oid): Promise<Oid>;
  readBlob(oid: Oid): Promise<Uint8Array>;
  /** Reads many blobs in one go, in any order; those above `limit` bytes come as null. */
  readBlobs(
    oids: readonly Oid[],
    limit: number,
    visit: (oid: Oid, content: Uint8Array | null) => void,
  ): Promise<void>;
  /** Size in bytes, without reading the content. */
  blobSize(oid: Oid): Promise<number>;
  /** The sizes of many blobs, in the same order. */
  blobSizes(oids: readonly Oid[]): Promise<number[]>;
  writeBlob(content: Uint8Array): Promise<Oid>;
  writeCommit(input: CommitInput): Promise<Oid>;
  /** Changed leaves from one tree to another, sorted by path, renames as delete plus add. */
  diffTrees(before: Oid, after: Oid): Promise<readonly EntryChange[]>;
  /** The leaf at a path, or null. */
  entryAt(tree: Oid, path: GitPath): Promise<TreeEntry | null>;
  emptyTree(): Promise<Oid>;
  /** The tree with some leaves replaced (`null` deletes). */
  applyToTree(tree: Oid, changes: ReadonlyMap<GitPath, TreeEntry | null>): Promise<Oid>;
  /** Merges two commits. Labels appear in conflict markers and in the names of files moved aside. */
  mergeTree(
    target: { oid: Oid; label: string },
    change: { oid: Oid; label: string },
  ): Promise<MergeTreeResult>;
  /** Merges many pairs in one process. */
  mergePairs(pairs: readonly (readonly [Oid, Oid])[]): Promise<MergeTreeResult[]>;
  /** Tells what merging many pairs would come to. Nothing that the merges made is kept: the trees that results name do
   * not exist. */
  probePairs(pairs: readonly (readonly [Oid, Oid])[]): Promise<MergeTreeResult[]>;
  /** Objects over these whose new ones vanish when it is closed: for steps between that nobody needs afterwards. Without
   * attributes until told. */
  openBench(): Promise<Objects>;
  /** For each tip: what it has that `known` does not reach. One walk for all. */
  readHistories(tips: readonly Oid[], known: readonly Oid[]): Promise<History[]>;
  /** Renames that git sees from one tree to another, old path to new path. */
  findRenames(before: Oid, after: Oid): Promise<Map<GitPath, GitPath>>;
  /** The custom merge drivers that the attributes in use name, for those of the paths that have one. */
  findDrivers(paths: readonly GitPath[]): Promise<Map<GitPath, string>>;
  /** Those of the paths for which the attributes in use say anything about how to merge. */
  findSpecial(paths: readonly GitPath[]): Promise<Set<GitPath>>;
  /** Merges the contents of many files by their lines, each by itself: neither paths nor attributes count. */
  mergeContents(files: readonly ContentSides[]): Promise<ContentMerge[]>;
  /** The newest commit between `known` and `tip` whose message holds this text, or null. */
  findMention(text: string, tip: Oid, known: Oid): Promise<Oid | null>;
  /** Applies the difference of one path between two blobs to a third, as `git apply --3way` does; null when it does
   * not apply. */
  applyPatch(sides: { base: TreeEntry; target: TreeEntry; change: TreeEntry }): Promise<Oid | null>;
  /** All best common ancestors. */
  mergeBases(a: Oid, b: Oid): Promise<Oid[]>;
  /** The best common ancestors of all of these together. */
  mergeBasesOfAll(commits: readonly Oid[]): Promise<Oid[]>;
  isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean>;
  /** For each commit whether `descendant` contains it; false also for one that does not exist any more. One walk. */
  areAncestors(commits: readonly Oid[], descendant: Oid): Promise<boolean[]>;
  /** Uses the attributes of this tree for merges from now on: `merge` and `conflict-marker-size` only. Read are the
   * attributes files in the directories of these paths. */
  useAttributesOf(tree: Oid, paths: readonly GitPath[]): Promise<void>;
  /** Writes all objects that `tips` reach and `known` do not into one pack that is on the disk when this returns. */
  makeDurable(tips: readonly Oid[], known: readonly Oid[]): Promise<void>;
  close(): Promise<void>;
}

export interface RefUpdate {
  readonly ref: string;
  /** null deletes. */
  readonly to: Oid | null;
  /** The value that it must have now; null: it must not exist. */
  readonly from: Oid | null;
}

/** Outcome of moving refs: `moved` when another value was found than expected (nothing was changed then). */
export type RefOutcome =
  | { readonly outcome: 'updated' }
  | { readonly outcome: 'moved'; readonly message: string };

export interface Refs {
  /** Commits for revision texts (full ref names, ids); undefined where there is none. */
  resolveCommits(revisions: readonly string[]): Promise<(Oid | undefined)[]>;
  /** Refs under a prefix such as `refs/heads/`; sorted by name. `oid` is the ref's own object. */
  listRefs(
    prefix: string,
  ): Promise<{ readonly ref: string; readonly oid: Oid; readonly commit: Oid | null }[]>;
  /** All or none, each with its old value, with reflog and fsync. */
  updateRefs(updates: readonly RefUpdate[], reason: string): Promise<RefOutcome>;
  listWorktrees(): Promise<WorktreeInfo[]>;
  /** A text file at a revision; null where there is none. */
  readFileAt(revision: string, path: string): Promise<string | null>;
  /** The ref that a symbolic ref stands for, else the ref itself. */
  followRef(ref: string): Promise<string>;
  /** Full name of the branch that the repository's own HEAD names, or null when it is detached. */
  readHead(): Promise<string | null>;
  /** One value of the repository's configuration as git resolves it, or undefined. */
  readConfig(key: string): Promise<string | undefined>;
  /** Sets one value of the repository's own configuration; null removes all of the key's. Only to mend it. */
  mendConfig(key: string, value: string | null): Promise<void>;
  /** The folder of the user's hooks, absolute: as configured, a relative one from the primary checkout. */
  readHooksFolder(): Promise<string>;
  /** Who the user is, as git would write it into a commit. Throws `identity_missing`. */
  readIdentity(): Promise<{ readonly author: Identity; readonly committer: Identity }>;
  /** What the shared configuration holds, as a digest: nobody but the user may change it while work is landed. */
  readFingerprint(): Promise<string>;
  /** Ends what runs to answer questions; a later question starts it again. */
  close(): Promise<void>;
}
