// What may become of one workspace: facts first, then a verdict, and nothing is changed. All of its content is taken
// into a tree (nothing excluded by settings: what a snapshot for a landing leaves out would be lost here), and a branch
// is looked for that contains it. Whoever acts on the verdict proves again, on the folder itself, that it still holds.

import { basename, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid, slugOf } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects } from '../ports/git.ts';
import type { CaptureRequest, Leftovers } from '../ports/workspaces.ts';
import { type ArchiveEntry, readArchives } from './archive-entry.ts';
import { type Containment, proveContained, readTargets, type TargetFacts } from './contained.ts';
import type { Context } from './context.ts';
import { findHiddenRepositories, findObstacle, nestedObstacle } from './workspace-obstacles.ts';

/** All of a workspace's content, and the request that took it: asked again, it tells whether the disk still is so. */
export interface TakenContent {
  readonly request: CaptureRequest;
  /** A commit with this content: HEAD itself where nothing is uncommitted. */
  readonly commit: Oid;
  readonly tree: Oid;
  readonly base: Oid;
  readonly uncommitted: boolean;
  /** Snapshots of it that landed: the newest for each branch. A later landing of it needs them as merge bases. */
  readonly landed: readonly Oid[];
}

export type Verdict =
  /** Nothing would be lost. */
  | { readonly state: 'contained'; readonly proof: string }
  /** It holds work that no target contains. */
  | { readonly state: 'unlanded'; readonly target: string | null; readonly paths: readonly GitPath[] }
  /** It must stay whatever it holds. */
  | { readonly state: 'refused'; readonly reason: string };

export interface Judged {
  readonly worktree: WorktreeInfo;
  readonly name: string;
  /** Unique among those that are judged together. */
  readonly slug: string;
  readonly verdict: Verdict;
  readonly content: TakenContent | null;
  readonly leftovers: Leftovers | null;
  readonly findings: readonly Finding[];
}

export interface JudgeRequest {
  readonly workspaces: readonly WorktreeInfo[];
  readonly worktrees: readonly WorktreeInfo[];
  /** Looks for everything that could be lost by a removal; without, only for what a report says. */
  readonly thorough: boolean;
  /** Folder for private indexes. */
  readonly scratch: string;
  /** Where new objects go, or undefined for the repository's own store. */
  readonly objectsDir: string | undefined;
  /** The operation that asks. */
  readonly operation: string | null;
}

/** How many workspaces are read at a time. */
const PARALLEL = 2;

/** Judges workspaces, in their order. */
export async function judgeWorkspaces(
  context: Context,
  objects: Objects,
  request: JudgeRequest,
): Promise<Judged[]> {
  const { workspaces } = request;
  if (workspaces.length === 0) return [];
  const [targets, archives] = [
    await readTargets(context, objects, request.worktrees),
    await readArchives(context, objects),
  ];
  const slugs = uniqueSlugs(workspaces);
  const judge = new Judge(context, objects, request, targets, archives);
  const judged: Judged[] = new Array(workspaces.length);
  const queue = [...workspaces.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, worktree] = next;
      context.narrator.step(`reading ${worktree.path}`);
      judged[i] = await judge.judge(worktree, slugs[i] ?? slugOf(worktree.path));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return judged;
}

