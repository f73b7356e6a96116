import {
  type Answer,
  type AnswerArchive,
  type AnswerOperation,
  type AnswerWorkspace,
  answerError,
  newAnswer,
  resultOfError,
} from '../model/answer.ts';
import { SennitError } from '../model/errors.ts';
import { displayPath } from '../model/ids.ts';
import type { RestoreReport, ShownArchive } from './archive.ts';
import type { ArchiveEntry } from './archive-entry.ts';
import type { CleanUpReport, WorkspaceReport } from './clean-up.ts';
import type { DoctorReport } from './doctor.ts';
import type { LogEntry } from './log.ts';
import type { StatusReport, StatusWorktree } from './status.ts';
import type { UndoReport } from './undo.ts';

/** The answer for a clean-up. What was named and had to stay makes it a failure; all else was done. */
export function cleanUpAnswer(report: CleanUpReport): Answer {
  const parts = {
    operation: report.operation,
    workspaces: report.workspaces.map(answerWorkspace),
    findings: [
      ...report.findings,
      ...report.leavings.map(({ what, name, why }) => ({
        check: 'leaving_found',
        severity: 'info' as const,
        message: `${what} ${name}: ${why}`,
      })),
    ],
    next: report.next,
  };
  if (report.failure === null) return newAnswer('gc', report.result, parts);
  return newAnswer('gc', resultOfError(report.failure), { ...parts, error: answerError(report.failure) });
}

function answerWorkspace({ path, branch, action, reason, ignored }: WorkspaceReport): AnswerWorkspace {
  return { path, branch, action, reason, ignored: ignored.map((one) => one.path) };
}

export function archiveListAnswer(entries: readonly ArchiveEntry[]): Answer {
  return newAnswer('archive list', entries.length === 0 ? 'none' : 'listed', {
    archives: entries.map(answerArchive),
    next: entries.slice(0, 1).map(({ id }) => `sennit archive show ${id}`),
  });
}

export function archiveShowAnswer({ entry, paths, kept }: ShownArchive): Answer {
  const note = kept === null ? '' : ` Ignored files that come back with it: ${kept.names.join(', ')}.`;
  return newAnswer('archive show', 'shown', {
    commit: entry.commit,
    tree: entry.tree,
    archives: [
      { ...answerArchive(entry), paths: paths.map(({ path, change }) => `${change} ${displayPath(path)}`) },
    ],
    note: `${entry.reason}.${entry.path === null ? '' : ` It was at ${entry.path}.`}${note}`,
    next: [`sennit archive restore ${entry.id}`],
  });
}

function answerArchive({ id, ref, commit, created, name }: ArchiveEntry): AnswerArchive {
  return { id, ref, commit, created, subject: name };
}

export function restoreAnswer(report: RestoreReport): Answer {
  return newAnswer('archive restore', report.result, {
    operation: report.operation,
    commit: report.entry.commit,
    archives: [answerArchive(report.entry)],
    findings: report.findings,
    refs:
      report.branch === null || report.path !== null
        ? []
        : [{ ref: report.branch, from: null, to: report.entry.commit }],
    ...(report.path === null ? {} : { note: `The workspace is at ${report.path}.` }),
    next: report.next,
  });
}

export function undoAnswer(report: UndoReport): Answer {
  const folders = [
    ...report.restored.map((folder) => `${folder} is back`),
    ...report.removed.map((folder) => `${folder} is gone`),
  ];
  return newAnswer('undo', report.result, {
    operation: report.operation,
    target: report.target,
    refs: report.refs,
    findings: report.findings,
    note: `It takes back the ${report.kind} ${report.undoes}.${folders.length === 0 ? '' : ` ${folders.join('; ')}.`}`,
    next: report.next,
  });
}

function answerOperation({
  id,
  kind,
  state,
  target,
  created,
  updated,
  commit,
  sources,
}: LogEntry): AnswerOperation {
  return { id, kind, state, target, created, updated, commit, sources };
}

export function logAnswer(entries: readonly LogEntry[]): Answer {
  return newAnswer('log', entries.length === 0 ? 'none' : 'listed', {
    operations: entries.map(answerOperation),
  });
}

export function statusAnswer(report: StatusReport): Answer {
  const [waiting] = report.operations.filter(({ handover }) => handover !== null);
  const all = [...report.operations, ...(report.lastLanding === null ? [] : [report.lastLanding])];
  return newAnswer('status', report.result, {
    target: report.branch,
    operation: report.operations[0]?.id ?? null,
    commit: report.lastLanding?.commit ?? null,
    operations: [...new Map(all.map((entry) => [entry.id, entry])).values()].map(answerOperation),
    workspaces: report.worktrees.filter(({ primary }) => !primary).map(statusWorkspace),
    handover: waiting?.handover ?? null,
    findings: report.operations.map(({ id, kind, phase, waitsFor }) => ({
      check: `operation_${phase}`,
      severity: phase === 'waiting' ? ('warning' as const) : ('info' as const),
      message:
        phase === 'running'
          ? `The ${kind} ${id} is at work.`
          : phase === 'interrupted'
            ? `The ${kind} ${id} was interrupted; the next command that changes something ends it.`
            : `The ${kind} ${id} waits: ${waitsFor}`,
    })),
    next: report.next,
  });
}

function statusWorkspace({ path, branch, state, landed }: StatusWorktree): AnswerWorkspace {
  const reason = `${state}; ${landed === null ? 'not landed' : `landed by ${landed}`}`;
  return { path, branch, action: 'keep', reason, ignored: [] };
}

/** The answer of an examination. An error that stays is a failure of the command: a program can wait for the exit code. */
export function doctorAnswer({ result, findings, next }: DoctorReport): Answer {
  const parts = {
    findings: findings.map(({ fixable: _, ...finding }) => finding),
    next,
  };
  if (result !== 'unhealthy') return newAnswer('doctor', result, parts);
  const errors = findings.filter(({ severity, fixed }) => severity === 'error' && !fixed);
  const error = new SennitError(
    'repository_unhealthy',
    errors.length === 1
      ? (errors[0]?.message ?? '')
      : `${errors.length} things stop work in this repository.`,
    { hint: errors.find(({ remedy }) => remedy !== undefined)?.remedy ?? 'The findings say what helps.' },
  );
  return newAnswer('doctor', result, { ...parts, error: answerError(error) });
}
