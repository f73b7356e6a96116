// The private index of a capture. It starts as a byte copy of the workspace's own index, with that file's time: git
// decides by it which entries are too fresh to be trusted. What an index can hide is then taken out: "assume
// unchanged" and "skip worktree" bits of files that are there, gitlinks that are no submodules, staged changes of
// paths that settings leave out. The workspace's own index, its lock and its shared index are only read.

import { open, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { asOid, displayPath, type GitPath, type Oid } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';
import { type IndexFacts, parseIndex } from './index-file.ts';
import { parsePathList, parseRawDiff } from './tree-format.ts';
import { findEntry } from './workspace-disk.ts';
import { pathInput, type WorkspaceGit } from './workspace-git.ts';

/** Where a private index came from. `head`: the workspace has none, or one that is no index. */
export type IndexOrigin = 'workspace' | 'head' | 'none';

export interface ShadowIndex {
  readonly file: string;
  readonly origin: IndexOrigin;
  /** What it holds now; `none` has no entries. */
  readonly facts: IndexFacts;
}

interface IndexFile {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
  readonly facts: IndexFacts;
}

/** An index file with its time; undefined when it is not there or is no index. git replaces the file and never writes
 * into it, so both belong together. */
async function findIndexFile(file: string, hashBytes: 20 | 32): Promise<IndexFile | undefined> {
  try {
    const handle = await open(file, 'r');
    try {
      const [bytes, { mtimeMs }] = [await handle.readFile(), await handle.stat()];
      const facts = parseIndex(bytes, hashBytes);
      return facts === undefined ? undefined : { bytes, mtimeMs, facts };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What a private index holds now. Throws when it is not there. */
export async function readIndexFacts(file: string, hashBytes: 20 | 32): Promise<IndexFacts> {
  const found = await findIndexFile(file, hashBytes);
  if (found === undefined)
    throw new SennitError('git_failed', `git wrote an index that cannot be read: ${file}`);
  return found.facts;
}

/** Copies an index with its time and says what it holds; undefined when it is not there or is no index. */
export async function copyIndexFile(
  from: string,
  to: string,
  hashBytes: 20 | 32,
): Promise<IndexFacts | undefined> {
  const found = await findIndexFile(from, hashBytes);
  if (found === undefined) return undefined;
  await writeFile(to, found.bytes);
  // Earlier by less than the precision that may be lost: an index that seems older is only trusted less.
  const seconds = (found.mtimeMs - 0.002) / 1000;
  await utimes(to, seconds, seconds);
  return found.facts;
}

/** Makes the private index `file` from the workspace's own, or else from HEAD. */
export async function makeShadowIndex(git: WorkspaceGit, file: string): Promise<ShadowIndex> {
  const facts = await copyIndexFile(join(git.worktree.adminDir, 'index'), file, git.hashBytes);
  if (facts?.partial === false) return { file, origin: 'workspace', facts };
  if (facts !== undefined) {
    // Split or sparse: git reads the rest from the admin dir and writes one full index.
    const { code } = await git.run(file, { args: ['update-index', '--force-write-index'], accept: [0, 128] });
    if (code === 0) {
      return { file, origin: 'workspace', facts: await readIndexFacts(file, git.hashBytes) };
    }
    await rm(file, { force: true });
  }
  const hasHead = (await readHead(git, file)) !== null;
  await git.run(file, { args: ['read-tree', hasHead ? 'HEAD' : '--empty'] });
  return { file, origin: hasHead ? 'head' : 'none', facts: await readIndexFacts(file, git.hashBytes) };
}

async function readHead(git: WorkspaceGit, file: string): Promise<Oid | null> {
  const { code, stdout } = await git.run(file, {
    args: ['rev-parse', '--verify', '--quiet', 'HEAD'],
    accept: [0, 1],
  });
  return code === 0 ? asOid(stdout.toString('latin1').trim()) : null;
}

/** Takes out the bits that hide edits. Returns the skip-worktree entries that have no file: without a sparse checkout
 * nobody can tell whether these were deleted. */
export async function clearHidingBits(
  git: WorkspaceGit,
  shadow: ShadowIndex,
  sparse: boolean,
): Promise<readonly GitPath[]> {
  const { assumedUnchanged, skipWorktree } = shadow.facts;
  if (assumedUnchanged.length > 0) {
    await git.run(shadow.file, {
      args: ['update-index', '--no-assume-unchanged', '-z', '--stdin'],
      stdin: pathInput(assumedUnchanged),
    });
  }
  // In a sparse checkout git itself clears the bit of every file that exists, and does it faster.
  if (sparse || skipWorktree.length === 0) return [];
  const present = skipWorktree.filter((path) => findEntry(git.worktree.path, path) !== undefined);
  if (present.length > 0) {
    await git.run(shadow.file, {
      args: ['update-index', '--no-skip-worktree', '-z', '--stdin'],
      stdin: pathInput(present),
    });
  }
  const shown = new Set(present);
  return skipWorktree.filter((path) => !shown.has(path));
}

/** Takes entries out of the private index, whatever the disk has at their paths. */
export async function dropEntries(git: WorkspaceGit, file: string, paths: readonly GitPath[]): Promise<void> {
  if (paths.length === 0) return;
  await git.run(file, { args: ['update-index', '--force-remove', '-z', '--stdin'], stdin: pathInput(paths) });
}

/** How the private index differs from a commit, contents as they are staged. */
export async function diffIndex(git: WorkspaceGit, file: string, commit: string): Promise<EntryChange[]> {
  const { stdout } = await git.run(file, {
    args: [
      'diff-index',
      '--cached',
      '--raw',
      '-z',
      '--no-renames',
      '--no-abbrev',
      '--ignore-submodules=none',
      commit,
    ],
  });
  return parseRawDiff(stdout);
}

/** Gives paths back the entry that HEAD has, or none, where something else was staged. */
export async function unstage(
  git: WorkspaceGit,
  shadow: ShadowIndex,
  isExcluded: (path: GitPath) => boolean,
): Promise<void> {
  const head = await readHead(git, shadow.file);
  if (head === null) {
    await dropEntries(git, shadow.file, shadow.facts.paths.filter(isExcluded));
    return;
  }
  const zero = '0'.repeat(git.hashBytes * 2);
  const lines = (await diffIndex(git, shadow.file, head))
    .filter(({ path }) => isExcluded(path))
    .map(({ path, before }) =>
      before === null ? `0 ${zero}\t${path}\0` : `${before.mode} ${before.oid}\t${path}\0`,
    );
  if (lines.length === 0) return;
  await git.run(shadow.file, {
    args: ['update-index', '-z', '--index-info'],
    stdin: Buffer.from(lines.join(''), 'latin1'),
  });
}

/** Entries whose content is not in the repository, though the index trusts that it is: staged by a git that wrote its
 * objects elsewhere. They are taken out of the private index and must be hashed again. Throws `object_missing` where
 * that is not possible, because there is no file. */
export async function dropEntriesWithoutObject(git: WorkspaceGit, file: string): Promise<readonly GitPath[]> {
  const { stdout } = await git.run(file, { args: ['ls-files', '--stage', '-z'] });
  const pathsOf = new Map<Oid, GitPath[]>();
  // `100644 <oid> 0\tpath`
  for (const record of parsePathList(stdout)) {
    const tab = record.indexOf('\t');
    const [mode, oid = ''] = record.slice(0, tab).split(' ');
    if (mode === '160000') continue;
    const paths = pathsOf.get(asOid(oid));
    if (paths === undefined) pathsOf.set(asOid(oid), [record.slice(tab + 1) as GitPath]);
    else paths.push(record.slice(tab + 1) as GitPath);
  }
  const { stdout: answers } = await git.run(file, {
    args: ['cat-file', '--batch-check=%(objectname)'],
    stdin: [...pathsOf.keys()].map((oid) => `${oid}\n`).join(''),
  });
  const lost = answers
    .toString('latin1')
    .split('\n')
    .flatMap((line) => (line.endsWith(' missing') ? (pathsOf.get(line.slice(0, -8) as Oid) ?? []) : []));
  const gone = lost.filter((path) => findEntry(git.worktree.path, path)?.isDirectory() !== false);
  if (gone.length > 0) {
    throw new SennitError(
      'object_missing',
      `The repository lacks the staged content of ${gone.length} paths.`,
      {
        hint: 'In a partial clone fetch it (`git fetch --refetch`); else unstage these paths in the workspace.',
        paths: gone.map(displayPath),
      },
    );
  }
  await dropEntries(git, file, lost);
  return lost;
}
