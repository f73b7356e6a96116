/** One run of a command of the user's in a directory. */
export interface CommandRun {
  readonly command: string;
  readonly cwd: string;
  /** Added to the scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** After this many milliseconds the whole process tree is ended. */
  readonly timeoutMs: number;
  /** Bytes of output that are kept in `logFile`; what comes after is read and dropped. */
  readonly outputLimit: number;
  readonly logFile: string;
}

export interface CommandResult {
  readonly outcome: 'passed' | 'failed' | 'timed-out' | 'not-started';
  /** Exit code, or null when ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly ms: number;
  /** The last lines of the output, at most 4,000 characters, control sequences removed. */
  readonly tail: string;
  readonly truncated: boolean;
  /** Processes that the command left behind and that were ended. */
  readonly strays: number;
}

export interface CommandRunner {
  run(run: CommandRun): Promise<CommandResult>;
}
