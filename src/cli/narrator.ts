// Progress, on standard error and never before a command has run for a second: what is quick says nothing. On a
// terminal one line is rewritten in place and gone before the answer is printed; elsewhere (a pipe, a log, CI) a line
// is written at most once in a few seconds. With --json it is silent. Nothing waits for it: its timer does not keep the
// process alive.

import type { ComposeOptions } from '../compose.ts';
import { safeText } from './terminal.ts';

type Narrator = ComposeOptions['narrator'];

export interface NarratorOptions {
  write(text: string): void;
  /** True where a line can be rewritten. */
  readonly live: boolean;
  readonly silent: boolean;
  /** Width of the terminal. */
  columns(): number;
  /** Milliseconds since the command started. */
  elapsed(): number;
}

/** Nothing is said before this many milliseconds. */
const QUIET_MS = 1000;
/** Shortest time between two changes of the live line, and between two lines of a log. */
const LIVE_PAUSE_MS = 100;
const LOG_PAUSE_MS = 3000;
const ERASE_LINE = '\r\u001b[2K';

/** Whether the live line can be used on this standard error. */
export function canRewriteLine(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const inCi = !['', '0', 'false'].includes(env['CI'] ?? '');
  return isTerminal && !inCi && env['TERM'] !== 'dumb';
}

export function createNarrator(options: NarratorOptions): Narrator {
  let waiting: string | undefined;
  let onScreen = false;
  let nextAt = QUIET_MS;
  let timer: NodeJS.Timeout | undefined;

  const show = (): void => {
    timer = undefined;
    if (waiting === undefined) return;
    const text = safeText(waiting).replaceAll('\n', ' ');
    waiting = undefined;
    nextAt = options.elapsed() + (options.live ? LIVE_PAUSE_MS : LOG_PAUSE_MS);
    if (!options.live) {
      options.write(`sennit: ${text}\n`);
      return;
    }
    const letters = [...text];
    const room = Math.max(10, options.columns() - 3);
    options.write(
      `${ERASE_LINE}${letters.length > room ? `${letters.slice(0, room - 1).join('')}…` : text} …`,
    );
    onScreen = true;
  };

  return {
    step(text) {
      if (options.silent) return;
      waiting = text;
      const wait = nextAt - options.elapsed();
      if (wait <= 0) {
        if (timer !== undefined) clearTimeout(timer);
        show();
      } else if (timer === undefined) {
        timer = setTimeout(show, wait);
        timer.unref();
      }
    },
    done() {
      if (timer !== undefined) clearTimeout(timer);
      timer = undefined;
      waiting = undefined;
      if (onScreen) options.write(ERASE_LINE);
      onScreen = false;
    },
  };
}
