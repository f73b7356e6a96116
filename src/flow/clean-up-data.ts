// What is written into the ledger about a workspace that is being removed, before anything happens to it. After a crash
// the disk says how far it came: the folder is at its path, under its trash name or gone, its record is there or not.
// The state says what had been proved by then:
//   planned       content may have been anchored and the folder renamed; nothing is decided
//   proved        under its trash name the folder is what the archive holds, and what else is worth keeping was moved
//   putting-back  it stays after all; the folder gets its name back
//   put-back, removed  final

import type { Oid } from '../model/ids.ts';
import type { OperationRecord } from '../ports/ledger.ts';

/** One workspace that is being removed. Folders are absolute paths. */
export interface Removal {
  readonly path: string;
  readonly adminDir: string;
  /** What the record says in its `gitdir` file: it tells this record from a later one of the same name. */
  readonly gitdir: string;
  /** Name of the folder, made fit for refs and file names; unique within the operation. */
  readonly slug: string;
  readonly branch: string | null;
  readonly head: Oid | null;
  /** Where the folder is put before it is deleted: beside `path`, on the same file system. */
  readonly trash: string;
  /** Full name of the archive ref, and of private refs with what else only this workspace had. */
  readonly archive: string;
  readonly aside: readonly string[];
  /** Folder that ignored files are moved to. */
  readonly kept: string;
  /** Why it may go, for people. */
  readonly proof: string;
  readonly state: 'planned' | 'proved' | 'putting-back' | 'put-back' | 'removed';
}

/** Writes one removal into the ledger, in place of the one with the same slug. */
export interface RemovalJournal {
  save(type: string, removal: Removal, options?: { readonly durable?: boolean }): void;
}

/** The data of a `gc` operation. */
export interface CleanUpData {
  readonly version: 1;
  readonly removals: readonly Removal[];
}

export function readCleanUpData(operation: OperationRecord): CleanUpData {
  return operation.data as CleanUpData;
}

/** A list of removals in which one is replaced by slug, or added. */
export function withRemoval(removals: readonly Removal[], removal: Removal): Removal[] {
  const others = removals.filter(({ slug }) => slug !== removal.slug);
  return [...others, removal].sort((a, b) => (a.slug < b.slug ? -1 : 1));
}
