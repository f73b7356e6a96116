// The root gate: the user's commands on the exact merged tree, in a fresh worktree outside the git dir (many tools skip
// what lies below `.git`). The verdict belongs to the tree id and the command: a green one is not asked for again.

import { createHash } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type Oid, type OperationId, slugOf } from '../model/ids.ts';
import type { GateSetting } from '../model/settings.ts';
import type { ScratchWorktree } from '../ports/checkouts.ts';
import type { CommandResult } from '../ports/gates.ts';
import type { Context } from './context.ts';

export interface GateResult {
  readonly name: string;
  readonly command: string;
  readonly outcome: CommandResult['outcome'];
  /** True when the verdict is one that this tree got before. */
  readonly known: boolean;
  readonly ms: number;
  readonly code: number | null;
  /** Last lines of the output. */
  readonly tail: string;
  readonly log: string | null;
}

export interface Validation {
  readonly ok: boolean;
  readonly gates: readonly GateResult[];
  readonly findings: readonly Finding[];
}

/** How long another process may hold the lock under which worktrees are made. Milliseconds. */
const WORKTREE_WAIT = 120_000;

/** A detached worktree of `commit` outside the git dir; made one at a time in a repository. */
export async function openGateWorktree(
  context: Context,
  operation: OperationId,
  name: string,
  commit: Oid,
): Promise<ScratchWorktree> {
  const lock = await context.locks.acquire('worktrees', WORKTREE_WAIT);
  try {
    return await context.checkouts.addScratch(join(context.gateRoot, operation, name), commit);
  } finally {
    lock.release();
  }
}

/** Removes a gate's worktree, and the operation's folder of such when it was the last. */
export async function closeGateWorktree(context: Context, scratch: ScratchWorktree): Promise<void> {
  await context.checkouts.removeScratch(scratch);
  await rmdir(dirname(scratch.path)).catch(() => undefined);
}

/** Runs all gates on one commit, stopping at the first red one. With `quiet` a verdict is only looked at and stored. */
export async function runGates(
  context: Context,
  operation: OperationId,
  commit: Oid,
  tree: Oid,
  gates: readonly GateSetting[],
): Promise<Validation> {
  const results: GateResult[] = [];
  const findings: Finding[] = [];
  let scratch: ScratchWorktree | undefined;
  try {
    for (const gate of gates) {
      const earlier = context.ledger().findVerdict(tree, gate.command);
      if (earlier?.ok === true) {
        results.push({
          ...gate,
          outcome: 'passed',
          known: true,
          ms: earlier.ms,
          code: 0,
          tail: '',
          log: null,
        });
        continue;
      }
      if (scratch === undefined) {
        context.narrator.step('checking out the merged tree for the gate');
        scratch = await openGateWorktree(context, operation, `gate-${tree.slice(0, 12)}`, commit);
        await requireTree(context, scratch, commit, tree);
      }
      context.narrator.step(`gate ${gate.name}: ${gate.command}`);
      const log = join(
        context.place.stateDir,
        'operations',
        operation,
        `gate-${slugOf(gate.name)}-${tree.slice(0, 12)}.log`,
      );
      const result = await context.runner.run({
        command: gate.command,
        cwd: scratch.path,
        env: { SENNIT_OPERATION: operation, SENNIT_TREE: tree },
        timeoutMs: context.settings.gates.timeoutMs,
        outputLimit: context.settings.gates.outputBytes,
        logFile: log,
      });
      results.push({
        ...gate,
        outcome: result.outcome,
        known: false,
        ms: result.ms,
        code: result.code,
        tail: result.tail,
        log,
      });
      findings.push(...strayFindings(gate, result), ...(await driftFindings(context, scratch, gate, commit)));
      const ok = result.outcome === 'passed';
      if (result.outcome !== 'not-started')
        context.ledger().saveVerdict({ tree, command: gate.command, ok, ms: result.ms });
      if (!ok) return { ok: false, gates: results, findings };
    }
    return { ok: true, gates: results, findings };
  } finally {
    if (scratch !== undefined) await closeGateWorktree(context, scratch);
  }
}

/** The gate must see exactly the tree that would be landed. */
async function requireTree(
  context: Context,
  scratch: ScratchWorktree,
  commit: Oid,
  tree: Oid,
): Promise<void> {
  const dirty = await context.checkouts.listDirty(asWorktree(scratch, commit));
  if (dirty.length === 0) return;
  throw new SennitError(
    'landing_refused',
    `The merged tree ${tree.slice(0, 12)} cannot be checked out as it is: ${dirty.slice(0, 5).map(displayPath).join(', ')} differ on disk.`,
    {
      hint: 'A content filter or a file system that folds case does this. `sennit doctor` looks for known causes.',
      paths: dirty.map(displayPath),
    },
  );
}

function asWorktree(scratch: ScratchWorktree, head: Oid): Parameters<Context['checkouts']['listDirty']>[0] {
  return { ...scratch, primary: false, branch: null, head, locked: null, exists: true, linked: true };
}

function strayFindings(gate: GateSetting, result: CommandResult): Finding[] {
  if (result.strays === 0) return [];
  return [
    {
      check: 'gate_strays',
      severity: 'info',
      message: `Gate ${gate.name} left ${result.strays} processes behind; they were ended.`,
    },
  ];
}

/** Tracked files that a gate changed: what was tested at the end is then not quite what is landed. */
async function driftFindings(
  context: Context,
  scratch: ScratchWorktree,
  gate: GateSetting,
  commit: Oid,
): Promise<Finding[]> {
  const tracked = await context.checkouts.listChangedTracked(asWorktree(scratch, commit));
  if (tracked.length === 0) return [];
  return [
    {
      check: 'gate_drift',
      severity: 'warning',
      message: `Gate ${gate.name} changed tracked files; the landing holds them as they were before: ${tracked.slice(0, 5).map(displayPath).join(', ')}.`,
      paths: tracked.map(displayPath),
    },
  ];
}

/** The gates of a landing: those of the settings and those given for it, under unique names. */
export function gatesOf(context: Context, extra: readonly string[], none: boolean): GateSetting[] {
  if (none) return [];
  const named = context.settings.gates.root.map(({ name, command }) => ({ name, command }));
  const taken = new Set(named.map(({ name }) => name));
  for (const command of extra) {
    let name = extra.length === 1 ? 'gate' : 'gate-1';
    for (let n = 1; taken.has(name); n += 1) name = `gate-${n}`;
    taken.add(name);
    named.push({ name, command });
  }
  const seen = new Set<string>();
  return named.filter(({ command }) => {
    const key = createHash('sha256').update(command).digest('hex');
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
