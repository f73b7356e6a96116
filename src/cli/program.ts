// The commands and flags. Thin: each action puts what was typed into the input of one command and hands it on. Nothing
// else is loaded here, so that parsing and help are quick. Contradictions that only the flags show are refused here;
// whether sources, branches and paths exist is for the commands to say.

import { Command, InvalidArgumentError, Option } from 'commander';
import { COMMAND_RESULTS, type CommandName } from '../model/answer.ts';
import { isBranchName } from '../model/branch-name.ts';
import type { CommandOutcome, Commands } from '../model/commands.ts';
import type { Take } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import { parseDisplayPath } from '../model/ids.ts';
import { fullNameOf, renderHelp } from './help.ts';
import { UsageStop } from './usage.ts';

/** What carries an action out. */
export interface Actions {
  /** Runs one command of the repository's. */
  run(name: CommandName, call: (commands: Commands) => Promise<CommandOutcome>): Promise<void>;
  printSchema(name: SchemaName): Promise<void>;
  printCompletion(shell: string): Promise<void>;
  /** Answers a shell that asks how a command line can go on. */
  completeWords(words: readonly string[]): Promise<void>;
  /** Receives the text of help and version. */
  print(text: string): void;
}

export const SCHEMA_NAMES = ['config', 'answer', 'conflicts'] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

const TAKES = ['base', 'target', 'change', 'file'] as const satisfies readonly Take[];
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** Newest operations that `log` lists unless told otherwise. */
const LOG_LIMIT = 20;

interface Flags {
  readonly into?: string;
  readonly gate?: readonly string[] | false;
  readonly dropCulprits?: true;
  readonly message?: string;
  readonly branch?: string;
  readonly push?: true;
  readonly pr?: true;
  readonly verify?: boolean;
  readonly dryRun?: true;
  readonly take?: Take;
  readonly operation?: string;
  readonly apply?: true;
  readonly archive?: true;
  readonly limit?: number;
  readonly fix?: true;
}

function usage(message: string, hint: string): SennitError {
  return new SennitError('usage_wrong', message, { hint });
}

function collect(value: string, before: readonly string[] | boolean | undefined): string[] {
  return Array.isArray(before) ? [...before, value] : [value];
}

