// Git on one workspace: the only way in which this folder starts git where an agent may have written. The git dir, the
// common dir, the work tree and the index are named in the environment, so nothing in the workspace (its `.git` least
// of all) says where git looks. The index is always a private one. Nothing is fetched: a capture reads what is here.

import { join } from 'node:path';
import type { GitPath } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import { DURABLE_CONFIG, type GitCall, type GitResult, type GitSpawner } from './spawn.ts';

type Config = readonly (readonly [key: string, value: string])[];

/** Settings under which a workspace is read, each with its reason. */
const WORKSPACE_CONFIG: Config = [
  ['core.trustctime', 'true'], // an edit that keeps size and mtime is an edit
  ['core.checkStat', 'default'],
  ['core.ignoreStat', 'false'], // would mark what is written as unchanged for good
  ['core.safecrlf', 'false'], // a warning or refusal about line ends is no reason to miss work
  ['index.sparse', 'false'], // a private index names every path
  ['sparse.expectFilesOutsideOfPatterns', 'false'], // files outside of the cone that exist are work
];

/** A path as git reads it where it takes quoted ones: in GIT_ALTERNATE_OBJECT_DIRECTORIES, where a bare one may not hold
 * a colon, and line by line, where it may not hold a line end. */
export function quotedPath(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Paths for git's standard input with `-z`. */
export function pathInput(paths: readonly GitPath[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
}

export class WorkspaceGit {
  readonly worktree: WorktreeInfo;
  readonly place: RepositoryPlace;
  /** Where new objects go. */
  readonly objectsDir: string;
  readonly #spawner: GitSpawner;
  readonly #env: Readonly<Record<string, string>>;
  readonly #config: Config;
  readonly #quarantine: string | undefined;

  /** Without `objectsDir`, objects go to the repository's own store and are on the disk when a call returns. */
  constructor(
    spawner: GitSpawner,
    place: RepositoryPlace,
    worktree: WorktreeInfo,
    options: { readonly objectsDir?: string | undefined; readonly config?: Config } = {},
  ) {
    this.#spawner = spawner;
    this.place = place;
    this.worktree = worktree;
    const { objectsDir, config = [] } = options;
    const store = join(place.commonDir, 'objects');
    this.objectsDir = objectsDir ?? store;
    this.#quarantine = objectsDir;
    this.#config = [...WORKSPACE_CONFIG, ...(objectsDir === undefined ? DURABLE_CONFIG : []), ...config];
    this.#env = {
      GIT_OBJECT_DIRECTORY: this.objectsDir,
      GIT_NO_LAZY_FETCH: '1',
      ...(objectsDir === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(store) }),
      // Without this the `commondir` file of the admin dir would be believed.
      ...(worktree.primary ? {} : { GIT_COMMON_DIR: place.commonDir }),
    };
  }

  /** The same with more settings for every call. */
  with(config: Config): WorkspaceGit {
    return new WorkspaceGit(this.#spawner, this.place, this.worktree, {
      objectsDir: this.#quarantine,
      config,
    });
  }

  get hashBytes(): 20 | 32 {
    return this.place.objectFormat === 'sha256' ? 32 : 20;
  }

  get searchPath(): string {
    return this.#spawner.searchPath;
  }

  /** Runs git on the workspace, or with `workTree` on another folder, with an index of ours. */
  run(index: string, call: GitCall): Promise<GitResult> {
    return this.#spawner.run({
      gitDir: this.worktree.adminDir,
      workTree: this.worktree.path,
      ...call,
      env: { ...this.#env, GIT_INDEX_FILE: index, ...call.env },
      config: [...this.#config, ...(call.config ?? [])],
    });
  }

  /** Runs git on a git dir of our own whose objects are in `objects`. */
  runElsewhere(
    objects: string,
    call: GitCall & { readonly gitDir: string; readonly workTree: string },
  ): Promise<GitResult> {
    return this.#spawner.run({
      ...call,
      env: { GIT_OBJECT_DIRECTORY: objects, GIT_NO_LAZY_FETCH: '1', ...call.env },
      config: [...WORKSPACE_CONFIG, ...(call.config ?? [])],
    });
  }
}
