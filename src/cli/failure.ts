// The one place that turns an error into an answer and an exit code. A SennitError is what it says; errors of the
// operating system that a user can act on become one; anything else is a bug of Sennit, told in one line, with its
// stack only for --debug. A command that was interrupted ends with 128 plus the number of the signal, as shells expect.

import { constants } from 'node:os';
import { answerError, type CommandName, newAnswer, resultOfError } from '../model/answer.ts';
import type { CommandOutcome } from '../model/commands.ts';
import { SennitError } from '../model/errors.ts';
import type { Style } from './terminal.ts';
import { findUnnamedPaths } from './unnamed-paths.ts';

/** The answer and exit code for whatever was thrown; `signal` is the one that the user stopped the command with. */
export function failureOutcome(
  command: CommandName,
  thrown: unknown,
  signal: NodeJS.Signals | undefined,
): CommandOutcome {
  const error = signal === undefined ? asSennitError(thrown) : interruptedBy(signal, thrown);
  const answer = newAnswer(command, resultOfError(error), { error: answerError(error), next: error.next });
  return { answer, exitCode: signal === undefined ? error.exitCode : 128 + constants.signals[signal] };
}

/** What an error means to the user. */
export function asSennitError(thrown: unknown): SennitError {
  if (thrown instanceof SennitError) return thrown;
  const known = systemError(thrown);
  if (known !== undefined) return known;
  const said = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new SennitError('internal_bug', `This is a bug in Sennit: ${said.split('\n')[0]}`, {
    hint: 'Run the command again with --debug and report what it prints. `sennit doctor` shows whether anything needs mending.',
    cause: thrown,
  });
}

function interruptedBy(signal: NodeJS.Signals, thrown: unknown): SennitError {
  const paths = thrown instanceof SennitError ? thrown.paths : [];
  return new SennitError('interrupted', `Stopped by ${signal}.`, {
    hint: 'Nothing is lost: the next sennit command finishes or takes back what was begun. `sennit status` shows what waits.',
    retryable: true,
    cause: thrown,
    paths,
    next: ['sennit status'],
  });
}

function systemError(thrown: unknown): SennitError | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  const { code, path } = thrown as NodeJS.ErrnoException;
  const where = typeof path === 'string' ? path : undefined;
  const details = { cause: thrown, paths: where === undefined ? [] : [where] };
  const at = where === undefined ? '' : ` at ${where}`;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new SennitError('disk_full', `There is no space left${at}.`, {
        ...details,
        hint: 'Free some space and run the command again; nothing is lost.',
        retryable: true,
      });
    case 'EROFS':
      return new SennitError('repository_readonly', `The file system is mounted read-only${at}.`, {
        ...details,
        hint: "Sennit keeps its records in the repository's git directory: make it writable.",
      });
    case 'EACCES':
    case 'EPERM':
      return new SennitError('repository_readonly', `The system does not let this user write or read${at}.`, {
        ...details,
        hint: 'Check who owns it and its access rights.',
      });
    default:
      return undefined;
  }
}

/** The text of a failure for standard error. */
export function renderFailure({ answer }: CommandOutcome, style: Style): string {
  const { error } = answer;
  if (error === null) return '';
  const lines = [`${style.red('error:')} ${error.message} ${style.dim(`[${error.code}]`)}`];
  const unsaid = findUnnamedPaths(error.message, error.paths);
  for (const path of unsaid.slice(0, MOST_PATHS)) lines.push(`  ${path}`);
  if (unsaid.length > MOST_PATHS) lines.push(`  and ${unsaid.length - MOST_PATHS} more`);
  lines.push(`${style.bold('hint:')} ${error.hint}`);
  for (const command of answer.next) lines.push(`${style.bold('next:')} ${command}`);
  return `${lines.join('\n')}\n`;
}

/** Paths of one failure that are printed; `--json` has all. */
const MOST_PATHS = 20;

/** The stack of an error and of its causes, for --debug. */
export function renderStack(thrown: unknown): string {
  const stacks: string[] = [];
  for (let error = thrown; error !== undefined && stacks.length < 10; ) {
    stacks.push(error instanceof Error ? (error.stack ?? String(error)) : String(error));
    error = error instanceof Error ? error.cause : undefined;
  }
  return `${stacks.join('\ncaused by: ')}\n`;
}