function parseBranch(name: string): string {
  if (isBranchName(name)) return name;
  throw new InvalidArgumentError('It is not a name that git allows for a branch.');
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

const into = (): Option =>
  new Option(
    '--into <branch>',
    'branch to land on (default: target of sennit.yaml, else what is checked out)',
  );
const dryRun = (): Option => new Option('--dry-run', 'say what would happen and change nothing');
const operation = (): Option => new Option('--operation <id>', 'which operation, where several wait');

/** The whole program; without its own completion commands where another set of these is added. It throws `UsageStop` for help and wrong usage, and what an action throws. */
export function buildProgram(actions: Actions, version: string, withCompletion = true): Command {
  const program = new Command('sennit')
    .description(
      'Lands the work of several coding agents on one branch as one validated commit, with nothing lost.',
    )
    .usage('[options] <command>')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .option('--json', 'print the answer as one JSON value on standard output')
    .option('--debug', 'print stack traces')
    .option('--no-color', 'print without colours')
    .addOption(
      new Option('-C <dir>', 'run as if started in this directory').argParser(
        (dir: string, before: string[] | undefined) => collect(dir, before),
      ),
    );

  const land = program.command('land');
  const gateFlags = new Set<string>();
  land
    .on('option:gate', () => gateFlags.add('--gate'))
    .on('option:no-gate', () => gateFlags.add('--no-gate'))
    .description(
      'Merge the work of worktrees and branches, validate it, and put it on a branch as one commit.',
    )
    .argument('<source...>', 'worktrees, branches, tags, commits, or globs of them')
    .addOption(into())
    .option(
      '--gate <command>',
      'one more check that the merged tree must pass; may be given several times',
      collect,
    )
    .option('--no-gate', 'run no gate at all')
    .option('--drop-culprits', 'land without the sources that turn the gate red, and archive those')
    .option('-m, --message <message>', 'commit message')
    .option('--branch <new>', 'land on a new branch of this name instead', parseBranch)
    .option('--push', 'push the landing, never forced')
    .option('--pr', 'open or update a pull request with gh; pushes too')
    .option('--verify', "run the repository's hooks")
    .option('--no-verify', 'run no hooks, whatever sennit.yaml says')
    .addOption(dryRun())
    .action(async (sources: string[], flags: Flags) => {
      const { gate } = flags;
      if (gateFlags.size === 2) {
        throw new UsageStop(
          'land',
          usage('--gate and --no-gate contradict each other.', 'Give one of the two.'),
        );
      }
      if (Array.isArray(gate) && gate.some((each) => each.trim() === '')) {
        throw new UsageStop(
          'land',
          usage('The command of --gate is empty.', '--no-gate runs no gate at all.'),
        );
      }
      if (flags.message !== undefined && flags.message.trim() === '') {
        throw new UsageStop(
          'land',
          usage('The message of --message is empty.', 'Leave it out to have one made from the sources.'),
        );
      }
      await actions.run('land', (commands) =>
        commands.land({
          sources,
          into: flags.into,
          gates: gate === undefined || gate === false ? [] : gate,
          noGate: gate === false,
          dropCulprits: flags.dropCulprits === true,
          message: flags.message,
          branch: flags.branch,
          push: flags.push === true || flags.pr === true,
          pr: flags.pr === true,
          verify: flags.verify,
          dryRun: flags.dryRun === true,
        }),
      );
    });

  program
    .command('forecast')
    .description(
      'Say which sources will collide, where, and in which order they merge best. Changes nothing.',
    )
    .argument('<source...>', 'worktrees, branches, tags, commits, or globs of them')
    .addOption(into())
    .action((sources: string[], flags: Flags) =>
      actions.run('forecast', (commands) => commands.forecast({ sources, into: flags.into })),
    );

  program
    .command('conflicts')
    .description('List the conflicts that a landing waits for.')
    .addOption(operation())
    .action((flags: Flags) =>
      actions.run('conflicts', (commands) => commands.conflicts({ operation: flags.operation })),
    );

  program
    .command('resolve')
    .description('Settle one conflict by one of its versions, or by a file.')
    .argument('<path>', 'path as `sennit conflicts` prints it, from the root of the repository')
    .argument('[file]', 'with --take file: the file that holds the settled content')
    .addOption(
      new Option('--take <side>', 'base, target (merged so far), change (the source being merged), or file')
        .choices(TAKES)
        .makeOptionMandatory(),
    )
    .addOption(operation())
    .addOption(dryRun())
    .action(async (path: string, file: string | undefined, flags: Flags) => {
      const take = flags.take ?? 'file';
      if (take === 'file' && file === undefined) {
        throw new UsageStop(
          'resolve',
          usage('--take file needs the name of a file.', 'sennit resolve <path> --take file <file>'),
        );
      }
      if (take !== 'file' && file !== undefined) {
        throw new UsageStop(
          'resolve',
          usage(
            `--take ${take} takes no file.`,
            `sennit resolve <path> --take file <file> takes the content of a file; paths are settled one at a time.`,
          ),
        );
      }
      await actions.run('resolve', (commands) =>
        commands.resolve({
          path: parseDisplayPath(path),
          take,
          file,
          operation: flags.operation,
          dryRun: flags.dryRun === true,
        }),
      );
    });

  program
    .command('continue')
    .description('Go on with the landing that waits: take the settled conflicts, validate, land.')
    .addOption(operation())
    .addOption(dryRun())
    .action((flags: Flags) => actions.run('continue', (commands) => commands.continue(operationOf(flags))));

  program
    .command('abort')
    .description('Give the landing that waits up. Branches and sources are as they were before it.')
    .addOption(operation())
    .addOption(dryRun())
    .action((flags: Flags) => actions.run('abort', (commands) => commands.abort(operationOf(flags))));

  program
    .command('status')
    .description('Say what waits, what runs and what comes next.')
    .action(() => actions.run('status', (commands) => commands.status()));

  program
    .command('gc')
    .description(
      'Remove workspaces whose work is proved to be landed or archived. A dry run unless --apply is given.',
    )
    .argument('[workspace...]', 'worktrees by path; those that sennit did not make go only when named')
    .option('--apply', 'act')
    .option('--archive', 'remove named workspaces with work that has not landed too, once it is archived')
    .addOption(dryRun())
    .action((workspaces: string[], flags: Flags) =>
      actions.run('gc', (commands) =>
        commands.gc({
          workspaces,
          apply: flags.apply === true && flags.dryRun !== true,
          archive: flags.archive === true,
        }),
      ),
    );

  const archive = program
    .command('archive')
    .description('Look at work that was put aside, and bring it back.');
  archive
    .command('list')
    .description('List all archives.')
    .action(() => actions.run('archive list', (commands) => commands.archiveList()));
  archive
    .command('show')
    .description('Show what an archive holds.')
    .argument('<name>', 'as `sennit archive list` prints it')
    .action((name: string) => actions.run('archive show', (commands) => commands.archiveShow({ name })));
  archive
    .command('restore')
    .description('Bring an archive back as the workspace that it was. The archive stays.')
    .argument('<name>', 'as `sennit archive list` prints it')
    .argument('[path]', 'folder for the workspace; where it was when not given')
    .option('--branch <new>', 'bring it back as a new branch instead of a workspace', parseBranch)
    .addOption(dryRun())
    .action((name: string, path: string | undefined, flags: Flags) =>
      actions.run('archive restore', (commands) =>
        commands.archiveRestore({ name, path, branch: flags.branch, dryRun: flags.dryRun === true }),
      ),
    );

  program
    .command('undo')
    .description('Take the last operation back: restore the refs that it moved.')
    .addOption(operation())
    .addOption(dryRun())
    .action((flags: Flags) => actions.run('undo', (commands) => commands.undo(operationOf(flags))));

  program
    .command('log')
    .description('List what was done here with sennit, newest first.')
    .option('--limit <count>', 'how many to list', parseLimit, LOG_LIMIT)
    .action((flags: Flags) =>
      actions.run('log', (commands) => commands.log({ limit: flags.limit ?? LOG_LIMIT })),
    );

  program
    .command('doctor')
    .description('Look for known faults of the repository, of git and of sennit, each with its remedy.')
    .option('--fix', 'put right what can be put right safely')
    .addOption(dryRun())
    .action((flags: Flags) =>
      actions.run('doctor', (commands) =>
        commands.doctor({ fix: flags.fix === true, dryRun: flags.dryRun === true }),
      ),
    );

  const config = program.command('config').description('Look at the settings.');
  config
    .command('explain')
    .description('Say of each setting what it is and where it is from.')
    .addOption(into())
    .action((flags: Flags) =>
      actions.run('config explain', (commands) => commands.configExplain({ into: flags.into })),
    );

  const schema = program
    .command('schema')
    .description('Print a JSON Schema: of sennit.yaml, of answers, of the conflicts packet.');
  schema
    .addArgument(schema.createArgument('<name>', SCHEMA_NAMES.join(', ')).choices(SCHEMA_NAMES))
    .action((name: SchemaName) => actions.printSchema(name));

  if (withCompletion) addCompletion(program, actions);
  for (const command of withSubcommands(program)) prepare(command, actions);
  return program;
}

function addCompletion(program: Command, actions: Actions): void {
  const completion = program
    .command('completion')
    .description('Print a script that completes commands and flags in a shell.');
  completion
    .addArgument(completion.createArgument('<shell>', SHELLS.join(', ')).choices(SHELLS))
    .action((shell: string) => actions.printCompletion(shell));

  program
    .command('complete', { hidden: true })
    .argument('[word...]')
    .action((words: string[]) => actions.completeWords(words));
}

function operationOf(flags: Flags): { operation: string | undefined; dryRun: boolean } {
  return { operation: flags.operation, dryRun: flags.dryRun === true };
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_RESULTS, name);
}

/** Makes a command throw instead of writing and ending the process. */
function prepare(command: Command, actions: Actions): void {
  const fullName = fullNameOf(command);
  command
    .configureHelp({ formatHelp: renderHelp })
    .configureOutput({ writeOut: (text) => actions.print(text), writeErr: () => undefined })
    .exitOverride((error) => {
      throw new UsageStop(isCommandName(fullName) ? fullName : 'sennit', error, command);
    });
}
