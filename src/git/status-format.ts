import type { GitPath } from '../model/ids.ts';

/** What `git status` says about one workspace, index against disk; what is staged does not appear. */
export interface WorkspaceStatus {
  /** Tracked paths whose file differs from the index (content, mode, kind), or that are unmerged, or only
   * announced by `add -N`. */
  readonly changed: readonly GitPath[];
  /** Tracked paths without a file. */
  readonly deleted: readonly GitPath[];
  /** Those of `changed` and `deleted` that are submodules in the index. */
  readonly submodules: readonly GitPath[];
  readonly untracked: readonly GitPath[];
  /** Untracked directories that are repositories of their own, without a slash at the end. */
  readonly nested: readonly GitPath[];
  /** Ignored paths; a directory that a rule matches as a whole ends with a slash and is not listed further. */
  readonly ignored: readonly GitPath[];
}

/** The arguments that give what `parseStatus` reads. */
export const STATUS_ARGS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--untracked-files=all', // each file, and whatever status.showUntrackedFiles says
  '--no-renames', // a rename is a deletion and an addition
  '--ignore-submodules=dirty', // looking deeper would run git with a submodule's own configuration
] as const;

/** Also lists ignored paths: those that a rule matches, files and directories. */
export const STATUS_IGNORED_ARG = '--ignored=matching';

/** The rest of a record behind `count` fields that a space each ends. */
function behindFields(record: string, count: number): string {
  let at = 0;
  for (let i = 0; i < count; i += 1) at = record.indexOf(' ', at) + 1;
  return record.slice(at);
}

/** Parses `status --porcelain=v2 -z` without renames:
 * `1 .M N... 100644 100644 100644 <oid> <oid> a.ts\0? new.ts\0? nested/\0! node_modules/\0`
 * `u UU N... 100644 100644 100644 100644 <oid> <oid> <oid> both.ts\0`. Throws on a record of another kind. */
export function parseStatus(bytes: Buffer): WorkspaceStatus {
  const status = {
    changed: [] as GitPath[],
    deleted: [] as GitPath[],
    submodules: [] as GitPath[],
    untracked: [] as GitPath[],
    nested: [] as GitPath[],
    ignored: [] as GitPath[],
  };
  for (const record of bytes.toString('latin1').split('\0')) {
    if (record === '') continue;
    const kind = record[0];
    if (kind === '?') {
      const path = record.slice(2);
      if (path.endsWith('/')) status.nested.push(path.slice(0, -1) as GitPath);
      else status.untracked.push(path as GitPath);
    } else if (kind === '!') {
      status.ignored.push(record.slice(2) as GitPath);
    } else if (kind === '1' || kind === 'u') {
      if (kind === '1' && record[3] === '.') continue; // staged only
      const path = behindFields(record, kind === '1' ? 8 : 10) as GitPath;
      const worktreeMode = record.slice(0, -path.length).split(' ')[kind === '1' ? 5 : 6];
      (worktreeMode === '000000' ? status.deleted : status.changed).push(path);
      if (record[5] === 'S') status.submodules.push(path);
    } else if (kind !== '#') {
      throw new Error(`unknown status record ${JSON.stringify(record.slice(0, 40))}`);
    }
  }
  return status;
}
