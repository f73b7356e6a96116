// The only file that joins flows with adapters.

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { matchGenerated, matchPaths } from './config/path-patterns.ts';
import type { Context, JournalPoint } from './flow/context.ts';
import { tmpFolderOf } from './flow/tmp-folder.ts';
import { createWorkspaces } from './git/capture.ts';
import { openCheckouts } from './git/checkouts.ts';
import { openObjects } from './git/object-store.ts';
import { openRefs } from './git/ref-store.ts';
import { openRemotes } from './git/remotes.ts';
import { findRepository } from './git/repository.ts';
import { GitSpawner } from './git/spawn.ts';
import { openLedger, openLedgerIfPresent } from './ledger/ledger.ts';
import { openLocks } from './ledger/locks.ts';
import type { Commands } from './model/commands.ts';
import { SennitError } from './model/errors.ts';
import type { Settings } from './model/settings.ts';
import type { Ledger, LedgerReader } from './ports/ledger.ts';
import type { Narrator } from './ports/narrator.ts';
import { currentProcessMark } from './process/mark.ts';
import { createCommandRunner } from './process/run-command.ts';
import { openSystem } from './process/system.ts';

export interface ComposeOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly narrator: Narrator;
  readonly settings: Settings;
}

/** Joins everything for the repository that `cwd` is in. Call `close` at the end. */
export async function openContext(options: ComposeOptions): Promise<Context & { close(): void }> {
  const { cwd, env, narrator, settings } = options;
  const spawner = new GitSpawner({ env });
  const place = await findRepository(spawner, cwd);
  let ledger: Ledger | undefined;
  let reader: LedgerReader | undefined;
  const mark = currentProcessMark();
  const state = env['XDG_STATE_HOME'] ?? join(env['HOME'] ?? homedir(), '.local', 'state');
  const id = createHash('sha256').update(place.commonDir).digest('hex').slice(0, 12);
  const mayHoldMarkers = matchPaths(settings.guards.markers);
  const findGenerated = matchGenerated(settings.generated);
  return {
    place,
    cwd,
    settings,
    narrator,
    refs: openRefs(spawner, place),
    openObjects: ({ quarantine }) =>
      openObjects(spawner, place, { parent: tmpFolderOf(place.stateDir, mark), quarantine }),
    workspaces: createWorkspaces(spawner, place),
    checkouts: openCheckouts(spawner, place, settings.snapshot.filters),
    remotes: openRemotes(spawner, place, env),
    ledger: () => {
      ledger ??= openLedger(place.stateDir);
      return ledger;
    },
    readLedger: () => {
      reader ??= ledger ?? openLedgerIfPresent(place.stateDir);
      return reader;
    },
    locks: openLocks(place.stateDir),
    runner: createCommandRunner({ env }),
    clock: {
      now: () => new Date(),
      elapsed: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    system: openSystem(env),
    process: mark,
    patterns: { findGenerated, mayHoldMarkers },
    gateRoot: join(state, 'sennit', id),
    journalPoint: (name) => crashAt(name, env),
    close: () => {
      ledger?.close();
      if (reader !== ledger) reader?.close();
    },
  };
}

/** Tests stop the process at a journal point as a power cut would. */
function crashAt(name: JournalPoint, env: NodeJS.ProcessEnv): void {
  if (env['SENNIT_TEST_CRASH_AT'] === name) process.kill(process.pid, 'SIGKILL');
}

export interface CommandsOptions {
  /** Directory that the command was run in. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly narrator: Narrator;
  /** Aborted when the user stops the command: running commands of the user's must be ended then. */
  readonly signal: AbortSignal;
}

/** The commands that front ends offer. */
export function createCommands(_options: CommandsOptions): Commands {
  const missing = (): Promise<never> =>
    Promise.reject(new SennitError('internal_bug', 'This command is not built yet.'));
  return {
    land: missing,
    forecast: missing,
    conflicts: missing,
    resolve: missing,
    continue: missing,
    abort: missing,
    status: missing,
    gc: missing,
    archiveList: missing,
    archiveShow: missing,
    archiveRestore: missing,
    undo: missing,
    log: missing,
    doctor: missing,
    configExplain: missing,
  };
}
