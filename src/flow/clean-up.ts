// `sennit gc`: takes away what is not needed any more, a dry run unless told to act. Workspaces are touched only when
// they are named, and go only with proof that nothing is lost: their content is contained in a branch that work goes to,
// or, where that is asked for, archived first. Whatever goes can be brought back: its content, its commits and its
// ignored files are kept. Without names, what Sennit itself left behind goes too, and workspaces are only reported.

import { basename } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, newOperationId, type Oid, type OperationId } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects } from '../ports/git.ts';
import { archiveId } from './archive-entry.ts';
import { type CleanUpData, type Removal, readCleanUpData, withRemoval } from './clean-up-data.ts';
import type { Context } from './context.ts';
import { type Judged, judgeWorkspaces } from './judge-workspace.ts';
import { type Leaving, readLeavings, removeLeavings } from './leavings.ts';
import { whileHolding } from './operation-lock.ts';
import { findScratchOwner } from './own-folders.ts';
import { shellWord } from './packet.ts';
import { removeTree } from './remove-tree.ts';
import {
  isRemovable,
  planRemoval,
  type Removable,
  type RemovalEnd,
  removeWorkspace,
} from './remove-workspace.ts';
import { tmpFolderOf } from './tmp-folder.ts';
import { whileQuiet } from './while-quiet.ts';
import { findNamedWorkspaces } from './workspace-names.ts';

export interface CleanUpRequest {
  /** Workspaces that are meant: folders, globs of them, or branches that they have checked out. */
  readonly names: readonly string[];
  /** False for a dry run. */
  readonly apply: boolean;
  /** Removes named workspaces that hold unlanded work too, once that is archived. */
  readonly archive: boolean;
}

export interface WorkspaceReport {
  readonly path: string;
  readonly branch: string | null;
  readonly head: Oid | null;
  readonly named: boolean;
  /** `contained` in a branch or an archive; `unlanded` work in it; `refused`: it must stay whatever it holds. */
  readonly state: 'contained' | 'unlanded' | 'refused';
  /** `remove`: a run with --apply would. */
  readonly action: 'keep' | 'remove' | 'removed';
  /** The proof, or why it stays. */
  readonly reason: string;
  /** Paths (for display) of work that is in no target. */
  readonly paths: readonly string[];
  /** Ignored files and folders (for display) that nothing can make again, with their sizes. */
  readonly ignored: readonly { readonly path: string; readonly bytes: number }[];
  /** Id of the archive entry that holds what it held. */
  readonly archive: string | null;
}

export interface CleanUpReport {
  readonly result: 'cleaned' | 'dry_run' | 'none';
  readonly operation: OperationId | null;
  readonly workspaces: readonly WorkspaceReport[];
  readonly leavings: readonly Leaving[];
  readonly findings: readonly Finding[];
  /** Set when something that was named and should go had to stay. All else was done. */
  readonly failure: SennitError | null;
  readonly next: readonly string[];
}

/** Cleans up, or says what it would do. Throws `source_unknown` or `source_foreign` for a name that is no workspace. */
export async function cleanUp(context: Context, request: CleanUpRequest): Promise<CleanUpReport> {
  return whileQuiet(context, !request.apply, async () => {
    const worktrees = await context.refs.listWorktrees();
    const named = await findNamedWorkspaces(worktrees, request.names, context.cwd, removedBefore(context));
    const operation = newOperationId(context.clock.now());
    const objects = await context.openObjects({ quarantine: !request.apply });
    const scratch = `${tmpFolderOf(context.place.stateDir, context.process)}/${operation}`;
    try {
      const judged = await judgeWorkspaces(context, objects, {
        workspaces: request.names.length > 0 ? named.found : listForeign(context, worktrees),
        worktrees,
        thorough: request.names.length > 0,
        scratch,
        objectsDir: objects.objectsDir,
        operation,
      });
      const leavings = request.names.length > 0 ? [] : await readLeavings(context, objects, worktrees);
      const run = new CleanUp(context, objects, operation, request, judged, leavings);
      const report = request.apply ? await run.apply() : run.preview();
      return { ...report, findings: [...named.gone.map(goneFinding), ...report.findings] };
    } finally {
      await removeTree(scratch);
      await objects.close();
    }
  });
}

/** Paths of workspaces that were removed. */
function removedBefore(context: Context): Set<string> {
  const operations = context.readLedger()?.listOperations({ kinds: ['gc'], states: ['done'] }) ?? [];
  return new Set(
    operations
      .flatMap((operation) => readCleanUpData(operation).removals)
      .filter(({ state }) => state === 'removed')
      .map(({ path }) => path),
  );
}

