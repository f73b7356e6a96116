// Repositories inside a workspace that are no submodules. They never become part of a snapshot as a gitlink, which
// would be a pointer to nowhere, and git is never started in them: their configuration is an agent's. What they
// hold, their git dir included, is written byte for byte into a tree of its own, so that nothing is lost with the
// workspace. Linked worktrees of this same repository are left out: their work is their own source.

import {
  constants,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { asOid, displayPath, type GitPath, gitPathOf, type Oid } from '../model/ids.ts';
import { CACHE_MARKS, isNeverSource } from './reproducible.ts';
import { diskPath, diskText, findEntry, isRefusal, readSmallFile } from './workspace-disk.ts';
import { quotedPath, type WorkspaceGit } from './workspace-git.ts';

/** What a directory with a `.git` of its own is. */
export type NestedKind = 'repository' | 'worktree';

/** The name that `.git` gets in a tree, which may not hold that name. */
const GIT_DIR_NAME = 'git-dir';

const GIT_FILE_LIMIT = 65_536;

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory + sep);
}

/** The git dir that the `.git` file of a directory names; undefined when `.git` is no such file. */
export function readGitFile(root: string, directory: GitPath): string | undefined {
  const content = readSmallFile(root, gitEntryOf(directory), GIT_FILE_LIMIT);
  const match = content === undefined ? null : /^gitdir: (.+)$/.exec(content.toString('utf8').trim());
  return match?.[1] === undefined ? undefined : resolve(diskText(root, directory), match[1]);
}

function gitEntryOf(directory: GitPath): GitPath {
  return (directory === '' ? '.git' : `${directory}/.git`) as GitPath;
}

