// Workspaces as the port describes them. A capture is tried a few times, each with a fresh private index in a folder
// of its own, until git agrees that nothing changed meanwhile. The index of a capture that was taken is kept beside a
// note of what it stands for, so that asking later whether the disk is still the same needs one look and no hashing.
// A kept index is never the start of another capture: what a snapshot holds depends on the workspace alone, not on
// what was captured before.

import { lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import type { Capture, CaptureRequest, Leftovers, Workspaces } from '../ports/workspaces.ts';
import { type Attempt, attemptCapture, readFilters } from './capture-attempt.ts';
import { haveRulesChanged } from './hidden-work.ts';
import { listLeftovers } from './leftovers.ts';
import { readStatus } from './read-status.ts';
import { settled } from './settled.ts';
import { readIndexFacts } from './shadow-index.ts';
import type { GitSpawner } from './spawn.ts';
import { parsePathList } from './tree-format.ts';
import { Unstable } from './unstable.ts';
import { nameSome } from './workspace-disk.ts';
import { WorkspaceGit } from './workspace-git.ts';
import { pointsBack } from './worktree-list.ts';

/** Makes a predicate from patterns of the settings. */
export type PathMatcher = (patterns: readonly string[]) => (path: GitPath) => boolean;

const ATTEMPTS = 3;

/** Milliseconds that a workspace gets to come to rest before the next attempt. */
const REST = 150;

/** Opens the workspaces of one repository. `matchPaths` gives `exclude` patterns their meaning. */
export function createWorkspaces(
  spawner: GitSpawner,
  place: RepositoryPlace,
  matchPaths: PathMatcher,
): Workspaces {
  return new WorkspaceStore(spawner, place, matchPaths);
}

/** What is noted beside a kept index. */
interface Kept {
  readonly tree: string;
  readonly leftOut: readonly string[];
  /** The workspace's own index at that time. */
  readonly workspaceIndex: string;
}

class WorkspaceStore implements Workspaces {
  readonly #spawner: GitSpawner;
  readonly #place: RepositoryPlace;
  readonly #matchPaths: PathMatcher;

  constructor(spawner: GitSpawner, place: RepositoryPlace, matchPaths: PathMatcher) {
    this.#spawner = spawner;
    this.#place = place;
    this.#matchPaths = matchPaths;
  }

  async capture(request: CaptureRequest): Promise<Capture> {
    const { worktree, scratch, objectsDir } = request;
    await requireWorkspace(worktree);
    const git = new WorkspaceGit(this.#spawner, this.#place, worktree, { objectsDir });
    const unlinked = unlinkedFinding(worktree);
    return await translated(worktree, async () => {
      await mkdir(scratch, { recursive: true });
      await forget(scratch);
      const before = await indexMark(worktree);
      const done = await this.#attempts(git, request, true, async (attempt) => {
        if (attempt.plain && objectsDir === undefined) await keep(scratch, attempt, before);
      });
      const finding = await unlinked;
      const { tree, uncommitted, aside } = done;
      return {
        tree,
        uncommitted,
        aside,
        findings: finding === undefined ? done.findings : [finding, ...done.findings],
      };
    });
  }

  async #attempts(
    git: WorkspaceGit,
    request: CaptureRequest,
    prove: boolean,
    finish: (attempt: Attempt) => Promise<void>,
  ): Promise<Attempt> {
    const isExcluded = this.#matchPaths(request.exclude);
    let checkObjects = false;
    let last: Unstable | undefined;
    for (let i = 0; i < ATTEMPTS; i += 1) {
      if (last?.reason === 'changed') await new Promise((resolve) => setTimeout(resolve, REST));
      const folder = await mkdtemp(join(request.scratch, 'attempt-'));
      try {
        const attempt = await attemptCapture(git, request, {
          isExcluded,
          scratch: folder,
          checkObjects,
          prove,
        });
        await finish(attempt);
        return attempt;
      } catch (error) {
        last = asUnstable(error);
        if (last === undefined) throw error;
        await requireWorkspace(git.worktree);
        checkObjects ||= last.reason === 'objects';
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
    throw unstableError(git.worktree, last);
  }

  async compare(request: CaptureRequest, tree: Oid): Promise<readonly GitPath[]> {
    const { worktree, scratch } = request;
    await requireWorkspace(worktree);
    return await translated(worktree, async () => {
      await mkdir(scratch, { recursive: true });
      const quarantine = await mkdtemp(join(scratch, 'objects-'));
      try {
        const git = new WorkspaceGit(this.#spawner, this.#place, worktree, { objectsDir: quarantine });
        if (await this.#isAsKept(git, request, tree)) return [];
        const quarantined = { ...request, objectsDir: quarantine };
        const now = (await this.#attempts(git, quarantined, false, async () => undefined)).tree;
        if (now === tree) return [];
        const { stdout } = await git.run(join(quarantine, 'no-index'), {
          args: ['diff-tree', '-r', '-z', '--name-only', '--no-renames', tree, now],
        });
        return parsePathList(stdout);
      } finally {
        await rm(quarantine, { recursive: true, force: true });
      }
    });
  }

  /** True when one look shows that nothing differs from the index that was kept for this tree. */
  async #isAsKept(plainGit: WorkspaceGit, request: CaptureRequest, tree: Oid): Promise<boolean> {
    const { worktree, scratch } = request;
    const kept = await findKept(scratch);
    if (kept?.tree !== tree || kept.workspaceIndex !== (await indexMark(worktree))) return false;
    const index = join(scratch, KEPT_INDEX);
    const git = plainGit.with((await readFilters(plainGit, index, request.filters)).config);
    const facts = await readIndexFacts(index, git.hashBytes);
    const status = await readStatus(git, index, 'again', facts.paths, this.#matchPaths(request.exclude));
    const leftOut = new Set<string>(kept.leftOut);
    const differing = [...status.changed, ...status.deleted, ...status.untracked, ...status.nested];
    return (
      differing.every((path) => leftOut.has(path)) &&
      !haveRulesChanged(worktree.path, [], status.ignored, facts)
    );
  }

  async listLeftovers(worktree: WorktreeInfo): Promise<Leftovers> {
    await requireWorkspace(worktree);
    return await translated(worktree, () =>
      listLeftovers(new WorkspaceGit(this.#spawner, this.#place, worktree)),
    );
  }
}

const KEPT_INDEX = 'index';
const KEPT_NOTE = 'kept.json';

async function forget(scratch: string): Promise<void> {
  await settled([
    rm(join(scratch, KEPT_NOTE), { force: true }),
    rm(join(scratch, KEPT_INDEX), { force: true }),
  ]);
}

async function keep(
  scratch: string,
  { index, tree, leftOut }: Attempt,
  workspaceIndex: string,
): Promise<void> {
  await rename(index, join(scratch, KEPT_INDEX));
  const note: Kept = { tree, leftOut, workspaceIndex };
  await writeFile(join(scratch, KEPT_NOTE), JSON.stringify(note));
}

async function findKept(scratch: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(join(scratch, KEPT_NOTE), 'utf8')) as Kept;
  } catch {
    return undefined;
  }
}

/** Tells one state of the workspace's own index from another; git replaces the file when it writes it. */
async function indexMark({ adminDir }: WorktreeInfo): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await lstat(join(adminDir, 'index'), { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'none';
  }
}

/** Throws `source_gone` unless the directory and its record are there. */
async function requireWorkspace({ path, adminDir }: WorktreeInfo): Promise<void> {
  const [directory, record] = await Promise.all(
    [path, join(adminDir, 'HEAD')].map((file) => lstat(file).catch(() => undefined)),
  );
  if (directory?.isDirectory() !== true) {
    throw new SennitError('source_gone', `The workspace ${path} is not there any more.`, {
      hint: 'If it was moved, run `git worktree repair <its new path>`; else name another source.',
      paths: [path],
    });
  }
  if (record === undefined) {
    throw new SennitError('source_gone', `The repository has no record of the workspace ${path} any more.`, {
      hint: 'Its files are still there: run `git worktree add` elsewhere and copy them, or name another source.',
      paths: [path],
    });
  }
}

async function unlinkedFinding(worktree: WorktreeInfo): Promise<Finding | undefined> {
  if (worktree.primary || (await pointsBack(worktree.path, worktree.adminDir))) return undefined;
  return {
    check: 'worktree_unlinked',
    severity: 'warning',
    message: `The .git file of ${worktree.path} is lost or leads elsewhere: git commands in it do not reach this repository. Its work was captured all the same.`,
    paths: [worktree.path],
    remedy: `git worktree repair ${worktree.path}`,
  };
}

/** Errors of the file system that mean that something changed while it was read. */
const VANISHED = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

function asUnstable(error: unknown): Unstable | undefined {
  if (error instanceof Unstable) return error;
  if (error instanceof SennitError) return undefined;
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && VANISHED.has(code) ? new Unstable('changed', [], message) : undefined;
}

function unstableError({ path }: WorktreeInfo, last: Unstable | undefined): SennitError {
  if (last?.reason === 'objects') {
    return new SennitError(
      'object_missing',
      `The index of ${path} names contents that are not in the repository: ${last.message}`,
      {
        hint: 'In a partial clone fetch them (`git fetch --refetch`); else run `git fsck`.',
      },
    );
  }
  const names = (last?.paths ?? []).map(displayPath);
  const what = names.length === 0 ? 'Files' : nameSome(names);
  return new SennitError(
    'snapshot_unstable',
    `${what} changed while ${path} was read, ${ATTEMPTS} times in a row.`,
    {
      hint: 'Something still writes into the workspace. End it, or name the paths in the setting `snapshot.exclude`; then run the command again.',
      paths: names,
    },
  );
}

/** Runs a step and turns errors of the file system into those that a user can act on. */
async function translated<T>(worktree: WorktreeInfo, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof SennitError && error.code === 'source_gone')) await requireWorkspace(worktree);
    if (error instanceof SennitError) throw error;
    const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new SennitError('disk_full', `The disk is full: ${message}`, {
        hint: 'Free some space and run the command again; nothing has been changed.',
        retryable: true,
        cause: error,
      });
    }
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
      throw new SennitError('repository_readonly', `The git directory cannot be used: ${message}`, {
        hint: 'Check who owns the repository and whether its file system is mounted read-only.',
        cause: error,
      });
    }
    throw error;
  }
}