function goneFinding(path: string): Finding {
  return {
    check: 'workspace_gone',
    severity: 'info',
    message: `${path} was removed before.`,
    remedy: 'sennit archive list',
  };
}

/** The user's linked worktrees: all but those of Sennit's own. */
function listForeign(context: Context, worktrees: readonly WorktreeInfo[]): WorktreeInfo[] {
  return worktrees.filter(({ primary, path }) => !primary && findScratchOwner(context, path) === undefined);
}

class CleanUp {
  readonly #context: Context;
  readonly #objects: Objects;
  readonly #operation: OperationId;
  readonly #request: CleanUpRequest;
  readonly #judged: readonly Judged[];
  readonly #leavings: readonly Leaving[];
  readonly #ends = new Map<Judged, RemovalEnd>();
  readonly #findings: Finding[] = [];
  #data: CleanUpData = { version: 1, removals: [] };

  constructor(
    context: Context,
    objects: Objects,
    operation: OperationId,
    request: CleanUpRequest,
    judged: readonly Judged[],
    leavings: readonly Leaving[],
  ) {
    this.#context = context;
    this.#objects = objects;
    this.#operation = operation;
    this.#request = request;
    this.#judged = judged;
    this.#leavings = leavings;
  }

  get #named(): boolean {
    return this.#request.names.length > 0;
  }

  /** Whether a workspace goes, by what is known of it. */
  #goes(judged: Judged): judged is Removable {
    if (!this.#named || !isRemovable(judged)) return false;
    const { state } = judged.verdict;
    return state === 'contained' || (state === 'unlanded' && this.#request.archive);
  }

  preview(): CleanUpReport {
    return this.#report('dry_run', null);
  }

  async apply(): Promise<CleanUpReport> {
    const going = this.#judged.filter((judged) => this.#goes(judged));
    if (going.length === 0 && this.#leavings.length === 0) return this.#report('none', null);
    return whileHolding(this.#context, this.#operation, async () => {
      const ledger = this.#context.ledger();
      ledger.createOperation({
        id: this.#operation,
        kind: 'gc',
        target: null,
        owner: this.#context.process,
        data: this.#data,
      });
      try {
        for (const judged of going) await this.#remove(judged);
        if (this.#leavings.length > 0) {
          this.#context.narrator.step('taking away what Sennit left');
          this.#findings.push(...(await removeLeavings(this.#context, this.#leavings)));
          this.#context.journalPoint('leavings-removed');
        }
        ledger.append(
          { operation: this.#operation, type: 'clean_up.done', data: { leavings: this.#leavings } },
          { state: 'done' },
        );
      } catch (error) {
        // What was removed by then can be undone like any other.
        const state = this.#data.removals.some((removal) => removal.state === 'removed') ? 'done' : 'failed';
        ledger.append(
          { operation: this.#operation, type: 'clean_up.failed', data: { error: String(error) } },
          { state },
        );
        throw error;
      }
      return this.#report('cleaned', this.#operation);
    });
  }

  async #remove(judged: Removable): Promise<void> {
    const { worktree, verdict, slug } = judged;
    this.#context.narrator.step(`removing ${worktree.path}`);
    const proof =
      verdict.state === 'contained' ? verdict.proof : `archived as ${archiveId(this.#operation, slug)}`;
    const removal = await planRemoval(this.#context, this.#operation, judged, proof);
    const save = (type: string, one: Removal, { durable = false } = {}): void => {
      this.#data = { ...this.#data, removals: withRemoval(this.#data.removals, one) };
      this.#context
        .ledger()
        .append(
          { operation: this.#operation, type, data: { path: one.path } },
          { data: this.#data, durable },
        );
    };
    const end = await removeWorkspace(this.#context, this.#objects, this.#operation, judged, removal, {
      save,
    });
    this.#ends.set(judged, end);
    if (end.outcome !== 'removed') return;
    if (end.kept.length > 0) this.#findings.push(keptFinding(judged, removal, end.kept.map(displayPath)));
    if (end.left !== null) this.#findings.push(trashFinding(judged, end.left));
    if (worktree.branch !== null) this.#findings.push(branchFinding(worktree.path, worktree.branch));
  }

  #report(result: CleanUpReport['result'], operation: OperationId | null): CleanUpReport {
    const workspaces = this.#judged.map((judged) => this.#describe(judged));
    return {
      result,
      operation,
      workspaces,
      leavings: this.#leavings,
      findings: [...this.#judged.flatMap(({ findings }) => findings), ...this.#findings],
      failure: this.#request.apply ? this.#failure(workspaces) : null,
      next: this.#next(workspaces),
    };
  }

  #describe(judged: Judged): WorkspaceReport {
    const { worktree, verdict, leftovers, slug } = judged;
    const end = this.#ends.get(judged);
    const gone = end?.outcome === 'removed';
    return {
      path: worktree.path,
      branch: worktree.branch,
      head: worktree.head,
      named: this.#named,
      state: end?.outcome === 'put-back' ? 'refused' : verdict.state,
      action: gone ? 'removed' : this.#goes(judged) && end === undefined ? 'remove' : 'keep',
      reason: end?.outcome === 'put-back' ? end.reason : reasonOf(judged),
      paths: (end?.outcome === 'put-back'
        ? end.paths
        : verdict.state === 'unlanded'
          ? verdict.paths
          : []
      ).map(displayPath),
      ignored: (leftovers?.ignored ?? [])
        .filter(({ reproducible }) => !reproducible)
        .map(({ path, bytes }) => ({ path: displayPath(path), bytes })),
      archive: gone ? archiveId(this.#operation, slug) : null,
    };
  }

  /** What is wrong when something that was named stays. */
  #failure(workspaces: readonly WorkspaceReport[]): SennitError | null {
    const kept = workspaces.filter(({ named, action }) => named && action === 'keep');
    const [first] = kept;
    if (first === undefined) return null;
    const unlanded = kept.filter(({ state }) => state === 'unlanded');
    return new SennitError(
      'workspace_unproved',
      kept.map(({ path, reason }) => `${path} stays: ${reason}.`).join(' '),
      {
        hint:
          unlanded.length > 0
            ? `Land that work first: sennit land ${words(unlanded)}. Or archive it: sennit gc --archive --apply ${words(unlanded)}.`
            : 'Put that right, then run the command again. Nothing of it was touched.',
        paths: unlanded.flatMap(({ paths }) => paths),
        next: unlanded.length > 0 ? [`sennit land ${words(unlanded)}`] : [],
      },
    );
  }

  #next(workspaces: readonly WorkspaceReport[]): string[] {
    const unlanded = workspaces.filter(({ state, action }) => state === 'unlanded' && action === 'keep');
    const land = unlanded.length > 0 ? [`sennit land ${words(unlanded)}`] : [];
    if (this.#request.apply) {
      return [...land, ...(workspaces.some(({ action }) => action === 'removed') ? ['sennit undo'] : [])];
    }
    const flag = this.#request.archive ? ' --archive' : '';
    if (this.#named) {
      const going = workspaces.filter(({ action }) => action === 'remove');
      return [...(going.length > 0 ? [`sennit gc ${words(going)}${flag} --apply`] : []), ...land];
    }
    const done = workspaces.filter(({ state }) => state === 'contained');
    return [
      ...(this.#leavings.length > 0 ? ['sennit gc --apply'] : []),
      ...(done.length > 0 ? [`sennit gc ${words(done)} --apply`] : []),
      ...land,
    ];
  }
}

/** Folders as words for a shell. */
function words(workspaces: readonly { readonly path: string }[]): string {
  return workspaces.map(({ path }) => shellWord(path)).join(' ');
}

function reasonOf({ verdict }: Judged): string {
  switch (verdict.state) {
    case 'contained':
      return verdict.proof;
    case 'refused':
      return verdict.reason;
    case 'unlanded': {
      const shown = verdict.paths.slice(0, 5).map(displayPath).join(', ');
      const more = verdict.paths.length > 5 ? ` and ${verdict.paths.length - 5} more` : '';
      return `it holds work that ${verdict.target ?? 'no branch'} ${verdict.target === null ? 'has' : 'does not have'}: ${shown}${more}`;
    }
  }
}

function keptFinding(judged: Judged, removal: Removal, paths: readonly string[]): Finding {
  return {
    check: 'files_kept',
    severity: 'info',
    source: judged.name,
    message: `Ignored files of ${judged.worktree.path} are kept in ${removal.kept}; they come back with it.`,
    paths,
  };
}

function trashFinding(judged: Judged, trash: string): Finding {
  return {
    check: 'trash_left',
    severity: 'warning',
    source: judged.name,
    message: `${judged.worktree.path} is removed, but ${trash} could not be deleted whole.`,
    paths: [trash],
    remedy: `rm -rf ${shellWord(trash)}`,
  };
}

function branchFinding(path: string, branch: string): Finding {
  const name = branch.replace(/^refs\/heads\//, '');
  return {
    check: 'branch_stays',
    severity: 'info',
    source: basename(path),
    message: `The branch ${name} stays: branches are yours.`,
    remedy: `git branch -D ${shellWord(name)}`,
  };
}
