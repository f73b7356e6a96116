// From what git and the disk say about a workspace to what will be done: which entries leave the private index, which
// files are hashed into it, what is left out and why. Nothing is written here. What must stay true: every path that
// differs from the index is in exactly one of these sets, so that the proof afterwards can hold all of them to it.

import { isAbsolute, relative, sep } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, gitPathOfText } from '../model/ids.ts';
import { IgnoreRules, readWorkspaceIgnoreFiles } from './ignore-rules.ts';
import type { IndexFacts } from './index-file.ts';
import { findEmbedded, nestedKind } from './nested.ts';
import { type LookedAt, unreadableError } from './read-status.ts';
import { findEntry, firstNames, isRefusal, mayLeadToDirectory, nameSome } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

export interface CapturePlan {
  /** Entries that leave the index. */
  readonly deletions: readonly GitPath[];
  /** Files, links and submodules that enter it or are read again. */
  readonly additions: readonly GitPath[];
  /** Those of `additions` that are not in the index yet. */
  readonly created: readonly GitPath[];
  /** Those of `additions` that are files, with the bytes that they have. */
  readonly files: ReadonlyMap<GitPath, number>;
  /** Repositories of their own, whose files are not in the snapshot. */
  readonly nested: readonly GitPath[];
  /** Directories whose files are in the snapshot, but that also have a git dir of their own; `''` is the workspace. */
  readonly gitDirs: readonly GitPath[];
  readonly findings: readonly Finding[];
  /** True for a path that may still differ from the index when all is done. */
  readonly isLeftOut: (path: GitPath) => boolean;
}

export interface PlanInput {
  readonly git: WorkspaceGit;
  readonly status: LookedAt;
  readonly tracked: IndexFacts;
  readonly maxFileBytes: number;
  readonly isExcluded: (path: GitPath) => boolean;
  /** More files to take, whatever ignore rules say. */
  readonly forced: readonly GitPath[];
  /** More repositories, found where ignore rules hide them. */
  readonly hiddenNested: readonly GitPath[];
  /** Takes temporary folders. */
  readonly scratch: string;
}

/** Every directory above the paths, the root not among them. */
function directoriesAbove(paths: readonly GitPath[]): GitPath[] {
  const found = new Set<GitPath>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end) as GitPath;
      if (found.has(directory)) break;
      found.add(directory);
    }
  }
  return [...found];
}

/** A predicate for paths at or below one of the directories. */
function below(directories: readonly GitPath[]): (path: GitPath) => boolean {
  if (directories.length === 0) return () => false;
  const set = new Set(directories);
  return (path) => {
    if (set.has(path)) return true;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (set.has(path.slice(0, end) as GitPath)) return true;
    }
    return false;
  };
}

/** The repository's own git dir, where it lies in the workspace under another name than `.git`. */
function ownDirectories(git: WorkspaceGit): GitPath[] {
  const way = relative(git.worktree.path, git.place.commonDir);
  return way === '' || isAbsolute(way) || way.split(sep)[0] === '..'
    ? []
    : [gitPathOfText(way.split(sep).join('/'))];
}

function finding(
  check: string,
  severity: Finding['severity'],
  message: string,
  paths: readonly GitPath[],
): Finding {
  return { check, severity, message, paths: firstNames(paths.map(displayPath)) };
}

/** Those links that stand where a directory would be ignored: put there instead of it by whoever set the workspace up. */
async function findLinkedDirectories(
  input: PlanInput,
  links: readonly GitPath[],
): Promise<ReadonlySet<GitPath>> {
  const root = input.git.worktree.path;
  const candidates = links.filter((path) => mayLeadToDirectory(root, path));
  if (candidates.length === 0) return new Set();
  const rules = await IgnoreRules.open(input.git, input.scratch, readWorkspaceIgnoreFiles(root, candidates));
  try {
    const ignored = await rules.findIgnored(candidates.map((path) => `${path}/` as GitPath));
    return new Set(candidates.filter((path) => ignored.has(`${path}/` as GitPath)));
  } finally {
    await rules.close();
  }
}

interface Sorted {
  readonly additions: GitPath[];
  readonly files: Map<GitPath, number>;
  readonly links: GitPath[];
  /** Neither file nor link nor directory. */
  readonly special: GitPath[];
}

/** Looks at each path on the disk. Throws `snapshot_incomplete` for what is unreadable or too large. */
function sortEntries(root: string, paths: readonly GitPath[], maxFileBytes: number): Sorted {
  const sorted: Sorted = { additions: [], files: new Map(), links: [], special: [] };
  const unreadable: string[] = [];
  const large: { name: string; size: number }[] = [];
  for (const path of paths) {
    try {
      const entry = findEntry(root, path);
      if (entry === undefined || entry.isDirectory()) {
        // Vanished meanwhile, or a submodule: git decides, and the proof looks again.
      } else if (entry.isFile()) {
        if (entry.size > maxFileBytes) large.push({ name: displayPath(path), size: entry.size });
        sorted.files.set(path, entry.size);
      } else if (entry.isSymbolicLink()) {
        sorted.links.push(path);
      } else {
        sorted.special.push(path);
        continue;
      }
      sorted.additions.push(path);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      unreadable.push(displayPath(path));
    }
  }
  if (unreadable.length > 0) throw unreadableError(unreadable);
  if (large.length > 0) throw tooLarge(large, maxFileBytes);
  return sorted;
}

