// Worktrees as places with files: Sennit's own scratch worktrees, and the user's checkouts of a branch that moves.
// A user's checkout is only ever brought forward where nothing uncommitted, untracked or ignored is in the way; git's
// own check does not see ignored files, so those are looked at here. Nothing is stashed, reset or cleaned.

import { copyFile, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Conflict } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import { asOid, displayPath, type GitPath, type Oid, pathBytes } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { EntryChange, TreeEntry } from '../model/tree.ts';
import type { AdvancePlan, Checkouts, ScratchWorktree } from '../ports/checkouts.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import { parseConfigList } from './config-list.ts';
import { decideFilters, findProgram } from './filters.ts';
import { finishAdvance } from './finish-advance.ts';
import type { GitCall, GitResult, GitSpawner } from './spawn.ts';
import { parsePathList, parseRawDiff } from './tree-format.ts';
import { linkTarget, realOr } from './worktree-list.ts';
import { attachBranch, moveWorktree, rewind, writeIndexTree } from './worktree-moves.ts';

/** `filters` are the names of content filters that the settings allow to run, `scratch` is a folder for temporary
 * files, made when missing. */
export function openCheckouts(
  spawner: GitSpawner,
  place: RepositoryPlace,
  filters: readonly string[],
  scratch: string,
): Checkouts {
  return new CheckoutStore(spawner, place, filters, scratch);
}

interface Place {
  readonly path: string;
  readonly adminDir: string;
}

class CheckoutStore implements Checkouts {
  readonly #spawner: GitSpawner;
  readonly #place: RepositoryPlace;
  readonly #filters: readonly string[];
  readonly #scratch: string;
  /** What keeps content filters from running, by the git dir whose configuration names them. */
  readonly #overrides = new Map<string, Promise<readonly (readonly [string, string])[]>>();

  constructor(spawner: GitSpawner, place: RepositoryPlace, filters: readonly string[], scratch: string) {
    this.#spawner = spawner;
    this.#place = place;
    this.#filters = filters;
    this.#scratch = scratch;
  }

