// Takes the output of a command as it comes: the first `limit` bytes go to the log file unchanged, the last few
// kilobytes stay in memory for the tail, everything between is counted and dropped. Memory does not grow with the
// output. A disk that is full ends the log, not the command.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { findWriteFailure } from './disk.ts';

/** Longest tail, in UTF-16 units. */
const TAIL_LENGTH = 4000;

/** Bytes kept for the tail: colours and redrawn progress bars take room that is not seen in the end. */
const TAIL_BYTES = 64 * 1024;

/** Collects the output of one run. */
export class OutputLog {
  readonly #fd: number;
  readonly #limit: number;
  #written = 0;
  #full = false;
  #closed = false;
  #last: Buffer[] = [];
  #lastSize = 0;
  #cut = false;

  /** Creates or empties `file`, and the folders above it. Throws `disk_full` or `repository_readonly`. */
  constructor(file: string, limit: number) {
    this.#limit = limit;
    try {
      mkdirSync(dirname(file), { recursive: true });
      this.#fd = openSync(file, 'w', 0o600);
    } catch (error) {
      throw findWriteFailure(error, file) ?? error;
    }
  }

  /** True when the log file does not hold all of the output. */
  get truncated(): boolean {
    return this.#full;
  }

  add(chunk: Buffer): void {
    this.#write(chunk);
    this.#last.push(chunk);
    this.#lastSize += chunk.length;
    if (this.#lastSize < 2 * TAIL_BYTES) return;
    const kept = Buffer.from(Buffer.concat(this.#last).subarray(-TAIL_BYTES)); // a copy: lets the chunks go
    this.#last = [kept];
    this.#lastSize = kept.length;
    this.#cut = true;
  }

  #write(chunk: Buffer): void {
    if (this.#full || this.#closed) return;
    const room = this.#limit - this.#written;
    const part = chunk.subarray(0, room);
    if (part.length < chunk.length) this.#full = true;
    try {
      for (let done = 0; done < part.length; ) {
        const count = writeSync(this.#fd, part, done);
        done += count;
        this.#written += count;
      }
    } catch {
      this.#full = true;
    }
  }

  /** The last lines of the output as plain text; see `renderTail`. */
  tail(): string {
    return renderTail(Buffer.concat(this.#last), this.#cut);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }
}

/** What a terminal obeys instead of showing: strings (OSC, DCS, …) to their end or that of the line, CSI sequences,
 * other escapes. One pass from left to right; a sequence that was cut off at the end goes too. */
const CONTROL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;

/** Controls but tab and newline, and the marks that reorder or hide text. */
const CONTROL_CHARACTER =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The end of `bytes` as lines of plain text, at most 4,000 UTF-16 units: control sequences removed, bytes that are
 * no UTF-8 as U+FFFD, of a line that was drawn over with carriage returns the last drawing. With `cut`, `bytes`
 * begins somewhere inside the output, and its first line is left out unless it is the only one. */
export function renderTail(bytes: Buffer, cut = false): string {
  const text = new TextDecoder('utf-8').decode(bytes).replace(CONTROL_SEQUENCE, '');
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .map((line) => line.replace(CONTROL_CHARACTER, '').trimEnd());
  if (cut && lines.length > 1) lines.shift();
  const all = lines.join('\n').replace(/^\n+|\n+$/g, '');
  if (all.length <= TAIL_LENGTH) return all;
  const end = all.slice(-TAIL_LENGTH);
  const newline = end.indexOf('\n');
  if (newline !== -1 && newline < end.length - 1) return end.slice(newline + 1);
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end; // not half of a character
}
