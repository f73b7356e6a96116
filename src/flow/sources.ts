// From what the user typed to sources: a worktree's path, a branch, a tag, a commit, or a glob over worktrees and
// branches. Paths are matched against the repository's own records, and a directory's `.git` file only against them.

import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { isOid, type Oid, slugOf } from '../model/ids.ts';
import type { Source, WorktreeInfo } from '../model/source.ts';
import type { Refs } from '../ports/git.ts';

export interface SourceRequest {
  readonly names: readonly string[];
  /** Directory that relative paths start from. */
  readonly cwd: string;
  /** Full ref name of the target. */
  readonly target: string;
}

const GLOB = /[*?[\]{}]/;

function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags|remotes)\//, '');
}

async function realDirectory(path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

function worktreeSource(worktree: WorktreeInfo, target: string): Source {
  if (worktree.branch === target) {
    throw new SennitError(
      'source_is_target',
      `${worktree.path} has the target branch ${shortRef(target)} checked out.`,
      {
        hint: 'A source must differ from the target: name another --into, or commit there and land the other sources.',
      },
    );
  }
  return {
    kind: 'worktree',
    name: basename(worktree.path),
    identity: worktree.path,
    head: worktree.head,
    worktree,
  };
}

/** Understands all names at once. Throws `source_unknown`, `source_ambiguous`, `source_foreign`, `source_gone` or
 * `source_is_target`; nothing has been read from a workspace then. Names come out unique. */
export async function findSources(
  refs: Refs,
  worktrees: readonly WorktreeInfo[],
  request: SourceRequest,
): Promise<Source[]> {
  const linked = new Map(worktrees.map((worktree) => [worktree.path, worktree]));
  const found: Source[] = [];
  const asked: string[] = [];
  for (const name of request.names) {
    if (name === '')
      throw new SennitError('source_unknown', 'A source has an empty name.', {
        hint: 'Name a worktree, a branch, a tag or a commit.',
      });
    const worktree = await findWorktree(name, request.cwd, linked);
    if (worktree !== undefined) found.push(worktreeSource(worktree, request.target));
    else if (GLOB.test(name)) found.push(...(await expandGlob(name, refs, worktrees, request)));
    else asked.push(name);
  }
  found.push(...(await findRefSources(asked, refs, request)));
  return uniquelyNamed(inOrder(found));
}

async function findWorktree(
  name: string,
  cwd: string,
  linked: ReadonlyMap<string, WorktreeInfo>,
): Promise<WorktreeInfo | undefined> {
  const path = resolve(cwd, name);
  const real = await realDirectory(path);
  const worktree = linked.get(real ?? path);
  if (worktree !== undefined) {
    if (!worktree.exists) {
      throw new SennitError('source_gone', `The worktree ${worktree.path} is not there any more.`, {
        hint:
          worktree.branch === null
            ? 'If it was moved, run `git worktree repair <new path>` first.'
            : `Its commits are still on the branch: land ${shortRef(worktree.branch)} instead. If it was moved, run \`git worktree repair <new path>\` first.`,
      });
    }
    await requireLink(worktree);
    return worktree;
  }
  return undefined;
}

/** Without its `.git` file a worktree inside another repository is part of that one for every git command: what was done
 * there by git was done elsewhere. Throws `source_unlinked`. */
async function requireLink({ path, primary, linked }: WorktreeInfo): Promise<void> {
  if (primary || linked || (await lstat(join(path, '.git')).catch(() => undefined)) !== undefined) return;
  throw new SennitError(
    'source_unlinked',
    `The worktree ${path} has lost its .git file: git commands in it work on another repository.`,
    {
      hint: `Its files are untouched. Run \`git worktree repair\` in the primary checkout, look at what \`git status\` says there, then land it.`,
      next: ['git worktree repair'],
    },
  );
}

async function expandGlob(
  pattern: string,
  refs: Refs,
  worktrees: readonly WorktreeInfo[],
  request: SourceRequest,
): Promise<Source[]> {
  const { default: picomatch } = await import('picomatch');
  const isPathMatch = picomatch(resolve(request.cwd, pattern), { dot: true });
  const byPath = worktrees.filter(
    (worktree) => worktree.exists && worktree.branch !== request.target && isPathMatch(worktree.path),
  );
  if (byPath.length > 0) return byPath.map((worktree) => worktreeSource(worktree, request.target));
  const isRefMatch = picomatch(pattern, { dot: true });
  const branches = (await refs.listRefs('refs/heads/')).filter(
    ({ ref, commit }) => commit !== null && ref !== request.target && isRefMatch(shortRef(ref)),
  );
  if (branches.length === 0) {
    throw new SennitError('source_unknown', `Nothing matches ${pattern}.`, {
      hint: 'A glob matches the paths of worktrees, or else the names of branches. `git worktree list` and `git branch` show them.',
    });
  }
  return branches.map(({ ref, commit }) => ({
    kind: 'branch',
    name: shortRef(ref),
    identity: ref,
    head: commit,
  }));
}

async function findRefSources(
  names: readonly string[],
  refs: Refs,
  request: SourceRequest,
): Promise<Source[]> {
  if (names.length === 0) return [];
  const places = [
    (name: string) => (name.startsWith('refs/') ? name : `refs/heads/${name}`),
    (name: string) => `refs/tags/${name}`,
    (name: string) => `refs/remotes/${name}`,
    (name: string) => name,
  ];
  const resolved = await refs.resolveCommits(names.flatMap((name) => places.map((place) => place(name))));
  const sources: Source[] = [];
  for (const [i, name] of names.entries()) {
    const [branch, tag, remote, commit] = resolved.slice(i * places.length, (i + 1) * places.length);
    if (branch !== undefined && tag !== undefined && branch !== tag) {
      throw new SennitError('source_ambiguous', `${name} is both a branch and a tag.`, {
        hint: `Say refs/heads/${name} or refs/tags/${name}.`,
      });
    }
    sources.push(
      refSource(name, { branch, tag, remote, commit }, request) ?? (await unknownSource(name, request)),
    );
  }
  return sources;
}

function refSource(
  name: string,
  found: Readonly<Record<'branch' | 'tag' | 'remote' | 'commit', Oid | undefined>>,
  request: SourceRequest,
): Source | undefined {
  if (found.branch !== undefined) {
    const ref = name.startsWith('refs/') ? name : `refs/heads/${name}`;
    if (ref === request.target) {
      throw new SennitError('source_is_target', `${name} is the target itself.`, {
        hint: 'Name another source, or another branch with --into.',
      });
    }
    return { kind: 'branch', name: shortRef(ref), identity: ref, head: found.branch };
  }
  if (found.tag !== undefined) return { kind: 'tag', name, identity: `refs/tags/${name}`, head: found.tag };
  if (found.remote !== undefined)
    return { kind: 'branch', name, identity: `refs/remotes/${name}`, head: found.remote };
  if (found.commit !== undefined) {
    return {
      kind: 'commit',
      name: isOid(name) ? name.slice(0, 12) : name,
      identity: found.commit,
      head: found.commit,
    };
  }
  return undefined;
}

async function unknownSource(name: string, request: SourceRequest): Promise<never> {
  const path = resolve(request.cwd, name);
  if ((await realDirectory(path)) !== null) {
    throw new SennitError(
      'source_foreign',
      `${path} is a directory, but not a worktree of this repository.`,
      {
        hint: 'If it is a worktree that was moved, run `git worktree repair` on it. If it is a clone, fetch its branch into this repository first and land that.',
      },
    );
  }
  throw new SennitError('source_unknown', `There is no worktree, branch, tag or commit called ${name}.`, {
    hint: '`git worktree list` and `git branch --all` show what there is.',
  });
}

/** Drops a source that is named twice. */
function inOrder(sources: readonly Source[]): Source[] {
  return [...new Map(sources.map((source) => [source.identity, source])).values()];
}

/** Makes short names differ, also as ref components and regardless of case. */
function uniquelyNamed(sources: readonly Source[]): Source[] {
  const taken = new Set<string>();
  return sources.map((source) => {
    let name = source.name;
    for (let n = 2; taken.has(slugOf(name).toLowerCase()); n += 1) name = `${source.name}-${n}`;
    taken.add(slugOf(name).toLowerCase());
    return { ...source, name };
  });
}
