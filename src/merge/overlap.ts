// Which changes can meet at all. Two changes that share no path, and of which none makes a file where the other has
// something below a directory of that name, merge clean for certain: with directory renames switched off a rename
// concerns another change only through its old or its new path, and both are among the paths it changes. Everything
// else is asked of git.

import type { GitPath } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';

/** All directories above a path: `a/b/c` gives `a` and `a/b`. */
export function* directoriesOf(path: GitPath): Generator<GitPath> {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    yield path.slice(0, at) as GitPath;
}

/** Paths of any number of changes, to be asked which of them meet. Memory: one map entry a path. */
export class PathIndex {
  readonly #leaves = new Map<GitPath, number[]>();
  /** Directories that lie above a changed leaf. */
  readonly #above = new Map<GitPath, number[]>();

  add(owner: number, changes: readonly EntryChange[]): void {
    for (const { path } of changes) {
      push(this.#leaves, path, owner);
      for (const directory of directoriesOf(path)) push(this.#above, directory, owner);
    }
  }

  /** Owners, other than `owner`, that meet one of these changes; with the paths where they meet. */
  meetings(owner: number, changes: readonly EntryChange[]): Map<number, GitPath[]> {
    const found = new Map<number, GitPath[]>();
    const note = (others: readonly number[] | undefined, path: GitPath): void => {
      for (const other of others ?? []) if (other !== owner) push(found, other, path);
    };
    for (const { path } of changes) {
      note(this.#leaves.get(path), path);
      note(this.#above.get(path), path);
      for (const directory of directoriesOf(path)) note(this.#leaves.get(directory), path);
    }
    return found;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else if (list.at(-1) !== value) list.push(value);
}

/** A directory that one change emptied into another place while another change adds a file to the old one. */
export interface MovedDirectory {
  readonly from: string;
  readonly to: string;
  readonly added: readonly GitPath[];
}

function directoryOf(path: GitPath): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

/** Finds directories that `mover` moved (files with the same content deleted there and added elsewhere) and to which
 * `other` adds files that would stay behind. */
export function movedDirectories(
  mover: readonly EntryChange[],
  other: readonly EntryChange[],
): MovedDirectory[] {
  const deleted = new Map<string, string>();
  for (const { path, before, after } of mover) {
    if (before !== null && after === null)
      deleted.set(`${before.oid} ${path.slice(path.lastIndexOf('/') + 1)}`, directoryOf(path));
  }
  if (deleted.size === 0) return [];
  const moves = new Map<string, string>();
  for (const { path, before, after } of mover) {
    if (before !== null || after === null) continue;
    const from = deleted.get(`${after.oid} ${path.slice(path.lastIndexOf('/') + 1)}`);
    const to = directoryOf(path);
    if (from !== undefined && from !== to) moves.set(from, to);
  }
  if (moves.size === 0) return [];
  const kept = new Set(mover.filter(({ after }) => after !== null).map(({ path }) => directoryOf(path)));
  const found = new Map<string, GitPath[]>();
  for (const { path, before, after } of other) {
    const directory = directoryOf(path);
    if (before === null && after !== null && moves.has(directory) && !kept.has(directory))
      push(found, directory, path);
  }
  return [...found].map(([from, added]) => ({ from, to: moves.get(from) ?? '', added }));
}
