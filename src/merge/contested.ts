// Paths that several changes from one base edit in the plainest way: a regular file that is there before and after in
// each, with the same mode. What git makes of such a path depends on its contents alone: no rename can concern it, since
// nobody removed or added it, and no folder can be in its way. So its versions can be merged without their trees.

import type { GitPath } from '../model/ids.ts';
import { type EntryChange, isRegular, sameEntry, type TreeEntry } from '../model/tree.ts';
import { directoriesOf } from './overlap.ts';

/** The versions of one path, in the order of the changes, each with the changes that have it. */
export interface ContestedPath {
  readonly path: GitPath;
  readonly base: TreeEntry;
  readonly versions: readonly { readonly owners: readonly number[]; readonly entry: TreeEntry }[];
}

export interface Contest {
  readonly contested: readonly ContestedPath[];
  /** Changes that meet another one in any other way: their trees must be merged. */
  readonly rough: ReadonlySet<number>;
}

interface Claim {
  readonly owner: number;
  readonly change: EntryChange;
}

/** True when a change edits a regular file and nothing else about it. */
function isPlainEdit({ before, after }: EntryChange): boolean {
  return isRegular(before) && isRegular(after) && before.mode === after.mode;
}

/** Sorts the meetings of changes that start from one base. Paths in `special` are never plain. */
export function findContest(
  all: readonly (readonly EntryChange[])[],
  special: ReadonlySet<GitPath>,
): Contest {
  const claims = new Map<GitPath, Claim[]>();
  for (const [owner, changes] of all.entries()) {
    for (const change of changes) {
      const known = claims.get(change.path);
      if (known === undefined) claims.set(change.path, [{ owner, change }]);
      else known.push({ owner, change });
    }
  }
  const rough = new Set<number>();
  for (const [path, claimed] of claims) {
    // A file where another change has something below a directory of that name.
    for (const directory of directoriesOf(path)) {
      const above = claims.get(directory) ?? [];
      for (const { owner } of above)
        for (const below of claimed) if (below.owner !== owner) rough.add(owner).add(below.owner);
    }
    if (claimed.length < 2) continue;
    if (special.has(path) || !claimed.every(({ change }) => isPlainEdit(change)))
      for (const { owner } of claimed) rough.add(owner);
  }
  const contested: ContestedPath[] = [];
  for (const [path, claimed] of claims) {
    const plain = claimed.filter(({ owner }) => !rough.has(owner));
    const base = plain[0]?.change.before;
    if (plain.length < 2 || !isRegular(base)) continue;
    const versions: { owners: number[]; entry: TreeEntry }[] = [];
    for (const { owner, change } of plain) {
      const same = versions.find(({ entry }) => sameEntry(entry, change.after));
      if (same !== undefined) same.owners.push(owner);
      else if (change.after !== null) versions.push({ owners: [owner], entry: change.after });
    }
    contested.push({ path, base, versions });
  }
  return { contested, rough };
}
