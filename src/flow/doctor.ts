// `sennit doctor`: looks at machine, repository, worktrees and ledger, and says what is wrong and what helps. Each check
// is apart: one that fails is a finding of its own and keeps no other from being made. With `fix` it puts right what
// cannot lose anything.

import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects } from '../ports/git.ts';
import { type Ailment, ailment } from './ailment.ts';
import type { Context } from './context.ts';
import { examineLedger } from './examine-ledger.ts';
import { examineMachine } from './examine-machine.ts';
import { examineRepository } from './examine-repository.ts';
import { examineWorktrees } from './examine-worktrees.ts';

export interface ExamineRequest {
  /** Puts right what is safe. */
  readonly fix: boolean;
  /** With `fix`: only says what it would put right. */
  readonly dryRun: boolean;
}

export interface DoctorFinding extends Finding {
  /** Whether `--fix` can put it right. */
  readonly fixable: boolean;
  readonly fixed: boolean;
}

export interface DoctorReport {
  /** `unhealthy`: something is wrong that stops work (an error) and is not fixed. */
  readonly result: 'healthy' | 'unhealthy' | 'fixed' | 'dry_run';
  /** Errors first. */
  readonly findings: readonly DoctorFinding[];
  readonly next: readonly string[];
}

const ORDER = { error: 0, warning: 1, info: 2 } as const;

/** Examines everything. */
export async function examine(context: Context, request: ExamineRequest): Promise<DoctorReport> {
  let worktrees: readonly WorktreeInfo[] = [];
  const records = async (): Promise<Ailment[]> => {
    worktrees = await context.refs.listWorktrees();
    return [];
  };
  const checks: readonly (readonly [string, () => Promise<Ailment[]>])[] = [
    ['worktree records', records],
    ['machine', () => examineMachine(context)],
    ['repository', () => examineRepository(context, worktrees)],
    ['worktrees', () => examineWorktrees(context, worktrees)],
    ['ledger', () => examineWithObjects(context, worktrees)],
  ];
  const found: Ailment[] = [];
  for (const [name, check] of checks) {
    context.narrator.step(`looking at the ${name}`);
    found.push(...(await safely(name, check)));
  }
  const findings: DoctorFinding[] = [];
  for (const one of found) findings.push(await treat(one, request));
  findings.sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  return {
    result: resultOf(findings, request),
    findings,
    next: request.fix && !request.dryRun ? [] : findings.some(isOpen) ? ['sennit doctor --fix'] : [],
  };
}

function isOpen({ fixable, fixed }: DoctorFinding): boolean {
  return fixable && !fixed;
}

async function safely(name: string, check: () => Promise<Ailment[]>): Promise<Ailment[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof SennitError && error.code === 'interrupted') throw error;
    const hint = error instanceof SennitError ? error.hint : undefined;
    return [
      ailment({
        check: 'examination_failed',
        severity: 'error',
        message: `The ${name} could not be examined: ${error instanceof Error ? error.message : String(error)}`,
        ...(hint === undefined ? {} : { remedy: hint }),
      }),
    ];
  }
}

async function examineWithObjects(context: Context, worktrees: readonly WorktreeInfo[]): Promise<Ailment[]> {
  let objects: Objects | undefined;
  try {
    if (context.readLedger() === undefined) return [];
    objects = await context.openObjects({ quarantine: true });
    return await examineLedger(context, objects, worktrees);
  } finally {
    await objects?.close();
  }
}

async function treat({ finding, fix }: Ailment, request: ExamineRequest): Promise<DoctorFinding> {
  if (fix === null || !request.fix || request.dryRun)
    return { ...finding, fixable: fix !== null, fixed: false };
  try {
    await fix();
    return { ...finding, fixable: true, fixed: true };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return {
      ...finding,
      message: `${finding.message} It could not be put right: ${said}`,
      fixable: true,
      fixed: false,
    };
  }
}

function resultOf(findings: readonly DoctorFinding[], request: ExamineRequest): DoctorReport['result'] {
  if (request.fix && request.dryRun) return 'dry_run';
  if (findings.some(({ severity, fixed }) => severity === 'error' && !fixed)) return 'unhealthy';
  return findings.some(({ fixed }) => fixed) ? 'fixed' : 'healthy';
}
