// Ignore rules as git itself evaluates them, but of a chosen set of ignore files: they are written into an empty scratch
// folder, and `check-ignore` runs there. So the rules of a commit can be asked although the workspace has others, and
// a path can be asked as if it were a directory although it is a link. The user's own excludes file and the
// repository's `info/exclude` take part as always.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOid, type GitPath, type Oid } from '../model/ids.ts';
import { diskPath, readSmallFile } from './workspace-disk.ts';
import { pathInput, type WorkspaceGit } from './workspace-git.ts';

export const IGNORE_FILE = '.gitignore';

/** An ignore file longer than this is not written by a person. */
const IGNORE_FILE_LIMIT = 10_000_000;

/** Ignore files by their directory (`''` for the root). */
export type IgnoreFiles = ReadonlyMap<GitPath, Buffer>;

/** The rule that decides about a path: `source` is the ignore file, relative to the work tree where it is in it. */
export interface IgnoreRule {
  readonly source: GitPath;
  readonly pattern: string;
}

export function isIgnoreFile(path: GitPath): boolean {
  return path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`);
}

/** Parses `check-ignore -v -n -z` of paths that begin with `./`: `.gitignore\0<line>\0*.log\0./a.log\0`, empty fields where no rule matches. Only
 * ignored paths are in the result: a rule that begins with `!` takes a path out. */
export function parseCheckIgnore(bytes: Buffer): Map<GitPath, IgnoreRule> {
  const rules = new Map<GitPath, IgnoreRule>();
  const fields = bytes.toString('latin1').split('\0');
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const pattern = fields[i + 2] ?? '';
    if (pattern === '' || pattern.startsWith('!')) continue;
    rules.set((fields[i + 3] ?? '').replace(HERE, '') as GitPath, { source: fields[i] as GitPath, pattern });
  }
  return rules;
}

const CHECK_IGNORE = {
  args: ['check-ignore', '--verbose', '--non-matching', '--no-index', '-z', '--stdin'],
  accept: [0, 1], // 1: none is ignored
} as const;

/** Keeps a path like `:(top)x` from being asked as `x`: this command knows no literal pathspecs. */
const HERE = './';

function askedAs(path: GitPath): GitPath {
  return `${HERE}${withoutSlash(path)}` as GitPath;
}

function withoutSlash(path: GitPath): GitPath {
  return (path.endsWith('/') ? path.slice(0, -1) : path) as GitPath;
}

/** For each path that the workspace's own rules ignore: the rule. Directories may end with a slash. */
export async function findWorkspaceRules(
  git: WorkspaceGit,
  index: string,
  paths: readonly GitPath[],
): Promise<Map<GitPath, IgnoreRule>> {
  if (paths.length === 0) return new Map();
  const { stdout } = await git.run(index, { ...CHECK_IGNORE, stdin: pathInput(paths.map(askedAs)) });
  const rules = parseCheckIgnore(stdout);
  return new Map(
    paths.flatMap((path) => {
      const rule = rules.get(withoutSlash(path));
      return rule === undefined ? [] : [[path, rule] as const];
    }),
  );
}

/** The ignore files that a tree holds; links are none, as for git. */
export async function readIgnoreFiles(git: WorkspaceGit, index: string, tree: Oid): Promise<IgnoreFiles> {
  const { stdout } = await git.run(index, { args: ['ls-tree', '-r', '-z', '--full-tree', tree] });
  const oids = new Map<GitPath, Oid>();
  for (const record of stdout.toString('latin1').split('\0')) {
    const match = /^100(?:644|755) blob ([0-9a-f]+)\t((?:.*\/)?)\.gitignore$/s.exec(record);
    if (match !== null) oids.set((match[2] ?? '').slice(0, -1) as GitPath, asOid(match[1] ?? ''));
  }
  const files = new Map<GitPath, Buffer>();
  for (const [directory, oid] of oids) {
    files.set(directory, (await git.run(index, { args: ['cat-file', 'blob', oid] })).stdout);
  }
  return files;
}

/** The ignore files of the workspace that can decide about these paths. */
export function readWorkspaceIgnoreFiles(root: string, paths: readonly GitPath[]): IgnoreFiles {
  const files = new Map<GitPath, Buffer>();
  const asked = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); ; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, Math.max(0, end)) as GitPath;
      if (asked.has(directory)) break;
      asked.add(directory);
      const file = (directory === '' ? IGNORE_FILE : `${directory}/${IGNORE_FILE}`) as GitPath;
      const content = readSmallFile(root, file, IGNORE_FILE_LIMIT);
      if (content !== undefined) files.set(directory, content);
      if (end <= 0) break;
    }
  }
  return files;
}

/** Evaluates a set of ignore files in a folder of their own. */
export class IgnoreRules {
  readonly #git: WorkspaceGit;
  readonly #folder: string;

  private constructor(git: WorkspaceGit, folder: string) {
    this.#git = git;
    this.#folder = folder;
  }

  /** `close` removes the folder, which is made below `parent`. */
  static async open(git: WorkspaceGit, parent: string, files: IgnoreFiles): Promise<IgnoreRules> {
    const folder = await mkdtemp(join(parent, 'ignore-'));
    for (const [directory, content] of files) {
      await mkdir(diskPath(folder, directory), { recursive: true });
      const file = directory === '' ? IGNORE_FILE : `${directory}/${IGNORE_FILE}`;
      await writeFile(diskPath(folder, file as GitPath), content);
    }
    return new IgnoreRules(git, folder);
  }

  /** Those of the paths that the rules ignore; a path with a slash at its end is asked as a directory. */
  async findIgnored(paths: readonly GitPath[]): Promise<ReadonlySet<GitPath>> {
    if (paths.length === 0) return new Set();
    for (const path of paths) {
      // git looks at the disk to see whether a path is a directory.
      if (path.endsWith('/')) await mkdir(diskPath(this.#folder, path), { recursive: true });
    }
    const { stdout } = await this.#git.run(join(this.#folder, 'no-index'), {
      ...CHECK_IGNORE,
      workTree: this.#folder,
      stdin: pathInput(paths.map(askedAs)),
    });
    const rules = parseCheckIgnore(stdout);
    return new Set(paths.filter((path) => rules.has(withoutSlash(path))));
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
