// Gitlinks in a snapshot. Those of the base are submodules, and so is one that `.gitmodules` declares. Any other was
// made by `git add` on a nested repository: it would be a pointer to a commit that nobody else has, so it leaves the
// index, and the repository is treated as what it is.

import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, gitPathOfText, type Oid } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';
import { parseConfigList } from './config-list.ts';
import type { IndexFacts } from './index-file.ts';
import { diffIndex, dropEntries, type ShadowIndex } from './shadow-index.ts';
import { inspectSubmodule } from './submodules.ts';
import { findEntry, nameSome } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

const GITLINK = '160000';

async function readDeclared(git: WorkspaceGit, index: string): Promise<ReadonlySet<GitPath>> {
  if (findEntry(git.worktree.path, '.gitmodules' as GitPath)?.isFile() !== true) return new Set();
  const { code, stdout } = await git.run(index, {
    args: ['config', '--no-includes', '--file', '.gitmodules', '--list', '-z'],
    accept: [0, 1, 128],
  });
  if (code !== 0) return new Set();
  const paths = parseConfigList(stdout).filter(({ key }) => /^submodule\..*\.path$/s.test(key));
  return new Set(paths.map(({ value }) => gitPathOfText(value ?? '')));
}

/** Takes gitlinks out of the private index that are neither in the base nor declared. */
export async function requireDeclared(git: WorkspaceGit, shadow: ShadowIndex, base: Oid): Promise<void> {
  const added = (await diffIndex(git, shadow.file, base))
    .filter(({ before, after }) => after?.mode === GITLINK && before?.mode !== GITLINK)
    .map(({ path }) => path);
  if (added.length === 0) return;
  const declared = await readDeclared(git, shadow.file);
  await dropEntries(
    git,
    shadow.file,
    added.filter((path) => !declared.has(path)),
  );
}

export interface SubmoduleFacts {
  /** The private index before and after the workspace's files were taken into it. */
  readonly before: IndexFacts;
  readonly after: IndexFacts;
  /** What the index differed in from the base. */
  readonly sinceBase: readonly EntryChange[];
}

/** Tells which submodules are at another commit than in the base. Throws `snapshot_incomplete` naming those that hold
 * work which is not committed in them. */
export async function reviewSubmodules(
  git: WorkspaceGit,
  scratch: string,
  config: readonly (readonly [string, string])[],
  { before, after, sinceBase }: SubmoduleFacts,
): Promise<Finding[]> {
  const root = git.worktree.path;
  const baseOf = new Map(sinceBase.map((change) => [change.path, change.before]));
  const atBase = (path: GitPath): Oid | undefined => {
    const entry = baseOf.get(path);
    if (entry === undefined) return before.gitlinks.get(path);
    return entry?.mode === GITLINK ? entry.oid : undefined;
  };
  const moved: GitPath[] = [...after.gitlinks]
    .filter(([path, oid]) => atBase(path) !== oid)
    .map(([path]) => path);
  const dirty: { path: GitPath; reason: string; inner: readonly GitPath[] }[] = [];
  for (const [path, oid] of after.gitlinks) {
    const state = await inspectSubmodule(git, root, path, oid, scratch, config);
    if (state.state === 'dirty') dirty.push({ path, reason: state.reason, inner: state.paths });
  }
  if (dirty.length > 0) {
    const said = dirty.map(({ path, reason, inner }) => {
      const names = inner.length === 0 ? '' : `: ${nameSome(inner.map(displayPath))}`;
      return `${displayPath(path)} (${reason}${names})`;
    });
    throw new SennitError(
      'snapshot_incomplete',
      `Submodules hold work that no snapshot can take: ${said.join('; ')}.`,
      {
        hint: "Commit the work inside the submodule and push it to the submodule's own repository, or remove it; then run the command again.",
        paths: dirty.map(({ path }) => displayPath(path)),
      },
    );
  }
  return moved.map((path) => ({
    check: 'submodule_moved',
    severity: 'warning',
    message: `The submodule ${displayPath(path)} is at commit ${after.gitlinks.get(path)}: that commit must be pushed from its own repository.`,
    paths: [displayPath(path)],
  }));
}
