import type { GitPath, OperationId } from '../model/ids.ts';
import type { GeneratedRule, Settings } from '../model/settings.ts';
import type { Checkouts } from '../ports/checkouts.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommandRunner } from '../ports/gates.ts';
import type { Objects, Refs, RepositoryPlace } from '../ports/git.ts';
import type { Ledger, LedgerReader, Locks, ProcessMark } from '../ports/ledger.ts';
import type { Narrator } from '../ports/narrator.ts';
import type { Remotes } from '../ports/remotes.ts';
import type { System } from '../ports/system.ts';
import type { Workspaces } from '../ports/workspaces.ts';

/** Everything that a flow may touch, joined by `compose.ts`. */
export interface Context {
  readonly place: RepositoryPlace;
  /** Directory that the command was run in; relative names start here. */
  readonly cwd: string;
  readonly settings: Settings;
  readonly refs: Refs;
  /** Opens the object database; with `quarantine` new objects vanish when it is closed. */
  openObjects(options: { quarantine: boolean }): Promise<Objects>;
  readonly workspaces: Workspaces;
  readonly checkouts: Checkouts;
  readonly remotes: Remotes;
  ledger(): Ledger;
  /** The ledger for reading alone; undefined, and nothing is made, where there is none yet. */
  readLedger(): LedgerReader | undefined;
  readonly locks: Locks;
  readonly runner: CommandRunner;
  readonly narrator: Narrator;
  readonly clock: Clock;
  readonly system: System;
  readonly process: ProcessMark;
  readonly patterns: Patterns;
  /** Folder outside the git dir for worktrees in which gates run. */
  readonly gateRoot: string;
  /** A point at which a crash must lose nothing. Tests stop the process here. */
  journalPoint(name: JournalPoint): void;
}

/** The settings' patterns, made ready to be asked. */
export interface Patterns {
  /** The rule for a generated or lock file that matches first, or undefined. */
  findGenerated(path: GitPath): GeneratedRule | undefined;
  /** The usual command that writes a well-known generated file, for people; undefined for others. */
  regenerateHint(path: GitPath): string | undefined;
  /** Whether text that looks like conflict markers is meant in this path. */
  mayHoldMarkers(path: GitPath): boolean;
}

/** The points between which a crash may fall: of a landing, of a clean-up, of a restoring, of an undo, each in order. */
export const JOURNAL_POINTS = [
  'operation-started',
  'sources-captured',
  'snapshots-anchored',
  'merged',
  'handed-over',
  'gate-passed',
  'candidate-anchored',
  'landing-prepared',
  'pushed',
  'target-moved',
  'checkout-advanced',
  'landing-recorded',
  'cleaned-up',
  'removal-planned',
  'workspace-archived',
  'workspace-moved',
  'workspace-proved',
  'leftovers-kept',
  'record-forgotten',
  'workspace-removed',
  'leavings-removed',
  'restore-planned',
  'restore-filled',
  'restore-moved',
  'restore-attached',
  'restored',
  'undo-planned',
  'undo-moved',
  'undo-recorded',
] as const;

export type JournalPoint = (typeof JOURNAL_POINTS)[number];

/** Refs that belong to Sennit. Operation ids begin with digits, so the words cannot meet them. */
export const OWN_REFS = {
  snapshot: (operation: OperationId, slug: string): string => `refs/sennit/${operation}/${slug}`,
  aside: (operation: OperationId, slug: string): string => `refs/sennit/aside/${operation}/${slug}`,
  candidate: (operation: OperationId): string => `refs/sennit/candidates/${operation}`,
  landing: (operation: OperationId): string => `refs/sennit/landings/${operation}`,
  fetched: (operation: OperationId): string => `refs/sennit/fetched/${operation}`,
  undone: (operation: OperationId): string => `refs/sennit/undone/${operation}`,
  archive: (id: string): string => `refs/sennit/archive/${id}`,
  resolution: (hash: string): string => `refs/sennit/resolutions/${hash}`,
} as const;
