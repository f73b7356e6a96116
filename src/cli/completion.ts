// Shell completion by @bomb.sh/tab: `sennit completion <shell>` prints the script that a shell sources, and that script
// calls `sennit complete -- <words>`. The package writes to console.log; here that is caught, so that the answer goes
// out in one piece and where it should.

import tab, { RootCommand } from '@bomb.sh/tab';
import completeCommander from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** The last line of an answer that offers nothing and forbids the shell to offer files. */
const NO_FILES = ':4';
const FILES = ':0';

/** The script for one of the shells. */
export function renderCompletionScript(shell: string): string {
  return captured(() => tab.setup('sennit', 'sennit', shell));
}

/** What can follow `words`, as the script reads it: one `value<tab>description` a line, then a directive. */
export function renderCompletions(program: Command, words: readonly string[]): string {
  const text = captured(() => {
    const root = completeCommander(program, { completionCommandName: 'completion' });
    if (!(root instanceof RootCommand)) throw new TypeError('not a root command');
    root.parse([...words]);
  });
  // Sources and workspaces are often folders: where nothing is offered, the shell may offer files.
  return text.trim() === NO_FILES ? FILES : text.trimEnd();
}

function captured(write: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (...parts: unknown[]): void => {
    lines.push(parts.join(' '));
  };
  try {
    write();
  } finally {
    console.log = log;
  }
  return `${lines.join('\n')}\n`;
}
