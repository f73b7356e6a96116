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
  /** Names the run to `endMarked`: an unguessable text without `:` and white space that no other run has. Write it
   * down before the run, and a later process can end what a killed one left running. Random where absent. */
  readonly marker?: string;
}

export interface CommandResult {
  /** `not-started`: no such folder, or the system refused; `tail` says why. */
  readonly outcome: 'passed' | 'failed' | 'timed-out' | 'not-started';
  /** Exit code, or null when ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
  /** From the start to the end of the command itself. */
  readonly ms: number;
  /** The last lines of the output, at most 4,000 characters, control sequences removed. */
  readonly tail: string;
  /** True when `logFile` does not hold all of the output. */
  readonly truncated: boolean;
  /** Processes that the command left behind and that were ended. */
  readonly strays: number;
  /** Processes of the command that could not be ended, such as another user's. They may still write to `cwd`. */
  readonly survivors: number;
}

export interface CommandRunner {
  /** Runs to the end and ends all that the command started. Throws `interrupted` after `endAll`, and `disk_full` or
   * `repository_readonly` when the log file cannot be made. */
  run(run: CommandRun): Promise<CommandResult>;
  /** Ends all that runs, for when Sennit itself is asked to end; nothing can be run afterwards. */
  endAll(): Promise<void>;
  /** Ends what is left of a run with `marker` whose Sennit is dead; the number of processes ended. */
  endMarked(marker: string): Promise<number>;
}