/** Those directories that have an entry `.git`, whatever it is; not those that may not be looked into. */
export function findEmbedded(root: string, directories: readonly GitPath[]): GitPath[] {
  return directories.filter((directory) => {
    try {
      return findEntry(root, gitEntryOf(directory)) !== undefined;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  });
}

/** Whether a directory is a linked worktree of the repository with this common dir, also when the repository was moved
 * and the `.git` file points to where it was. */
export function nestedKind(root: string, directory: GitPath, commonDir: string): NestedKind {
  const gitDir = readGitFile(root, directory);
  if (gitDir === undefined) return 'repository';
  const admins = join(realOr(commonDir), 'worktrees');
  if (isBelow(realOr(gitDir), admins)) return 'worktree';
  try {
    const record = readFileSync(join(admins, basename(gitDir), 'gitdir'), 'utf8').trim();
    const recorded = dirname(resolve(admins, basename(gitDir), record));
    return realOr(recorded) === realOr(diskText(root, directory)) ? 'worktree' : 'repository';
  } catch {
    return 'repository';
  }
}

interface Leaf {
  /** Below the nested repository, as it will be named in the tree. */
  readonly name: GitPath;
  readonly file: Buffer;
  readonly mode: '100644' | '100755' | '120000';
  readonly size: number;
}

/** What is set aside of a nested repository: all files, or the git dir alone where the files are in the snapshot. */
export interface AsideRequest {
  readonly directory: GitPath;
  readonly gitDirOnly: boolean;
  readonly maxBytes: number;
}

function listLeaves(root: string, request: AsideRequest): Leaf[] {
  const leaves: Leaf[] = [];
  let bytes = 0;
  const walk = (directory: GitPath, name: string, inGitDir: boolean): void => {
    const entries = readFolder(root, directory);
    const names = new Set(entries.map((entry) => entry.name.toString('latin1')));
    if (name !== '' && !inGitDir && CACHE_MARKS.some((mark) => names.has(mark))) return;
    for (const entry of entries) {
      const own = gitPathOf(entry.name);
      const path = (directory === '' ? own : `${directory}/${own}`) as GitPath;
      const isGitDir = /^\.git$/i.test(own);
      if (name === '' && request.gitDirOnly && own !== '.git') continue;
      // Installed packages and caches are no work, and would soon be more than the limit.
      if (!isGitDir && !inGitDir && entry.isDirectory() && isNeverSource(own)) continue;
      const shown = isGitDir ? takeFreeName(names) : own;
      const leafName = (name === '' ? shown : `${name}/${shown}`) as GitPath;
      if (entry.isDirectory()) {
        walk(path, leafName, inGitDir || isGitDir);
        continue;
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const { mode, size } = lstatSync(diskPath(root, path));
      bytes += size;
      if (bytes > request.maxBytes) throw tooLarge(request);
      leaves.push({
        name: leafName,
        file: diskPath(root, path),
        mode: entry.isSymbolicLink() ? '120000' : (mode & 0o100) !== 0 ? '100755' : '100644',
        size,
      });
    }
  };
  walk(request.directory, '', false);
  return leaves;
}

function takeFreeName(taken: Set<string>): string {
  let name = GIT_DIR_NAME;
  for (let i = 1; taken.has(name); i += 1) name = `${GIT_DIR_NAME}-${i}`;
  taken.add(name);
  return name;
}

function readFolder(root: string, directory: GitPath): Dirent<Buffer>[] {
  try {
    return readdirSync(diskPath(root, directory), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw unreadable(directory, error);
  }
}

function unreadable(directory: GitPath, cause: unknown): SennitError {
  const name = displayPath(directory);
  return new SennitError('snapshot_incomplete', `The nested repository at ${name} cannot be read.`, {
    hint: 'Make its files readable, or move it out of the workspace; then run the command again.',
    paths: [name],
    cause,
  });
}

function tooLarge({ directory, maxBytes }: AsideRequest): SennitError {
  const name = displayPath(directory);
  return new SennitError(
    'snapshot_incomplete',
    `The nested repository at ${name} holds more than ${maxBytes} bytes and cannot be kept with the snapshot.`,
    {
      hint: 'Move it out of the workspace, name it in the setting `snapshot.exclude`, or raise `snapshot.max_file_size` (four times that may be kept).',
      paths: [name],
    },
  );
}

/** Bytes that setting a nested repository aside will take. Throws `snapshot_incomplete` naming it. */
export function measureAside(root: string, request: AsideRequest): number {
  return listLeaves(root, request).reduce((sum, { size }) => sum + size, 0);
}

/** Writes a nested repository into a tree, no conversion applied. `scratch` takes a copy of its files for the time: what
 * git reads there cannot be swapped for a link or a pipe. Throws `snapshot_incomplete`. */
export async function setAside(git: WorkspaceGit, scratch: string, request: AsideRequest): Promise<Oid> {
  const folder = await mkdtemp(join(scratch, 'aside-'));
  try {
    const leaves = listLeaves(git.worktree.path, request);
    for (const [i, leaf] of leaves.entries())
      await copyLeaf(leaf, join(folder, String(i)), request.directory);
    const index = join(folder, 'index');
    const { stdout } = await git.run(index, {
      args: ['hash-object', '-w', '--no-filters', '--stdin-paths'],
      stdin: leaves.map((_, i) => `${quotedPath(join(folder, String(i)))}\n`).join(''),
    });
    const oids = stdout.toString('latin1').split('\n').filter(Boolean).map(asOid);
    if (oids.length !== leaves.length)
      throw new SennitError('git_failed', 'git wrote fewer objects than it was given.');
    await git.run(index, {
      args: ['update-index', '--add', '-z', '--index-info'],
      stdin: Buffer.from(
        leaves.map(({ mode, name }, i) => `${mode} ${oids[i]}\t${name}\0`).join(''),
        'latin1',
      ),
      config: [
        ['core.protectNTFS', 'false'], // any name that the disk has must be kept
        ['core.protectHFS', 'false'],
      ],
    });
    return asOid((await git.run(index, { args: ['write-tree'] })).stdout.toString('latin1').trim());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyLeaf({ file, mode }: Leaf, to: string, directory: GitPath): Promise<void> {
  try {
    if (mode === '120000') {
      await writeFile(to, readlinkSync(file, { encoding: 'buffer' }));
      return;
    }
    const from = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await from.stat()).isFile()) throw unreadable(directory, undefined);
      await writeFile(to, from.createReadStream({ autoClose: false }));
    } finally {
      await from.close();
    }
  } catch (error) {
    if (isRefusal(error)) throw unreadable(directory, error);
    throw error;
  }
}
