import type { Command, Help, Option } from 'commander';

/** Examples of each command, first in its help: what to type, and what it does. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [command: string, does: string])[]>> = {
  sennit: [
    ['sennit land ../wt-cart ../wt-search feature-login', 'land two worktrees and a branch as one commit'],
    ["sennit forecast 'wt/*'", 'see which of them will collide, before merging'],
    ['sennit undo', 'take the last landing back'],
  ],
  land: [
    [
      'sennit land ../wt-cart ../wt-search feature-login --into main',
      'land their work, also what is not committed',
    ],
    ["sennit land 'wt/*' --gate 'npm test'", 'land only if the merged tree passes its tests'],
    ["sennit land 'wt/*' --drop-culprits --push", 'leave out what turns the gate red, push the rest'],
    ['sennit land ../wt-cart --dry-run', 'see what would happen'],
  ],
  forecast: [
    ["sennit forecast ../wt-cart ../wt-search 'wt/*'", 'what collides with what, and the best order'],
  ],
  conflicts: [['sennit conflicts', 'what has to be settled, and where']],
  resolve: [
    ['sennit resolve src/cart.ts --take change', 'take the version of the source that is being merged'],
    ['sennit resolve src/cart.ts --take file ./mine.ts', 'take the content of a file'],
  ],
  continue: [['sennit continue', 'go on after all conflicts are settled, by resolve or by editing in place']],
  abort: [['sennit abort', 'give the waiting landing up; nothing has been changed by it']],
  status: [['sennit status', 'what waits and what runs']],
  gc: [
    ['sennit gc', 'which workspaces can go without losing anything'],
    ['sennit gc ../wt-cart --apply', 'remove this worktree after proof that its work has landed'],
  ],
  'archive list': [['sennit archive list', 'work that was put aside']],
  'archive show': [['sennit archive show 20261130-142501-k3f9-cart', 'what it holds']],
  'archive restore': [
    ['sennit archive restore 20261130-142501-k3f9-cart --branch cart-again', 'bring it back as a branch'],
  ],
  undo: [
    ['sennit undo --dry-run', 'see what the last operation changed'],
    ['sennit undo', 'take it back'],
  ],
  log: [['sennit log', 'everything that was done here with sennit']],
  doctor: [
    ['sennit doctor', 'look for known faults of the repository and of git'],
    ['sennit doctor --fix', 'put right what can be put right safely'],
  ],
  'config explain': [['sennit config explain', 'each setting, its value and where it is from']],
  schema: [
    ['sennit schema config > sennit.schema.json', 'what sennit.yaml may hold, for editors'],
    ['sennit schema answer', 'what --json prints'],
  ],
  completion: [
    ['source <(sennit completion bash)', 'complete commands and flags in this shell'],
    ['sennit completion fish > ~/.config/fish/completions/sennit.fish', 'and in every one'],
  ],
};

/** The name of a command from the program down: `archive list`; `sennit` for the program itself. */
export function fullNameOf(command: Command): string {
  const above = command.parent;
  if (above === null) return command.name();
  return above.parent === null ? command.name() : `${fullNameOf(above)} ${command.name()}`;
}

function rows(title: string, items: readonly (readonly [string, string])[]): string[] {
  if (items.length === 0) return [];
  const width = Math.max(...items.map(([term]) => term.length));
  return [`${title}:`, ...items.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`.trimEnd()), ''];
}

/** The help of a command: what it does, examples, and then usage, arguments and options. */
export function renderHelp(command: Command, help: Help): string {
  const examples = EXAMPLES[fullNameOf(command)] ?? [];
  const option = (each: Option): [string, string] => [help.optionTerm(each), help.optionDescription(each)];
  const isProgram = command.parent === null;
  return [
    `${help.commandDescription(command)}`,
    '',
    ...(examples.length === 0
      ? []
      : ['Examples:', ...examples.flatMap(([text, does]) => [`  $ ${text}`, `      ${does}`]), '']),
    `Usage: ${help.commandUsage(command)}`,
    '',
    ...rows(
      'Arguments',
      help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ),
    ...rows(
      'Commands',
      help.visibleCommands(command).map((each) => [each.name(), help.subcommandDescription(each)]),
    ),
    ...rows('Options', help.visibleOptions(command).map(option)),
    ...(isProgram ? [] : ['Options of every command: --json, --debug, --no-color, -C <dir>', '']),
    ...(isProgram ? [EXIT_CODES, ''] : []),
  ].join('\n');
}

const EXIT_CODES =
  'Exit codes: 0 done; 1 failed; 2 wrong usage or settings; 3 conflicts wait for you, nothing lost;\n' +
  '4 a gate is red; 5 busy, try again; 70 a bug in sennit; 128+n stopped by signal n.';
