/** The rungs of the merge ladder that a configuration may name, cheapest first. */
export const RUNG_NAMES = ['text', 'structure', 'patch', 'hand-over'] as const;

export type RungName = (typeof RUNG_NAMES)[number];

/** A check that the merged tree must pass: a shell command under a name that people meet in answers. */
export interface GateSetting {
  readonly name: string;
  readonly command: string;
}

/** Files that a program writes. `paths` are patterns in which a later `!` pattern takes a path out again; `by` is the
 * command that writes them, or null where none is configured. Of several rules the first that matches counts. */
export interface GeneratedRule {
  readonly paths: readonly string[];
  readonly by: string | null;
}

/** Whether a kind of change may be landed at all. */
export type Guard = 'refuse' | 'allow';

/** All settings of one run with nothing left open: defaults, then `sennit.yaml`, then flags. Patterns are those of
 * `.gitignore` with braces: without a slash they match a name at any depth, and a folder means all below it. */
export interface Settings {
  /** Branch to land on when `--into` is not given (a short name), or null. */
  readonly target: string | null;
  readonly gates: {
    /** In the order in which they run; empty when there is none. Names are unique. */
    readonly root: readonly GateSetting[];
    /** Milliseconds after which one gate is ended. */
    readonly timeoutMs: number;
    /** Bytes of one gate's output that are kept. */
    readonly outputBytes: number;
    /** How often gates may be run when culprits are searched. */
    readonly maxRuns: number;
  };
  /** `text` first; `hand-over`, where it is there, last. No name twice. */
  readonly ladder: readonly RungName[];
  readonly generated: readonly GeneratedRule[];
  readonly snapshot: {
    /** A file of more bytes makes a snapshot incomplete. */
    readonly maxFileBytes: number;
    /** Names of content filters (`filter.<name>`) that may run. */
    readonly filters: readonly string[];
    /** Patterns of paths that a snapshot leaves out. */
    readonly exclude: readonly string[];
  };
  readonly guards: {
    /** Symbolic links that point out of the repository. */
    readonly symlinks: Guard;
    /** Submodules and nested repositories that a change adds. */
    readonly gitlinks: Guard;
    /** Patterns of paths in which lines that look like conflict markers are meant. */
    readonly markers: readonly string[];
  };
  /** Template of the commit message (see message-template.ts), or null for the built-in one. */
  readonly message: string | null;
  readonly push: {
    /** Name of the remote, or null for the one that the target branch tracks. */
    readonly remote: string | null;
    /** How often a rejected push is merged again and tried again. */
    readonly retries: number;
  };
  /** Whether the hooks of the user's repository run at a landing. */
  readonly verify: boolean;
}
