import type { Command, CommanderError } from 'commander';
import type { CommandName } from '../model/answer.ts';
import { SennitError } from '../model/errors.ts';

/** Ends the parsing of a command line: help or version were asked for and have been printed, or the usage is wrong. */
export class UsageStop extends Error {
  /** The command that was recognised, as far as it was. */
  readonly command: CommandName;
  /** `help` or `version` where these were asked for. */
  readonly printed: 'help' | 'version' | undefined;
  /** What is wrong, where nothing was asked for. */
  readonly failure: SennitError;
  /** The command whose subcommand is missing, for its help. */
  readonly incomplete: Command | undefined;

  constructor(command: CommandName, reason: CommanderError | SennitError, parsed?: Command) {
    super(reason.message);
    this.command = command;
    this.printed = reason instanceof SennitError ? undefined : printedBy(reason);
    this.failure = reason instanceof SennitError ? reason : usageFailure(reason, parsed);
    this.incomplete = lacksCommand(reason) ? parsed : undefined;
  }
}

/** True for a group of commands of which none was named. */
function lacksCommand(reason: CommanderError | SennitError): boolean {
  return reason.code === 'commander.help' && reason.exitCode !== 0;
}

function printedBy({ code, exitCode }: CommanderError): 'help' | 'version' | undefined {
  if (code === 'commander.helpDisplayed' || (code === 'commander.help' && exitCode === 0)) return 'help';
  return code === 'commander.version' ? 'version' : undefined;
}

/** What commander says, as a failure: `error: unknown option '--jsn'\n(Did you mean --json?)`. */
function usageFailure(error: CommanderError, parsed: Command | undefined): SennitError {
  const names: string[] = [];
  for (let at: Command | null | undefined = parsed; at != null; at = at.parent) names.unshift(at.name());
  const help = `\`${[...names, '--help'].join(' ')}\` shows examples.`;
  if (lacksCommand(error)) {
    const known =
      parsed?.commands.map((command) => command.name()).filter((name) => name !== 'complete') ?? [];
    return new SennitError('usage_wrong', `${names.join(' ')} needs a command: ${known.join(', ')}.`, {
      hint: help,
    });
  }
  const [, said = '', meant] =
    /^(?:error: )?([\s\S]*?)(?:\n\((Did you mean [\s\S]*)\))?$/.exec(error.message) ?? [];
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return new SennitError('usage_wrong', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, {
    hint: meant === undefined ? help : `${meant} ${help}`,
  });
}
