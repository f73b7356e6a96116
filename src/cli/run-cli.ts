// One call of the command from its words to its exit. Standard output gets the answer and nothing else (with --json one
// JSON value, whatever happens), standard error the story. Everything that a command needs is loaded when it is called.
// The process ends after the answer is written out; a reader that has gone away is no error.

import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type Answer, type CommandName, newAnswer } from '../model/answer.ts';
import type { CommandOutcome } from '../model/commands.ts';
import { SennitError } from '../model/errors.ts';
import { failureOutcome, renderFailure, renderStack } from './failure.ts';
import { type Interruption, watchSignals } from './interruption.ts';
import { canRewriteLine, createNarrator } from './narrator.ts';
import type { Actions } from './program.ts';
import { createStyle, safeText, safeValue, wantsColor } from './terminal.ts';
import { UsageStop } from './usage.ts';

interface OutputFlags {
  readonly json: boolean;
  readonly debug: boolean;
  readonly noColor: boolean;
}

interface Call {
  readonly words: readonly string[];
  readonly version: string;
  readonly interruption: Interruption;
  readonly narrator: ReturnType<typeof createNarrator>;
  /** Told the command as soon as it is known. */
  begin(command: CommandName): void;
}

/** Runs the command line `words` and ends the process with its exit code. */
export async function runCli(words: readonly string[], version: string): Promise<never> {
  const { stdout, stderr, env } = process;
  // Errors of writing are told to the callbacks of the writes.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  const flags = scanFlags(words);
  const interruption = watchSignals();
  const narrator = createNarrator({
    write: (text) => stderr.write(text),
    live: canRewriteLine(stderr.isTTY, env),
    silent: flags.json,
    columns: () => stderr.columns || 80,
    elapsed: () => performance.now(),
  });
  const stray = new Promise<never>((_, reject) => {
    process.on('uncaughtException', reject);
  });
  let command: CommandName = 'sennit';
  let outcome: CommandOutcome;
  let thrown: unknown;
  let help = '';
  try {
    const begin = (name: CommandName): void => {
      command = name;
    };
    outcome = await Promise.race([execute({ words, version, interruption, narrator, begin }), stray]);
  } catch (error) {
    thrown = error instanceof UsageStop ? error.failure : error;
    if (error instanceof UsageStop) {
      command = error.command;
      help = error.incomplete?.helpInformation() ?? '';
    }
    outcome = failureOutcome(command, thrown, interruption.caught());
  }
  narrator.done();
  if (help !== '' && !flags.json) await say(`${help}\n`);
  if (flags.debug && thrown !== undefined) await say(safeText(renderStack(thrown)));
  try {
    await (flags.json ? write(stdout, `${JSON.stringify(outcome.answer)}\n`) : writeText(outcome, flags));
  } catch (error) {
    // The answer has nowhere to go, a full disk for example: what was done stays done.
    const lost = failureOutcome(command, error, undefined);
    await say(renderFailure(lost, createStyle(false)));
    process.exit(outcome.exitCode === 0 ? lost.exitCode : outcome.exitCode);
  }
  process.exit(outcome.exitCode);
}

/** The flags that say how to speak, before anything is parsed: also wrong usage is told in the right way. */
function scanFlags(words: readonly string[]): OutputFlags {
  const end = words.indexOf('--');
  const flags = end === -1 ? words : words.slice(0, end);
  return {
    json: flags.includes('--json'),
    debug: flags.includes('--debug'),
    noColor: flags.includes('--no-color'),
  };
}

/** True for a bare `sennit status`, which prompts and other programs ask for again and again: it starts in half the time
 * when no command line is parsed for it. */
function isBareStatus(words: readonly string[]): boolean {
  const [only, ...more] = words.filter((word) => !['--json', '--no-color', '--debug'].includes(word));
  return only === 'status' && more.length === 0;
}