function uniqueSlugs(workspaces: readonly WorktreeInfo[]): string[] {
  const taken = new Set<string>();
  return workspaces.map(({ path }) => {
    const slug = slugOf(basename(path));
    let unique = slug;
    for (let n = 2; taken.has(unique.toLowerCase()); n += 1) unique = `${slug}-${n}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}

class Judge {
  readonly #context: Context;
  readonly #objects: Objects;
  readonly #request: JudgeRequest;
  readonly #targets: readonly TargetFacts[];
  readonly #archives: readonly ArchiveEntry[];
  /** Proofs one after the other: each sets the attributes that merges use. */
  #proofs: Promise<unknown> = Promise.resolve();

  constructor(
    context: Context,
    objects: Objects,
    request: JudgeRequest,
    targets: readonly TargetFacts[],
    archives: readonly ArchiveEntry[],
  ) {
    this.#context = context;
    this.#objects = objects;
    this.#request = request;
    this.#targets = targets;
    this.#archives = archives;
  }

  async judge(worktree: WorktreeInfo, slug: string): Promise<Judged> {
    const common = {
      worktree,
      name: basename(worktree.path),
      slug,
      content: null,
      leftovers: null,
      findings: [],
    };
    const { worktrees, operation } = this.#request;
    const obstacle = await findObstacle(this.#context, worktree, worktrees, operation);
    if (obstacle !== undefined) return { ...common, verdict: { state: 'refused', reason: obstacle } };
    try {
      return { ...common, ...(await this.#look(worktree, slug)) };
    } catch (error) {
      const reason = readFailure(error);
      if (reason === undefined) throw error;
      return { ...common, verdict: { state: 'refused', reason } };
    }
  }

  async #look(
    worktree: WorktreeInfo,
    slug: string,
  ): Promise<Pick<Judged, 'verdict' | 'content' | 'leftovers' | 'findings'>> {
    const { workspaces, settings } = this.#context;
    const base = await this.#baseOf(worktree);
    const request: CaptureRequest = {
      worktree,
      base,
      maxFileBytes: settings.snapshot.maxFileBytes,
      filters: settings.snapshot.filters,
      exclude: [],
      scratch: join(this.#request.scratch, slug),
      ...(this.#request.objectsDir === undefined ? {} : { objectsDir: this.#request.objectsDir }),
    };
    const capture = await workspaces.capture(request);
    const leftovers = await workspaces.listLeftovers(worktree);
    const findings = [
      ...capture.findings.map((finding) => ({ ...finding, source: basename(worktree.path) })),
      ...leftoverFindings(worktree, leftovers),
    ];
    const content = await this.#contentOf(worktree, request, capture.tree, capture.uncommitted);
    const nested = [
      ...capture.aside.map(({ path }) => path),
      ...(this.#request.thorough
        ? await findHiddenRepositories(
            worktree.path,
            leftovers.ignored.map(({ path }) => path),
          )
        : []),
    ];
    const reason = nestedObstacle([...new Set(nested)]);
    const verdict: Verdict =
      reason === undefined ? await this.#verdict(worktree, content) : { state: 'refused', reason };
    return { verdict, content, leftovers, findings };
  }

  /** The commit whose ignore rules count besides the workspace's own. */
  async #baseOf({ head }: WorktreeInfo): Promise<Oid> {
    const tip = this.#targets[0]?.tip;
    if (head === null) {
      if (tip !== undefined) return tip;
      throw new SennitError('repository_empty', 'there is no commit to compare it with');
    }
    return (tip === undefined ? undefined : (await this.#objects.mergeBases(tip, head))[0]) ?? head;
  }

  async #contentOf(
    worktree: WorktreeInfo,
    request: CaptureRequest,
    tree: Oid,
    uncommitted: boolean,
  ): Promise<TakenContent> {
    const { head } = worktree;
    const commit =
      head !== null && !uncommitted
        ? head
        : await this.#objects.writeCommit({
            tree,
            parents: head === null ? [] : [head],
            message: `sennit: content of ${basename(worktree.path)}\n`,
          });
    const landed = this.#targets.flatMap(({ snapshots }) => snapshots.get(worktree.path) ?? []);
    return { request, commit, tree, base: request.base, uncommitted, landed: [...new Set(landed)] };
  }

  async #verdict({ branch, head }: WorktreeInfo, content: TakenContent): Promise<Verdict> {
    const prove = (): Promise<Containment> =>
      proveContained(this.#objects, this.#targets, { branch, head, ...content });
    const proof = this.#proofs.then(prove, prove);
    this.#proofs = proof.catch(() => undefined);
    const found = await proof;
    if (found.outcome === 'contained') return { state: 'contained', proof: found.proof };
    const archive = this.#archives.find(({ tree }) => tree === content.tree);
    if (archive !== undefined) return { state: 'contained', proof: `archived as ${archive.id}` };
    return { state: 'unlanded', target: found.target, paths: found.paths };
  }
}

/** Why a workspace could not be read, where that is no fault of Sennit's own; undefined otherwise. */
function readFailure(error: unknown): string | undefined {
  if (error instanceof SennitError) {
    const { code, message, hint } = error;
    if (code === 'internal_bug' || code === 'interrupted' || code === 'disk_full') return undefined;
    return `it could not be read whole: ${message}${hint === undefined ? '' : ` ${hint}`}`;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT')
    return `it could not be read whole: ${String(error)}`;
  return undefined;
}

/** How many paths a message names. */
const NAMED = 5;

/** Ignored files that nothing can make again, and things that git never sees, told before anything goes. */
function leftoverFindings(worktree: WorktreeInfo, { ignored, special }: Leftovers): Finding[] {
  const source = basename(worktree.path);
  const own = ignored.filter(({ reproducible }) => !reproducible).map(({ path }) => displayPath(path));
  const odd = special.map(displayPath);
  const some = (paths: readonly string[]): string =>
    `${paths.slice(0, NAMED).join(', ')}${paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''}`;
  return [
    ...(own.length === 0
      ? []
      : [
          {
            check: 'files_ignored',
            severity: 'warning' as const,
            source,
            message: `Ignored files in ${worktree.path} that nothing can make again: ${some(own)}. They are kept when it goes.`,
            paths: own,
          },
        ]),
    ...(odd.length === 0
      ? []
      : [
          {
            check: 'files_special',
            severity: 'info' as const,
            source,
            message: `Sockets, pipes or devices in ${worktree.path}: ${some(odd)}. They go with it.`,
            paths: odd,
          },
        ]),
  ];
}
