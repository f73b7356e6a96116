// One try at a snapshot of a workspace: a private copy of its index is brought to what the disk holds, written as a
// tree, and held against the disk once more. Files go in by `update-index` with explicit lists, not by `git add -A`:
// that would walk the whole tree again, and it runs the filters and the file-system monitor of every repository that
// a gitlink stands for. What must stay true: a tree is only returned after git said that nothing on the disk differs
// from the index that it was written from; anything else is an error, or `Unstable` for another try.

import { isAbsolute, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { asOid, displayPath, type GitPath, gitPathOfText, type Oid } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';
import type { Capture, CaptureRequest } from '../ports/workspaces.ts';
import { addFiles, requireFilters } from './add-files.ts';
import { type CapturePlan, planCapture } from './capture-plan.ts';
import { findCaseTwins } from './case-twins.ts';
import { type ConfigEntry, isConfigTrue, parseConfigList } from './config-list.ts';
import { decideFilters, type FilterDecision, findProgram } from './filters.ts';
import { findHiddenWork, type HiddenWork, haveRulesChanged } from './hidden-work.ts';
import type { IndexFacts } from './index-file.ts';
import { measureAside, setAside } from './nested.ts';
import { readStatus } from './read-status.ts';
import { settled } from './settled.ts';
import {
  clearHidingBits,
  diffIndex,
  dropEntries,
  dropEntriesWithoutObject,
  makeShadowIndex,
  readIndexFacts,
  type ShadowIndex,
  unstage,
} from './shadow-index.ts';
import type { WorkspaceStatus } from './status-format.ts';
import { requireDeclared, reviewSubmodules } from './submodule-review.ts';
import { Unstable } from './unstable.ts';
import { findEntry, firstNames, isPlainlyGone, nameSome, requireFreeSpace } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

export interface AttemptOptions {
  readonly isExcluded: (path: GitPath) => boolean;
  /** Folder of this attempt alone. */
  readonly scratch: string;
  /** Do not believe the workspace's index that the objects are there which it names. */
  readonly checkObjects: boolean;
  /** Prove the tree against the disk; false where a moment's view is all that is asked. */
  readonly prove: boolean;
}

/** What an attempt found, with the private index that its tree was written from. */
export interface Attempt extends Capture {
  readonly index: string;
  /** Paths that differ from the index and are meant to. */
  readonly leftOut: readonly GitPath[];
  /** True when ordinary files under the ignore rules of the base are all there is: a clean status then means that nothing
   * has changed. */
  readonly plain: boolean;
}

/** How many times its own limit per file one nested repository may hold. */
const ASIDE_FACTOR = 4;

async function readConfig(git: WorkspaceGit, index: string): Promise<ConfigEntry[]> {
  return parseConfigList((await git.run(index, { args: ['config', '--list', '-z'] })).stdout);
}

/** Decides which content filters may run on a workspace. */
export async function readFilters(
  git: WorkspaceGit,
  index: string,
  allowed: readonly string[],
): Promise<FilterDecision> {
  return decide(git, await readConfig(git, index), allowed);
}

function decide(
  git: WorkspaceGit,
  config: readonly ConfigEntry[],
  allowed: readonly string[],
): FilterDecision {
  const root = git.worktree.path;
  return decideFilters(config, {
    allowed,
    hasLfs: findProgram('git-lfs', git.searchPath, root) !== undefined,
    isInWorkspace: (word) =>
      isAbsolute(word)
        ? word.startsWith(`${root}/`)
        : findEntry(root, gitPathOfText(word))?.isFile() === true,
  });
}

/** Takes one snapshot. Throws `Unstable` when the workspace changed meanwhile, else SennitError. */
export async function attemptCapture(
  plainGit: WorkspaceGit,
  request: CaptureRequest,
  options: AttemptOptions,
): Promise<Attempt> {
  const { scratch, isExcluded } = options;
  const index = join(scratch, 'index');
  const [config, shadow] = await settled([readConfig(plainGit, index), makeShadowIndex(plainGit, index)]);
  const filters = decide(plainGit, config, request.filters);
  const git = plainGit.with(filters.config);
  const root = git.worktree.path;

  const unknown = await clearHidingBits(git, shadow, isConfigTrue(config, 'core.sparsecheckout'));
  if (request.exclude.length > 0) await unstage(git, shadow, isExcluded);
  if (shadow.facts.gitlinks.size > 0) await requireDeclared(git, shadow, request.base);
  const rehash = options.checkObjects ? await dropEntriesWithoutObject(git, index) : [];

  const status = await readStatus(git, index, 'first', shadow.facts.paths, isExcluded);
  requireDeletions(git, shadow, status);
  const sinceBase = status.head === request.base ? status.staged : await diffIndex(git, index, request.base);
  const hidden = await lookBehindRules(git, request, scratch, index, status, sinceBase, shadow.facts);
  const plan = await planCapture({
    git,
    status,
    tracked: shadow.facts,
    maxFileBytes: request.maxFileBytes,
    isExcluded,
    forced: [...(hidden?.files ?? []), ...rehash],
    hiddenNested: hidden?.nested ?? [],
    scratch,
  });
  const asides = [
    ...plan.nested.map((directory) => ({ directory, gitDirOnly: false })),
    ...plan.gitDirs.map((directory) => ({ directory, gitDirOnly: true })),
  ].map((one) => ({ ...one, maxBytes: request.maxFileBytes * ASIDE_FACTOR }));
  const kept = request.objectsDir === undefined ? asides : [];
  const asideBytes = kept.map((one) => measureAside(root, one));
  await requireSpace(git, scratch, plan, asideBytes);

  // What is plainly gone goes out with what comes in: the index is written once less.
  const gone = plan.additions.length === 0 ? [] : plan.deletions.filter((path) => isPlainlyGone(root, path));
  const together = new Set(gone);
  await dropEntries(
    git,
    index,
    plan.deletions.filter((path) => !together.has(path)),
  );
  await settled([
    addFiles(git, index, [...gone, ...plan.additions]),
    requireFilters(git, index, plan.files, filters),
  ]);
  const aside: { path: GitPath; tree: Oid }[] = [];
  for (const one of kept) {
    const path = one.directory === '' ? ('.' as GitPath) : one.directory;
    aside.push({ path, tree: await setAside(git, scratch, one) });
  }

  const isUpdated = plan.additions.length > 0 || plan.deletions.length > 0;
  const writing = settled([
    writeTree(git, index),
    isUpdated && options.prove ? readStatus(git, index, 'proof', [], isExcluded) : status,
  ]);
  // Looked for while git is at work.
  const created = sinceBase.filter(({ before }) => before === null).map(({ path }) => path);
  const twins = findCaseTwins([...created, ...plan.created], plan.deletions, shadow.facts.paths);
  const [tree, proof] = await writing;
  if (options.prove) requireProof(proof, plan);
  const submodules = await lookAtSubmodules(git, scratch, index, filters, shadow.facts, proof, sinceBase);
  return {
    tree,
    uncommitted: proof.staged.length > 0,
    findings: [
      ...(unknown.length > 0 ? [skippedFinding(unknown)] : []),
      ...(shadow.origin === 'head' ? [INDEX_FINDING] : []),
      ...(shadow.facts.unmerged.size > 0 ? [unmergedFinding([...shadow.facts.unmerged])] : []),
      ...(hidden === undefined ? [] : hiddenFindings(hidden)),
      ...plan.findings,
      ...submodules,
      ...twins,
    ],
    aside,
    index,
    leftOut: [...status.untracked, ...status.nested, ...status.changed, ...status.deleted].filter(
      plan.isLeftOut,
    ),
    plain: hidden === undefined && shadow.facts.gitlinks.size === 0 && asides.length === 0,
  };
}

/** Holds what the disk said after the index was written to the plan. Throws `Unstable` naming what differs. */
function requireProof({ changed, deleted, untracked, nested }: WorkspaceStatus, plan: CapturePlan): void {
  const differing = [...changed, ...deleted, ...untracked, ...nested].filter((path) => !plan.isLeftOut(path));
  if (differing.length > 0) throw new Unstable('changed', differing);
}

/** Looks at submodules where there are any. Throws `Unstable` for a gitlink that came into the index because a file
 * became a repository meanwhile. */
async function lookAtSubmodules(
  git: WorkspaceGit,
  scratch: string,
  index: string,
  filters: FilterDecision,
  before: IndexFacts,
  proof: WorkspaceStatus,
  sinceBase: readonly EntryChange[],
): Promise<Finding[]> {
  const strange = proof.staged
    .filter(({ path, after }) => after?.mode === '160000' && !before.gitlinks.has(path))
    .map(({ path }) => path);
  if (strange.length > 0) throw new Unstable('changed', strange);
  if (before.gitlinks.size === 0) return [];
  const after = await readIndexFacts(index, git.hashBytes);
  return reviewSubmodules(git, scratch, filters.config, { before, after, sinceBase });
}

/** Without an index nobody can tell a deleted file from one that was never checked out. */
function requireDeletions(git: WorkspaceGit, shadow: ShadowIndex, status: WorkspaceStatus): void {
  if (shadow.origin !== 'head' || status.deleted.length === 0) return;
  const names = status.deleted.map(displayPath);
  const path = git.worktree.path;
  throw new SennitError(
    'snapshot_incomplete',
    `The workspace has no usable index, and ${names.length} of its commit's files are not there: they may be deleted, or may never have been checked out.`,
    {
      hint: `Run \`git -C ${path} checkout -- .\` to get them back, or \`git -C ${path} reset\` if they are meant to be deleted.`,
      paths: firstNames(names),
    },
  );
}

/** Looks for hidden work where ignore rules are not those of the base; undefined where they are. */
async function lookBehindRules(
  git: WorkspaceGit,
  request: CaptureRequest,
  scratch: string,
  index: string,
  status: WorkspaceStatus,
  sinceBase: readonly EntryChange[],
  tracked: IndexFacts,
): Promise<HiddenWork | undefined> {
  const changed = [
    ...sinceBase.map(({ path }) => path),
    ...status.changed,
    ...status.deleted,
    ...status.untracked,
  ];
  if (!haveRulesChanged(git.worktree.path, changed, status.ignored, tracked)) return undefined;
  return findHiddenWork(git, index, scratch, request.base, status, tracked);
}

async function requireSpace(
  git: WorkspaceGit,
  scratch: string,
  plan: CapturePlan,
  asides: readonly number[],
): Promise<void> {
  let bytes = 0;
  for (const size of plan.files.values()) bytes += size;
  const besides = asides.reduce((sum, size) => sum + size, 0);
  await settled([
    requireFreeSpace(git.objectsDir, bytes + besides),
    // An index may be written three times over, with its lock; copies of nested repositories go one by one.
    requireFreeSpace(scratch, Math.max(0, ...asides)),
  ]);
}

/** Writes the index as a tree. Throws `Unstable` when an object that the index names is not there. */
async function writeTree(git: WorkspaceGit, index: string): Promise<Oid> {
  const { code, stdout, stderr } = await git.run(index, { args: ['write-tree'], accept: [0, 128] });
  if (code === 0) return asOid(stdout.toString('latin1').trim());
  if (/invalid object|error building trees/.test(stderr)) throw new Unstable('objects', [], stderr.trim());
  // Runs again only to fail with the error that git's words stand for.
  return asOid((await git.run(index, { args: ['write-tree'] })).stdout.toString('latin1').trim());
}

const INDEX_FINDING: Finding = {
  check: 'workspace_index_lost',
  severity: 'warning',
  message: 'The workspace has no usable index; the snapshot was built from its commit and its files.',
};

function skippedFinding(paths: readonly GitPath[]): Finding {
  const names = paths.map(displayPath);
  return {
    check: 'skip_worktree_absent',
    severity: 'warning',
    message: `Taken as unchanged, because they are marked to be skipped and are not there: ${nameSome(names)}.`,
    paths: firstNames(names),
  };
}

function unmergedFinding(paths: readonly GitPath[]): Finding {
  const names = paths.map(displayPath);
  return {
    check: 'workspace_unmerged',
    severity: 'warning',
    message: `An unfinished merge in the workspace was taken as it is on the disk: ${nameSome(names)}.`,
    paths: firstNames(names),
  };
}

function hiddenFindings({ files, nested, left, shown }: HiddenWork): Finding[] {
  const findings: Finding[] = [];
  const taken = [...files, ...nested].map(displayPath);
  if (taken.length > 0) {
    findings.push({
      check: 'ignore_rules_widened',
      severity: 'warning',
      message: `Captured, although ignore rules of the workspace hide them that its base does not have: ${nameSome(taken)}.`,
      paths: firstNames(taken),
    });
  }
  const unhidden = shown.map(displayPath);
  if (unhidden.length > 0) {
    findings.push({
      check: 'ignore_rules_narrowed',
      severity: 'warning',
      message: `Captured, although the ignore rules of its base hide them: ${nameSome(unhidden)}.`,
      paths: firstNames(unhidden),
    });
  }
  const names = left.map(displayPath);
  if (names.length > 0) {
    findings.push({
      check: 'ignored_by_new_rule',
      severity: 'info',
      message: `Not captured, because a new ignore rule of the workspace names them: ${nameSome(names)}.`,
      paths: firstNames(names),
    });
  }
  return findings;
}