async function execute({ words, version, interruption, narrator, begin }: Call): Promise<CommandOutcome> {
  let changes: readonly string[] = [];
  let outcome: CommandOutcome | undefined;
  let printed = '';
  const answer = (made: Answer): void => {
    outcome = { answer: made, exitCode: 0 };
  };
  const actions: Actions = {
    run: async (command, call) => {
      begin(command);
      const cwd = workingDirectory(changes);
      const { createCommands } = await import('../compose.ts');
      const commands = createCommands({ cwd, env: process.env, narrator, signal: interruption.abort });
      outcome = await Promise.race([call(commands), interruption.expired]);
    },
    printSchema: async (name) => {
      begin('schema');
      const { renderSchema } = await import('./schemas.ts');
      answer(newAnswer('schema', 'printed', { schema: renderSchema(name) }));
    },
    printCompletion: async (shell) => {
      begin('completion');
      const { renderCompletionScript } = await import('./completion.ts');
      answer(newAnswer('completion', 'printed', { text: renderCompletionScript(shell) }));
    },
    completeWords: async (typed) => {
      begin('completion');
      const [{ renderCompletions }, { buildProgram }] = await Promise.all([
        import('./completion.ts'),
        import('./program.ts'),
      ]);
      answer(
        newAnswer('completion', 'printed', {
          text: renderCompletions(buildProgram(actions, version, false), typed),
        }),
      );
    },
    print: (text) => {
      printed += text;
    },
  };
  if (isBareStatus(words)) {
    await actions.run('status', (commands) => commands.status());
    if (outcome !== undefined) return outcome;
  }
  const { buildProgram } = await import('./program.ts');
  const program = buildProgram(actions, version);
  program.hook('preAction', () => {
    changes = program.opts<{ readonly C?: readonly string[] }>().C ?? [];
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof UsageStop) || error.printed === undefined) throw error;
    answer(newAnswer(error.printed, 'printed', { text: printed }));
  }
  if (outcome === undefined) throw new Error(`no answer to ${words.join(' ')}`);
  return outcome;
}

/** Where a command starts: the working directory, changed by each -C in turn. */
function workingDirectory(changes: readonly string[]): string {
  let here = '/';
  try {
    // A directory that is gone does not matter where -C names another.
    if (!changes.some((change) => isAbsolute(change))) here = process.cwd();
  } catch (error) {
    throw new SennitError('repository_missing', 'The current directory is not there any more.', {
      hint: 'Change to a directory of the repository, or name one with -C <dir>.',
      cause: error,
    });
  }
  const dir = resolve(here, ...changes);
  if (changes.length > 0 && statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SennitError('usage_wrong', `-C ${changes.join(' -C ')}: ${dir} is not a directory.`, {
      hint: 'Name an existing directory in the repository or one of its worktrees.',
      paths: [dir],
    });
  }
  return dir;
}

/** Writes an answer for people. One that holds nothing but a failure goes to standard error. */
async function writeText(outcome: CommandOutcome, flags: OutputFlags): Promise<void> {
  const { stdout, stderr, env } = process;
  const style = (stream: NodeJS.WriteStream): ReturnType<typeof createStyle> =>
    createStyle(wantsColor({ isTerminal: stream.isTTY, refused: flags.noColor, env }));
  const { answer } = outcome;
  if (answer.error !== null && holdsNothing(answer)) {
    await say(renderFailure({ ...outcome, answer: safeValue(answer) }, style(stderr)));
    return;
  }
  const ours = answer.text !== undefined || answer.schema !== undefined;
  const { renderAnswer } = await import('./render.ts');
  await write(stdout, renderAnswer(ours ? answer : safeValue(answer), style(stdout)));
}

function holdsNothing({ sources, paths, conflicts, gates, findings, note }: Answer): boolean {
  return (
    note === undefined && [sources, paths, conflicts, gates, findings].every(({ length }) => length === 0)
  );
}

/** Resolves when the text is out, or when its reader has gone away. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((done, reject) => {
    stream.write(text, (error) => {
      if (error == null || (error as NodeJS.ErrnoException).code === 'EPIPE') done();
      else reject(error);
    });
  });
}

/** Writes to standard error; where that cannot be written to, there is nobody left to tell. */
async function say(text: string): Promise<void> {
  await write(process.stderr, text).catch(() => undefined);
}
