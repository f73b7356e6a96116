import type { Answer, AnswerWorkspace, ResultWord } from '../model/answer.ts';

/** `1 source`, `3 sources`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The first digits of an object id, enough for people. */
export function shortId(oid: string): string {
  return oid.slice(0, 10);
}

const branchOf = ({ target }: Answer): string => target ?? 'the target';
const commitOf = ({ commit }: Answer): string => (commit === null ? '' : ` as ${shortId(commit)}`);

function actedOn(answer: Answer, action: AnswerWorkspace['action']): number {
  return answer.workspaces?.filter((workspace) => workspace.action === action).length ?? 0;
}

function landed(answer: Answer): string {
  const merged = answer.sources.filter(({ state }) => state === 'merged').length;
  const dropped = answer.sources.filter(({ state }) => state === 'dropped').length;
  const without = dropped === 0 ? '' : ` without ${countOf(dropped, 'source')} that turned the gate red`;
  const pushed = answer.pushed == null ? '' : ` and pushed to ${answer.pushed}`;
  return `Landed ${countOf(merged, 'source')} on ${branchOf(answer)}${commitOf(answer)}${without}${pushed}.`;
}

function dryRun(answer: Answer): string {
  const end = 'Nothing has been changed: this was a dry run.';
  if (answer.command === 'gc') {
    return `${countOf(actedOn(answer, 'remove'), 'workspace')} can go. ${end} Add --apply to act.`;
  }
  if (answer.command !== 'land' && answer.command !== 'continue') return end;
  const { conflicts } = answer;
  if (conflicts.length > 0) return `${countOf(conflicts.length, 'conflict')} would stop this landing. ${end}`;
  const merged = answer.sources.filter(({ state }) => state === 'merged').length;
  return `${countOf(merged, 'source')} would land on ${branchOf(answer)}. ${end}`;
}

function listed(answer: Answer): string {
  switch (answer.command) {
    case 'conflicts':
      return `${countOf(answer.conflicts.length, 'conflict')} to settle before ${branchOf(answer)} can have this landing.`;
    case 'archive list':
      return `${countOf(answer.archives?.length ?? 0, 'archive')}.`;
    default:
      return '';
  }
}

function none(answer: Answer): string {
  switch (answer.command) {
    case 'conflicts':
      return 'No conflict is left to settle.';
    case 'archive list':
      return 'There is no archive.';
    case 'log':
      return 'Nothing has been done here with sennit yet.';
    default:
      return 'There is nothing to clean up.';
  }
}

const HEADLINES: Readonly<Record<ResultWord, (answer: Answer) => string>> = {
  landed,
  nothing_new: (answer) => `There is nothing new to land on ${branchOf(answer)}.`,
  dry_run: dryRun,
  conflicts: (answer) =>
    `${countOf(answer.conflicts.length, 'conflict')} to settle. ${branchOf(answer)} and all sources are as they were.`,
  gate_red: (answer) => `The gate is red. ${branchOf(answer)} and all sources are as they were.`,
  parked: (answer) =>
    `Merged and validated${commitOf(answer)}, but not landed: something is in the way in a checkout of ${branchOf(answer)}.`,
  clean: (answer) => `No two of ${countOf(answer.forecast?.order.length ?? 0, 'source')} collide.`,
  collisions: ({ forecast }) =>
    `${countOf(forecast?.collisions.length ?? 0, 'pair')} of ${forecast?.pairs ?? 0} will collide.`,
  listed,
  none,
  resolved: ({ conflicts }) =>
    conflicts.length === 0
      ? 'Settled; that was the last conflict.'
      : `Settled; ${countOf(conflicts.length, 'conflict')} left.`,
  aborted: () => 'The landing was given up. Branches and sources are as they were before it.',
  idle: () => 'Nothing waits and nothing runs.',
  waiting: () => 'A landing waits for you.',
  running: () => 'An operation is running.',
  cleaned: (answer) => `Removed ${countOf(actedOn(answer, 'removed'), 'workspace')}.`,
  shown: () => '',
  restored: (answer) => `Restored${answer.target === null ? '' : ` as branch ${answer.target}`}.`,
  undone: (answer) => `Undone${answer.operation === null ? '' : `: ${answer.operation}`}.`,
  healthy: () => 'All is well.',
  unhealthy: ({ findings }) =>
    `${countOf(findings.filter(({ severity }) => severity === 'error').length, 'problem')} found.`,
  fixed: ({ findings }) =>
    `${countOf(findings.filter(({ fixed }) => fixed === true).length, 'problem')} put right.`,
  explained: () => '',
  printed: () => '',
  failed: () => 'Failed.',
  refused: () => 'Refused.',
  pending: () => 'Another operation has to be finished first.',
  busy: () => 'Busy; try again.',
  bug: () => 'This is a bug in Sennit.',
  interrupted: () => 'Stopped.',
};

/** What came of a command, as one sentence or two; empty where the rest says it. */
export function headlineOf(answer: Answer): string {
  return HEADLINES[answer.result](answer);
}