function tooLarge(files: readonly { name: string; size: number }[], limit: number): SennitError {
  const named = files.map(({ name, size }) => `${name} (${size} bytes)`);
  return new SennitError(
    'snapshot_incomplete',
    `These files are larger than the limit of ${limit} bytes: ${nameSome(named)}.`,
    {
      hint: 'Delete or ignore them, or raise the setting `snapshot.max_file_size`; then run the command again.',
      paths: files.map(({ name }) => name),
    },
  );
}

/** Decides for every path that differs. Throws `snapshot_incomplete`. */
export async function planCapture(input: PlanInput): Promise<CapturePlan> {
  const { git, status, tracked, isExcluded } = input;
  const root = git.worktree.path;
  const findings: Finding[] = [];

  const isOwn = below(ownDirectories(git));
  const untracked = [...status.untracked, ...input.forced].filter((path) => !isOwn(path));
  const near = directoriesAbove([...status.changed, ...status.deleted, ...untracked]);
  const embedded = findEmbedded(root, git.worktree.primary ? near : ['' as GitPath, ...near]);
  const isTracked = (path: GitPath): boolean => path === '' || tracked.directories.has(path);
  const inside = [...status.nested, ...input.hiddenNested, ...embedded.filter((path) => !isTracked(path))];
  const isInNested = below(inside);
  // Only outermost ones: what is inside goes with them.
  const nested = [...new Set(inside)].filter(
    (path) => !isInNested(path.slice(0, Math.max(0, path.lastIndexOf('/'))) as GitPath),
  );

  const excluded: GitPath[] = [...status.unread];
  const keep = (path: GitPath): boolean => {
    if (!isExcluded(path)) return true;
    excluded.push(path);
    return false;
  };
  const keptNested = nested.filter((path) => keep(path) && keep(`${path}/.git` as GitPath));
  const deletions = status.deleted.filter(keep);
  const changed = status.changed.filter(keep);
  const fresh = untracked.filter((path) => !isInNested(path)).filter(keep);
  if (excluded.length > 0) {
    findings.push(
      finding(
        'path_excluded',
        'info',
        `Left out by the setting snapshot.exclude: ${nameSome(excluded.map(displayPath))}.`,
        excluded,
      ),
    );
  }

  const repositories: GitPath[] = [];
  for (const path of keptNested) {
    const name = displayPath(path);
    if (nestedKind(root, path, git.place.commonDir) === 'worktree') {
      findings.push(
        finding(
          'nested_worktree',
          'info',
          `${name} is a worktree of this repository and is not part of the snapshot.`,
          [path],
        ),
      );
    } else {
      repositories.push(path);
      findings.push(
        finding(
          'nested_repository',
          'warning',
          `${name} is a repository of its own: its files are not part of the snapshot.`,
          [path],
        ),
      );
    }
  }
  const gitDirs = embedded.filter(
    (path) =>
      isTracked(path) &&
      findEntry(root, (path === '' ? '.git' : `${path}/.git`) as GitPath)?.isDirectory() === true,
  );
  for (const path of gitDirs) {
    const name = path === '' ? 'The workspace' : displayPath(path);
    findings.push(
      finding(
        'nested_repository',
        'warning',
        `${name} has a git directory of its own; its files are in the snapshot, its history is not.`,
        [path === '' ? ('.' as GitPath) : path],
      ),
    );
  }

  const sorted = sortEntries(root, [...changed, ...fresh], input.maxFileBytes);
  const isFresh = new Set(fresh);
  const linked = await findLinkedDirectories(
    input,
    sorted.links.filter((path) => isFresh.has(path)),
  );
  if (linked.size > 0) {
    const paths = [...linked];
    findings.push(
      finding(
        'linked_directory_ignored',
        'info',
        `Left out, because a directory of that name would be ignored: the links ${nameSome(paths.map(displayPath))}.`,
        paths,
      ),
    );
  }
  if (sorted.special.length > 0) {
    findings.push(
      finding(
        'special_file_skipped',
        'warning',
        `Taken as deleted, because sockets, pipes and devices cannot be kept: ${nameSome(sorted.special.map(displayPath))}.`,
        sorted.special,
      ),
    );
  }
  const left = new Set([...excluded, ...linked]);
  const additions = sorted.additions.filter((path) => !linked.has(path));
  const isBelowNested = below(nested);
  return {
    deletions: [...deletions, ...sorted.special],
    additions,
    created: additions.filter((path) => isFresh.has(path)),
    files: sorted.files,
    nested: repositories,
    gitDirs,
    findings,
    isLeftOut: (path) => left.has(path) || isBelowNested(path) || isOwn(path),
  };
}
