// Work that a workspace's own ignore rules hide, although the rules that it started from would not: an agent wrote `*`
// into an ignore file, or made a folder that ignores itself. A rule that hides everything, or names of which files are
// tracked, hides work, and its files are captured all the same. Any other new rule (`/coverage/`) is taken at its
// word: what it hides is named and left. Nothing of this runs while no ignore file differs from the base.

import { readdirSync } from 'node:fs';
import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, gitPathOf, type Oid } from '../model/ids.ts';
import {
  findWorkspaceRules,
  IGNORE_FILE,
  IgnoreRules,
  isIgnoreFile,
  readIgnoreFiles,
} from './ignore-rules.ts';
import type { IndexFacts } from './index-file.ts';
import { CACHE_MARKS, isNeverSource, isReproducible } from './reproducible.ts';
import type { WorkspaceStatus } from './status-format.ts';
import { diskPath, findEntry, isRefusal } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

export interface HiddenWork {
  /** Files to capture. */
  readonly files: readonly GitPath[];
  /** Repositories of their own among what is hidden. */
  readonly nested: readonly GitPath[];
  /** What new rules hide and what is not captured; folders end with a slash. */
  readonly left: readonly GitPath[];
  /** Untracked files that are captured, though the rules of the base ignore them. */
  readonly shown: readonly GitPath[];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** One path segment of an ignore pattern as an expression for a whole name. */
function segmentExpression(segment: string): RegExp {
  const source = segment
    .replace(/\\(.)/g, '$1')
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\[[^\]]*\]/g, '.')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^${source}$`, 's');
}

const WILDCARDS = /^[*?.]*\*[*?.]*$/;

/** True when a rule hides what it is not there to hide: everything, or names that tracked files and folders have.
 * `directory` is the one of the rule's ignore file. */
export function hidesWork(pattern: string, directory: string, tracked: IndexFacts): boolean {
  const body = pattern.replace(/^\/|\/$/g, '');
  const segments = body.split('/').filter((segment) => !WILDCARDS.test(segment));
  const last = segments.at(-1);
  if (last === undefined) return true;
  if (isReproducible(last as GitPath)) return false;
  const anchored = (pattern.startsWith('/') || body.includes('/')) && !body.startsWith('**/');
  if (anchored && !/[*?[\\]/.test(segments.join('/'))) {
    const path = [...(directory === '' ? [] : [directory]), ...segments].join('/') as GitPath;
    return tracked.directories.has(path) || tracked.paths.includes(path);
  }
  const expression = segmentExpression(last);
  const matches = (path: string): boolean => expression.test(baseName(path));
  return tracked.paths.some(matches) || [...tracked.directories].some(matches);
}

/** True for a folder that a program made and marked to be ignored: new, with an ignore file of its own, and either set
 * apart by its name or marked as a cache. */
function isSelfContained(root: string, folder: GitPath, tracked: IndexFacts): boolean {
  if (folder === '' || tracked.directories.has(folder)) return false;
  return /^[._]/.test(baseName(folder)) || isCache(root, folder);
}

function isCache(root: string, folder: GitPath): boolean {
  return (
    isReproducible(folder) ||
    CACHE_MARKS.some((mark) => findEntry(root, `${folder}/${mark}` as GitPath) !== undefined)
  );
}

/** The directory of an ignore file; the root for a file that is not in the workspace. */
function folderOf(ignoreFile: GitPath): GitPath {
  return (
    isIgnoreFile(ignoreFile) ? ignoreFile.slice(0, -IGNORE_FILE.length).replace(/\/$/, '') : ''
  ) as GitPath;
}

/** True when the second look is needed: some ignore file is not what it was in the base, or hides itself. */
export function haveRulesChanged(
  root: string,
  changedSinceBase: Iterable<GitPath>,
  ignored: readonly GitPath[],
  tracked: IndexFacts,
): boolean {
  for (const path of changedSinceBase) if (isIgnoreFile(path)) return true;
  return ignored.some((path) => isIgnoreFile(path) && !isSelfContained(root, folderOf(path), tracked));
}

function childrenOf(root: string, directory: GitPath): { path: GitPath; isDirectory: boolean }[] {
  try {
    return readdirSync(diskPath(root, directory), { withFileTypes: true, encoding: 'buffer' })
      .filter((entry) => entry.isFile() || entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => ({
        path: `${directory}/${gitPathOf(entry.name)}` as GitPath,
        isDirectory: entry.isDirectory(),
      }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new SennitError('snapshot_incomplete', `The folder ${displayPath(directory)} cannot be read.`, {
      hint: 'Make it readable, or move it out of the workspace; then run the command again.',
      paths: [displayPath(directory)],
      cause: error,
    });
  }
}

/** Looks at what the workspace ignores with the rules of `base`. `scratch` takes a temporary folder. */
export async function findHiddenWork(
  git: WorkspaceGit,
  index: string,
  scratch: string,
  base: Oid,
  { ignored, untracked }: WorkspaceStatus,
  tracked: IndexFacts,
): Promise<HiddenWork> {
  const root = git.worktree.path;
  const candidates = ignored.filter((path) => !isNeverSource(path));
  const rules = await IgnoreRules.open(git, scratch, await readIgnoreFiles(git, index, base));
  try {
    const ignoredInBase = await rules.findIgnored([...candidates, ...untracked]);
    const newly = candidates.filter((path) => !ignoredInBase.has(path));
    const hiding = await findWorkspaceRules(git, index, newly);
    const left: GitPath[] = [];
    const work: GitPath[] = [];
    for (const [path, rule] of hiding) {
      const folder = folderOf(rule.source);
      const contained = isSelfContained(root, folder, tracked);
      if (!contained && hidesWork(rule.pattern, folder, tracked)) work.push(path);
      else if (folder === '' || !isCache(root, folder)) left.push(path);
    }
    return {
      ...(await listFiles(root, work, rules)),
      left,
      shown: untracked.filter((path) => ignoredInBase.has(path)),
    };
  } finally {
    await rules.close();
  }
}

/** All files at and below the paths, without what `rules` ignore. */
async function listFiles(
  root: string,
  paths: readonly GitPath[],
  rules: IgnoreRules,
): Promise<Pick<HiddenWork, 'files' | 'nested'>> {
  const files: GitPath[] = paths.filter((path) => !path.endsWith('/'));
  const nested: GitPath[] = [];
  let folders = paths.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1) as GitPath);
  while (folders.length > 0) {
    const children: { path: GitPath; isDirectory: boolean }[] = [];
    for (const folder of folders) {
      const own = childrenOf(root, folder);
      if (own.some(({ path }) => baseName(path) === '.git')) nested.push(folder);
      else children.push(...own.filter(({ path }) => !isNeverSource(path)));
    }
    const asked = children.map(({ path, isDirectory }) => (isDirectory ? `${path}/` : path) as GitPath);
    const dropped = await rules.findIgnored(asked);
    folders = [];
    children.forEach(({ path, isDirectory }, i) => {
      if (dropped.has(asked[i] ?? path)) return;
      (isDirectory ? folders : files).push(path);
    });
  }
  return { files, nested };
}
