// Reads what a capture must know of a git index straight from its bytes: one pass over the file instead of several
// git processes. Only facts that git's own answers would also show are taken: paths, bits, gitlinks. Contents and
// stat data are git's business. What must stay true: anything that is not understood is `undefined`, never a guess;
// a split or sparse index is reported as such, because part of its entries is elsewhere.
//
// Layout (versions 2 to 4): `DIRC`, version, count; entries of 40 bytes of stat data (mode at 24), object id, two
// bytes of flags (0x8000 assume-valid, 0x4000 extended, 0x3000 stage), with the extended flag two more (0x4000
// skip-worktree, 0x2000 intent-to-add), then the name; extensions of a four-byte name and a size; a checksum.

import type { GitPath, Oid } from '../model/ids.ts';

export interface IndexFacts {
  /** All paths in index order; an unmerged path once for each stage. */
  readonly paths: readonly GitPath[];
  /** Every directory that holds an entry, at any depth, without a slash at its end; not the root. */
  readonly directories: ReadonlySet<GitPath>;
  /** Submodule entries and the commits that they name. */
  readonly gitlinks: ReadonlyMap<GitPath, Oid>;
  readonly assumedUnchanged: readonly GitPath[];
  readonly skipWorktree: readonly GitPath[];
  readonly unmerged: ReadonlySet<GitPath>;
  /** True when entries are missing here: they are in a shared index, or collapsed to directories. */
  readonly partial: boolean;
}

const ENTRY_MODE = 24;
const ENTRY_OID = 40;
const GITLINK = 0o160000;

/** The offset encoding of version 4 names: seven bits a byte, each continuation adds one. */
function readVarint(bytes: Buffer, at: number): { value: number; next: number } {
  let byte = bytes[at] ?? 0;
  let value = byte & 0x7f;
  let next = at + 1;
  while ((byte & 0x80) !== 0) {
    byte = bytes[next] ?? 0;
    next += 1;
    value = ((value + 1) << 7) + (byte & 0x7f);
  }
  return { value, next };
}

/** Adds a path's directories; the sorted order of an index lets it stop at the first known one. */
function addDirectories(path: GitPath, directories: Set<GitPath>): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const directory = path.slice(0, end) as GitPath;
    if (directories.has(directory)) return;
    directories.add(directory);
  }
}

/** True when an extension says that entries are elsewhere; undefined when the extensions are malformed. */
function isPartial(bytes: Buffer, start: number, hashBytes: number): boolean | undefined {
  const end = bytes.length - hashBytes;
  let partial = false;
  let at = start;
  while (at + 8 <= end) {
    const name = bytes.toString('latin1', at, at + 4);
    if (name === 'link' || name === 'sdir') partial = true;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === end ? partial : undefined;
}

/** Parses the bytes of an index file; undefined for what is no index, is cut short or is of an unknown version. */
export function parseIndex(bytes: Buffer, hashBytes: 20 | 32): IndexFacts | undefined {
  if (bytes.length < 12 + hashBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;

  const paths: GitPath[] = [];
  const directories = new Set<GitPath>();
  const gitlinks = new Map<GitPath, Oid>();
  const assumedUnchanged: GitPath[] = [];
  const skipWorktree: GitPath[] = [];
  const unmerged = new Set<GitPath>();
  let previous = '';
  let previousDirectory = '';
  let at = 12;
  for (let i = 0; i < count; i += 1) {
    const start = at;
    const flagsAt = start + ENTRY_OID + hashBytes;
    if (flagsAt + 4 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const extended = version >= 3 && (flags & 0x4000) !== 0;
    let nameAt = flagsAt + (extended ? 4 : 2);
    let kept = '';
    if (version === 4) {
      const strip = readVarint(bytes, nameAt);
      if (strip.value > previous.length) return undefined;
      kept = previous.slice(0, previous.length - strip.value);
      nameAt = strip.next;
    }
    const nul = bytes.indexOf(0, nameAt);
    if (nul === -1) return undefined;
    const path = (kept + bytes.toString('latin1', nameAt, nul)) as GitPath;
    // Entries of versions 2 and 3 are padded with one to eight NULs to a multiple of eight.
    at = version === 4 ? nul + 1 : start + ((nul - start + 8) & ~7);
    previous = path;
    paths.push(path);
    const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (directory !== previousDirectory) {
      addDirectories(path, directories);
      previousDirectory = directory;
    }
    if ((flags & 0x8000) !== 0) assumedUnchanged.push(path);
    if ((flags & 0x3000) !== 0) unmerged.add(path);
    if (extended && (bytes.readUInt16BE(flagsAt + 2) & 0x4000) !== 0) skipWorktree.push(path);
    if (bytes.readUInt32BE(start + ENTRY_MODE) === GITLINK) {
      gitlinks.set(path, bytes.toString('hex', start + ENTRY_OID, flagsAt) as Oid);
    }
  }
  const partial = isPartial(bytes, at, hashBytes);
  if (partial === undefined) return undefined;
  return {
    paths,
    directories,
    gitlinks,
    assumedUnchanged,
    skipWorktree,
    unmerged,
    partial,
  };
}
