import { asOid, type GitPath, type Oid } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';

/** What `git status` says about one workspace. */
export interface WorkspaceStatus {
  /** The commit that HEAD is at; null before the first one. */
  readonly head: Oid | null;
  /** How the index differs from HEAD. Unmerged paths are not in it. */
  readonly staged: readonly EntryChange[];
  /** Tracked paths whose file differs from the index (content, mode, kind), or that are unmerged, or only
   * announced by `add -N`. */
  readonly changed: readonly GitPath[];
  /** Tracked paths without a file. */
  readonly deleted: readonly GitPath[];
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
  '--branch', // names the commit of HEAD
  '--no-ahead-behind', // and does not count commits
  '--untracked-files=all', // each file, and whatever status.showUntrackedFiles says
  '--no-renames', // a rename is a deletion and an addition
  '--ignore-submodules=dirty', // looking deeper would run git with a submodule's own configuration
] as const;

/** Also lists ignored paths: those that a rule matches, files and directories. */
export const STATUS_IGNORED_ARG = '--ignored=matching';

const NO_MODE = '000000';

function entryOf(mode: string, oid: string): TreeEntry | null {
  return mode === NO_MODE ? null : { mode: mode as Mode, oid: asOid(oid) };
}

/** Parses `status --porcelain=v2 -z --branch` without renames:
 * `# branch.oid <oid>\0# branch.head main\01 .M N... 100644 100644 100644 <oid> <oid> a.ts\0? new.ts\0? nested/\0`
 * `u UU N... 100644 100644 100644 100644 <oid> <oid> <oid> both.ts\0! node_modules/\0`.
 * Throws on a record of another kind. */
export function parseStatus(bytes: Buffer): WorkspaceStatus {
  let head: Oid | null = null;
  const staged: EntryChange[] = [];
  const changed: GitPath[] = [];
  const deleted: GitPath[] = [];
  const untracked: GitPath[] = [];
  const nested: GitPath[] = [];
  const ignored: GitPath[] = [];
  for (const record of bytes.toString('latin1').split('\0')) {
    const kind = record[0];
    if (kind === undefined) continue;
    if (kind === '?') {
      const path = record.slice(2);
      if (path.endsWith('/')) nested.push(path.slice(0, -1) as GitPath);
      else untracked.push(path as GitPath);
    } else if (kind === '!') {
      ignored.push(record.slice(2) as GitPath);
    } else if (kind === '1') {
      const fields = record.split(' ', 8);
      const path = record.slice(fields.join(' ').length + 1) as GitPath;
      const [, , , modeHead = '', modeIndex = '', modeDisk = '', oidHead = '', oidIndex = ''] = fields;
      if (record[2] !== '.') {
        staged.push({ path, before: entryOf(modeHead, oidHead), after: entryOf(modeIndex, oidIndex) });
      }
      if (record[3] !== '.') (modeDisk === NO_MODE ? deleted : changed).push(path);
    } else if (kind === 'u') {
      const fields = record.split(' ', 10);
      const path = record.slice(fields.join(' ').length + 1) as GitPath;
      (fields[6] === NO_MODE ? deleted : changed).push(path);
    } else if (kind === '#') {
      const oid = /^# branch\.oid ([0-9a-f]+)$/.exec(record)?.[1];
      if (oid !== undefined) head = asOid(oid);
    } else {
      throw new Error(`unknown status record ${JSON.stringify(record.slice(0, 40))}`);
    }
  }
  return { head, staged, changed, deleted, untracked, nested, ignored };
}