  /** Runs git on one worktree: git dir and work tree named, no content filter but those that are safe. */
  async #in(place: Place, call: GitCall): Promise<GitResult> {
    let overrides = this.#overrides.get(place.adminDir);
    if (overrides === undefined) {
      // A worktree can have a configuration of its own, which whoever writes in it can write.
      overrides = this.#readOverrides(place.adminDir);
      this.#overrides.set(place.adminDir, overrides);
    }
    const config = [...(await overrides), ...(call.config ?? [])];
    return this.#spawner.run({ ...call, gitDir: place.adminDir, workTree: place.path, config });
  }

  async #readOverrides(gitDir: string): Promise<readonly (readonly [string, string])[]> {
    const { stdout } = await this.#spawner.run({
      args: ['config', '--list', '-z'],
      gitDir,
    });
    return decideFilters(parseConfigList(stdout), {
      allowed: this.#filters,
      hasLfs: findProgram('git-lfs', process.env['PATH'] ?? '', this.#place.commonDir) !== undefined,
      isInWorkspace: (word) => !word.startsWith('-') && !word.startsWith('/') && word.includes('/'),
    }).config;
  }

  async addScratch(path: string, commit: Oid): Promise<ScratchWorktree> {
    await mkdir(dirname(path), { recursive: true });
    await this.#spawner.run({
      args: ['worktree', 'add', '--quiet', '--no-checkout', '--detach', path, commit],
      gitDir: this.#place.commonDir,
    });
    const adminDir = await linkTarget(path);
    if (adminDir === null) throw new SennitError('git_failed', `git made no worktree at ${path}.`);
    const scratch = { path, adminDir };
    await this.#in(scratch, { args: ['read-tree', '--reset', '-u', commit] });
    return scratch;
  }

  async stageTree(scratch: ScratchWorktree, tree: Oid): Promise<void> {
    await this.#in(scratch, { args: ['read-tree', '--reset', '-u', tree] });
  }

  async readStaged(scratch: ScratchWorktree): Promise<Oid> {
    return asOid((await this.#in(scratch, { args: ['write-tree'] })).stdout.toString('latin1').trim());
  }

  async removeScratch({ path, adminDir }: ScratchWorktree): Promise<void> {
    // The record says which folder is its own; the folder's `.git` file says only what somebody wrote into it.
    const recorded = await readFile(join(adminDir, 'gitdir'), 'utf8').catch(() => null);
    if (
      recorded !== null &&
      (await realOr(dirname(resolve(adminDir, recorded.trim())))) !== (await realOr(path))
    ) {
      throw new SennitError('internal_bug', `${adminDir} is not the record of ${path}.`);
    }
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
    await this.forgetWorktree(adminDir);
  }

  writeIndexTree(worktree: WorktreeInfo): Promise<Oid | null> {
    return writeIndexTree((place, call) => this.#in(place, call), worktree, this.#scratch);
  }

  rewind(scratch: ScratchWorktree, head: Oid, staged: Oid): Promise<void> {
    return rewind((place, call) => this.#in(place, call), scratch, head, staged);
  }

  attachBranch(scratch: ScratchWorktree, branch: string): Promise<void> {
    return attachBranch((place, call) => this.#in(place, call), scratch, branch);
  }

  moveScratch(scratch: ScratchWorktree, path: string): Promise<ScratchWorktree> {
    return moveWorktree(scratch, path);
  }

  async forgetWorktree(adminDir: string): Promise<void> {
    const worktrees = join(this.#place.commonDir, 'worktrees');
    const id = relative(worktrees, adminDir);
    if (id === '' || id.startsWith('..') || id.includes('/')) {
      throw new SennitError('internal_bug', `${adminDir} is not the record of a worktree.`);
    }
    const gitdir = await readFile(join(adminDir, 'gitdir'), 'utf8').catch(() => null);
    if (gitdir !== null && (await exists(resolve(adminDir, gitdir.trim())))) {
      throw new SennitError('internal_bug', `The worktree of ${adminDir} is still there.`);
    }
    // Renamed first, so that no git process ever sees half of a record.
    const trash = join(this.#place.stateDir, 'trash', `record-${id}-${process.pid}-${Date.now()}`);
    await mkdir(dirname(trash), { recursive: true });
    await rename(adminDir, trash).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rm(trash, { recursive: true, force: true });
  }

  async planAdvance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<AdvancePlan> {
    if (await exists(join(worktree.adminDir, 'index.lock'))) {
      return {
        outcome: 'blocked',
        paths: [],
        message: `another git process is at work in ${worktree.path}, or left ${join(worktree.adminDir, 'index.lock')} behind`,
      };
    }
    // A copy of the index, so that refreshing it changes nothing of the user's.
    await mkdir(this.#scratch, { recursive: true });
    const index = join(this.#scratch, `plan-${process.pid}-${Date.now()}.index`);
    const env = { GIT_INDEX_FILE: index };
    try {
      await copyFile(join(worktree.adminDir, 'index'), index).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
      await this.#in(worktree, { args: ['update-index', '-q', '--refresh'], env, accept: [0, 1] });
      const [dry, changed, dirty, staged] = [
        await this.#in(worktree, { args: ['read-tree', '-m', '-u', '-n', from, to], env, accept: [0, 128] }),
        await this.#in(worktree, {
          args: ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to],
          env,
        }),
        await this.#in(worktree, {
          args: ['diff-files', '-z', '--name-only', '--ignore-submodules=all'],
          env,
        }),
        await this.#in(worktree, {
          args: ['diff-index', '--cached', '-z', '--name-only', '--ignore-submodules=all', from],
          env,
        }),
      ];
      const changes = parseRawDiff(changed.stdout);
      const touched = new Set([...parsePathList(dirty.stdout), ...parsePathList(staged.stdout)]);
      const blocked = new Set(changes.map(({ path }) => path).filter((path) => touched.has(path)));
      for (const path of await this.#untrackedInTheWay(worktree, changes)) blocked.add(path);
      if (dry.code === 0 && blocked.size === 0) return { outcome: 'clear' };
      const paths = [...blocked].sort();
      const what =
        paths.length > 0
          ? paths.slice(0, 10).map(displayPath).join(', ')
          : dry.stderr.trim().replace(/^error: /gm, '');
      return { outcome: 'blocked', paths, message: `work in ${worktree.path} is in the way: ${what}` };
    } finally {
      await rm(index, { force: true });
      await rm(`${index}.lock`, { force: true });
    }
  }

  /** Files on the disk, tracked by nothing, where the new commit puts something: git overwrites ignored ones. */
  async #untrackedInTheWay(worktree: WorktreeInfo, changes: readonly EntryChange[]): Promise<GitPath[]> {
    const leaving = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
    const found: GitPath[] = [];
    for (const { path, before, after } of changes) {
      if (before !== null || after === null) continue;
      const way = await this.#obstacle(worktree.path, path, leaving);
      if (way !== undefined) found.push(way);
    }
    return found;
  }

  async #obstacle(root: string, path: GitPath, leaving: ReadonlySet<GitPath>): Promise<GitPath | undefined> {
    const parts = path.split('/');
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const at = parts.slice(0, depth).join('/') as GitPath;
      const stat = await lstat(inside(root, at)).catch(() => undefined);
      if (stat === undefined) return undefined;
      if (depth < parts.length) {
        if (!stat.isDirectory()) return leaving.has(at) ? undefined : at;
      } else if (!stat.isDirectory()) return leaving.has(at) ? undefined : at;
      else return this.#strangerIn(root, at, leaving);
    }
    return undefined;
  }

  /** Something below a directory that must become a file and that does not leave with the old commit. */
  async #strangerIn(
    root: string,
    directory: GitPath,
    leaving: ReadonlySet<GitPath>,
  ): Promise<GitPath | undefined> {
    const entries = await readdir(inside(root, directory), { withFileTypes: true, encoding: 'buffer' });
    for (const entry of entries) {
      const at = `${directory}/${entry.name.toString('latin1')}` as GitPath;
      if (entry.isDirectory()) {
        const below = await this.#strangerIn(root, at, leaving);
        if (below !== undefined) return below;
      } else if (!leaving.has(at)) return at;
    }
    return undefined;
  }

  async advance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<void> {
    await this.#in(worktree, { args: ['update-index', '-q', '--refresh'], accept: [0, 1, 128] });
    await this.#in(worktree, { args: ['read-tree', '-m', '-u', from, to] });
  }

  finishAdvance(worktree: WorktreeInfo, from: Oid, to: Oid): Promise<AdvancePlan> {
    return finishAdvance((place, call) => this.#in(place, call), worktree, this.#scratch, from, to);
  }

  async listChangedTracked(worktree: WorktreeInfo): Promise<readonly GitPath[]> {
    await this.#in(worktree, { args: ['update-index', '-q', '--refresh'], accept: [0, 1] });
    const { stdout } = await this.#in(worktree, {
      args: ['diff-files', '-z', '--name-only', '--ignore-submodules=all'],
    });
    return parsePathList(stdout);
  }

  async listDirty(worktree: WorktreeInfo): Promise<readonly GitPath[]> {
    const { stdout } = await this.#in(worktree, {
      args: [
        'status',
        '--porcelain=v1',
        '-z',
        '--untracked-files=all',
        '--no-renames',
        '--ignore-submodules=all',
      ],
    });
    return parsePathList(stdout).map((record) => record.slice(3) as GitPath);
  }

  async writeConflicts(scratch: ScratchWorktree, tree: Oid, conflicts: readonly Conflict[]): Promise<void> {
    await this.stageTree(scratch, tree);
    const lines: string[] = [];
    for (const { path, sides } of conflicts) {
      lines.push(removeLine(tree, path));
      const stages = [sides.base, sides.target, sides.change];
      stages.forEach((entry, i) => {
        if (entry !== null) lines.push(`${entry.mode} ${entry.oid} ${i + 1}\t${path}\0`);
      });
    }
    await this.#indexInfo(scratch, lines);
  }

  #indexInfo(scratch: ScratchWorktree, lines: readonly string[]): Promise<GitResult> {
    return this.#in(scratch, {
      args: ['update-index', '-z', '--index-info'],
      stdin: Buffer.from(lines.join(''), 'latin1'),
    });
  }

  async writeResolution(scratch: ScratchWorktree, path: GitPath, entry: TreeEntry | null): Promise<void> {
    const zero = '0'.repeat(this.#place.objectFormat === 'sha256' ? 64 : 40) as Oid;
    const lines = [
      removeLine(zero, path),
      ...(entry === null ? [] : [`${entry.mode} ${entry.oid}\t${path}\0`]),
    ];
    await this.#indexInfo(scratch, lines);
    const file = inside(scratch.path, path);
    if (entry === null) {
      await rm(file, { recursive: true, force: true });
      return;
    }
    if (entry.mode === '160000') return;
    await this.#in(scratch, {
      args: ['checkout-index', '--force', '--quiet', '-z', '--stdin'],
      stdin: Buffer.from(`${path}\0`, 'latin1'),
    });
  }

  async listUnmerged(scratch: ScratchWorktree): Promise<readonly GitPath[]> {
    const { stdout } = await this.#in(scratch, { args: ['ls-files', '-u', '-z'] });
    return [
      ...new Set(parsePathList(stdout).map((record) => record.slice(record.indexOf('\t') + 1) as GitPath)),
    ];
  }
}

/** A line of `update-index --index-info` that takes all stages of a path out of the index. */
function removeLine(anyOid: Oid, path: GitPath): string {
  return `0 ${'0'.repeat(anyOid.length)}\t${path}\0`;
}

/** The file of a git path below a directory, as bytes: names need not be UTF-8. */
function inside(root: string, path: GitPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), pathBytes(path)]);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
