// Submodules of a workspace. A snapshot can hold only which commit a submodule is at, so work in it that is not
// committed there must stop the snapshot, or it would be lost. Git is never run with a submodule's own git dir: its
// configuration is an agent's. It is read through a git dir of our own that borrows the submodule's objects, with a
// copy of its index. What must stay true: a submodule whose state cannot be told counts as one with work.

import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitPath, Oid } from '../model/ids.ts';
import { readGitFile } from './nested.ts';
import { copyIndexFile, readIndexFacts } from './shadow-index.ts';
import { parseStatus, STATUS_ARGS } from './status-format.ts';
import { diskPath, diskText, findEntry } from './workspace-disk.ts';
import { pathInput, type WorkspaceGit } from './workspace-git.ts';

/** `clean`: no more than its commit. `dirty`: `paths` below it hold work, as far as they could be told. */
export type SubmoduleState =
  | { readonly state: 'clean' }
  | { readonly state: 'dirty'; readonly reason: string; readonly paths: readonly GitPath[] };

const CLEAN: SubmoduleState = { state: 'clean' };

function dirty(reason: string, paths: readonly GitPath[] = []): SubmoduleState {
  return { state: 'dirty', reason, paths };
}

interface Module {
  readonly gitDir: string;
  /** Where its objects and its excludes are. */
  readonly commonDir: string;
}

/** The git dir of the submodule at a path; undefined when its `.git` leads nowhere. */
function findModule(root: string, path: GitPath): Module | undefined {
  try {
    const named = readGitFile(root, path) ?? join(diskText(root, path), '.git');
    const gitDir = realpathSync(named);
    try {
      const common = readFileSync(join(gitDir, 'commondir'), 'utf8').trim();
      return { gitDir, commonDir: realpathSync(join(gitDir, common)) };
    } catch {
      return { gitDir, commonDir: gitDir };
    }
  } catch {
    return undefined;
  }
}

/** Looks for work in the submodule at `path` of `root` that is at `commit`, and in those inside it. `config` switches
 * the content filters off that may not run. */
export async function inspectSubmodule(
  git: WorkspaceGit,
  root: string,
  path: GitPath,
  commit: Oid,
  scratch: string,
  config: readonly (readonly [string, string])[],
): Promise<SubmoduleState> {
  const entry = findEntry(root, path);
  if (entry === undefined || !entry.isDirectory()) return CLEAN; // the snapshot itself shows it
  const names = readdirSync(diskPath(root, path));
  if (names.length === 0) return CLEAN; // not initialised
  if (!names.includes('.git')) return dirty('files lie in a submodule that is not initialised');
  const module = findModule(root, path);
  if (module === undefined) return dirty('its .git leads nowhere');

  const gitDir = await mkdtemp(join(scratch, 'submodule-'));
  try {
    await Promise.all([
      writeFile(join(gitDir, 'HEAD'), `${commit}\n`),
      writeFile(join(gitDir, 'config'), configText(git.place.objectFormat)),
      mkdir(join(gitDir, 'refs')),
      mkdir(join(gitDir, 'objects')),
      mkdir(join(gitDir, 'info')),
    ]);
    await copyFile(join(module.commonDir, 'info', 'exclude'), join(gitDir, 'info', 'exclude')).catch(
      () => undefined,
    );
    const index = join(gitDir, 'index');
    const workTree = diskText(root, path);
    const inModule = (args: readonly string[], stdin?: Buffer) =>
      git.runElsewhere(join(module.commonDir, 'objects'), {
        args,
        gitDir,
        workTree,
        config,
        accept: [0, 128],
        ...(stdin === undefined ? {} : { stdin }),
      });
    let facts = await copyIndexFile(join(module.gitDir, 'index'), index, git.hashBytes);
    if (facts === undefined || facts.partial) {
      if ((await inModule(['read-tree', 'HEAD'])).code !== 0) return dirty('its commit cannot be read');
      facts = await readIndexFacts(index, git.hashBytes);
    }
    const hidden = [...(facts?.assumedUnchanged ?? [])];
    const skipped = (facts?.skipWorktree ?? []).filter((name) => findEntry(workTree, name) !== undefined);
    if (hidden.length > 0)
      await inModule(['update-index', '--no-assume-unchanged', '-z', '--stdin'], pathInput(hidden));
    if (skipped.length > 0)
      await inModule(['update-index', '--no-skip-worktree', '-z', '--stdin'], pathInput(skipped));
    const status = await inModule(STATUS_ARGS);
    if (status.code !== 0 || status.stderr.includes('could not open directory'))
      return dirty('its state cannot be read');
    const { staged, changed, deleted, untracked, nested } = parseStatus(status.stdout);
    const work = new Set([
      ...staged.map((change) => change.path),
      ...changed,
      ...deleted,
      ...untracked,
      ...nested,
    ]);
    if (work.size > 0) return dirty('it holds work that is not committed in it', [...work]);
    for (const [inner, innerCommit] of facts?.gitlinks ?? []) {
      const state = await inspectSubmodule(git, workTree, inner, innerCommit, scratch, config);
      if (state.state === 'dirty') return { ...state, paths: [inner] };
    }
    return CLEAN;
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

function configText(objectFormat: 'sha1' | 'sha256'): string {
  const sha256 = objectFormat === 'sha256';
  return `[core]\n\trepositoryformatversion = ${sha256 ? 1 : 0}\n\tbare = false\n${sha256 ? '[extensions]\n\tobjectFormat = sha256\n' : ''}`;
}
