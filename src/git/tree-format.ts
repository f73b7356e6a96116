import { asOid, type GitPath, gitPathOf, type Oid } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';

/** One entry of one tree object; `mode` may also be `40000`, a subtree. */
export interface RawTreeEntry {
  readonly mode: string;
  readonly name: string;
  readonly oid: Oid;
}

/** Parses the bytes of a tree object: `100644 name\0<20 or 32 raw bytes>` again and again. Names are byte strings. */
export function parseTreeObject(bytes: Buffer, hashBytes: 20 | 32): RawTreeEntry[] {
  const entries: RawTreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, space);
    entries.push({
      mode: bytes.toString('latin1', at, space),
      name: bytes.toString('latin1', space + 1, nul),
      oid: asOid(bytes.toString('hex', nul + 1, nul + 1 + hashBytes)),
    });
    at = nul + 1 + hashBytes;
  }
  return entries;
}

function entryOf(mode: string, oid: string): TreeEntry | null {
  return mode === '000000' ? null : { mode: mode as Mode, oid: asOid(oid) };
}

/** Parses `diff-tree -r -z --raw --no-renames` output:
 * `:100644 100644 <oid> <oid> M\0path\0` and `:000000 100755 <zeros> <oid> A\0path\0`. */
export function parseRawDiff(bytes: Buffer): EntryChange[] {
  const changes: EntryChange[] = [];
  let at = 0;
  while (at < bytes.length) {
    const nul = bytes.indexOf(0, at);
    const end = bytes.indexOf(0, nul + 1);
    if (nul === -1 || end === -1 || bytes[at] !== 0x3a) {
      throw new Error(`raw diff is malformed at byte ${at}`);
    }
    const [beforeMode = '', afterMode = '', beforeOid = '', afterOid = ''] = bytes
      .toString('latin1', at + 1, nul)
      .split(' ');
    changes.push({
      path: gitPathOf(bytes.subarray(nul + 1, end)),
      before: entryOf(beforeMode, beforeOid),
      after: entryOf(afterMode, afterOid),
    });
    at = end + 1;
  }
  return changes;
}

/** Splits NUL-terminated records into byte-string paths. */
export function parsePathList(bytes: Buffer): GitPath[] {
  const text = bytes.toString('latin1');
  if (text === '') return [];
  return (text.endsWith('\0') ? text.slice(0, -1) : text).split('\0') as GitPath[];
}
