import type { Answer } from './answer.ts';
import type { Take } from './conflict.ts';
import type { GitPath } from './ids.ts';

/** What came of a command: the answer for people and programs, and the exit code of the process. */
export interface CommandOutcome {
  readonly answer: Answer;
  readonly exitCode: number;
}

/** What `land` is asked for. Texts are as the user wrote them; relative paths start at the working directory. */
export interface LandInput {
  /** Worktrees, branches, tags, commits or globs of them; never empty. */
  readonly sources: readonly string[];
  readonly into: string | undefined;
  /** Commands of gates besides the configured ones. */
  readonly gates: readonly string[];
  readonly noGate: boolean;
  readonly dropCulprits: boolean;
  readonly message: string | undefined;
  /** A new branch that the landing goes to; a valid name. */
  readonly branch: string | undefined;
  /** True also where `pr` is. */
  readonly push: boolean;
  readonly pr: boolean;
  /** Whether hooks run; undefined leaves it to the settings. */
  readonly verify: boolean | undefined;
  readonly dryRun: boolean;
}

export interface ForecastInput {
  readonly sources: readonly string[];
  readonly into: string | undefined;
}

/** Which operation a command is about; undefined for the one that waits (or, for `undo`, the last one). */
export interface OperationInput {
  readonly operation: string | undefined;
}

/** As `OperationInput`, for commands that change something. */
export interface OperationChangeInput extends OperationInput {
  readonly dryRun: boolean;
}

export interface ResolveInput extends OperationChangeInput {
  readonly path: GitPath;
  readonly take: Take;
  /** The file that is taken; given exactly when `take` is `file`. */
  readonly file: string | undefined;
}

export interface GcInput {
  /** Workspaces that the user named; empty for those that Sennit made. */
  readonly workspaces: readonly string[];
  /** False for a dry run. */
  readonly apply: boolean;
  /** Whether named workspaces with work that has not landed go too, once it is archived. */
  readonly archive: boolean;
}

export interface ArchiveRestoreInput {
  readonly name: string;
  /** Folder for the workspace; undefined for where it was. */
  readonly path: string | undefined;
  /** A new branch to restore to instead of a workspace; a valid name. */
  readonly branch: string | undefined;
  readonly dryRun: boolean;
}

export interface LogInput {
  /** How many operations to list, newest first. */
  readonly limit: number;
}

export interface DoctorInput {
  readonly fix: boolean;
  readonly dryRun: boolean;
}

export interface ConfigExplainInput {
  readonly into: string | undefined;
}

/** The commands that a front end offers. Each throws SennitError for what stops it, or answers. */
export interface Commands {
  land(input: LandInput): Promise<CommandOutcome>;
  forecast(input: ForecastInput): Promise<CommandOutcome>;
  conflicts(input: OperationInput): Promise<CommandOutcome>;
  resolve(input: ResolveInput): Promise<CommandOutcome>;
  continue(input: OperationChangeInput): Promise<CommandOutcome>;
  abort(input: OperationChangeInput): Promise<CommandOutcome>;
  status(): Promise<CommandOutcome>;
  gc(input: GcInput): Promise<CommandOutcome>;
  archiveList(): Promise<CommandOutcome>;
  archiveShow(input: { readonly name: string }): Promise<CommandOutcome>;
  archiveRestore(input: ArchiveRestoreInput): Promise<CommandOutcome>;
  undo(input: OperationChangeInput): Promise<CommandOutcome>;
  log(input: LogInput): Promise<CommandOutcome>;
  doctor(input: DoctorInput): Promise<CommandOutcome>;
  configExplain(input: ConfigExplainInput): Promise<CommandOutcome>;
}
