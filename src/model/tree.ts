import type { GitPath, Oid } from './ids.ts';

/** File modes that git trees hold for leaves. */
export type Mode = '100644' | '100755' | '120000' | '160000';

/** A leaf of a tree: a file, an executable, a symbolic link or a submodule. */
export interface TreeEntry {
  readonly mode: Mode;
  readonly oid: Oid;
}

/** One changed leaf between two trees; `null` means absent on that side. No renames: delete plus add. */
export interface EntryChange {
  readonly path: GitPath;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

export function sameEntry(a: TreeEntry | null | undefined, b: TreeEntry | null | undefined): boolean {
  if (!a || !b) return !a && !b;
  return a.mode === b.mode && a.oid === b.oid;
}

export function isRegular(entry: TreeEntry | null | undefined): entry is TreeEntry {
  return entry?.mode === '100644' || entry?.mode === '100755';
}
