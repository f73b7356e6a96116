// Joins adapters into the context that flows work in. With compose.ts the only place that knows adapters; each is loaded
// when a command needs it.

import { createHash } from 'node:crypto';
import { rmdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Context, JournalPoint } from './flow/context.ts';
import type { StatusContext } from './flow/status.ts';
import { parseTmpOwner, tmpFolderOf, tmpNameOf } from './flow/tmp-folder.ts';
import { openRefs } from './git/ref-store.ts';
import { findRepository } from './git/repository.ts';
import { GitSpawner } from './git/spawn.ts';
import { openLedger, openLedgerIfPresent } from './ledger/ledger.ts';
import { openLocks } from './ledger/locks.ts';
import type { Settings } from './model/settings.ts';
import type { Refs, RepositoryPlace } from './ports/git.ts';
import type { Ledger, LedgerReader } from './ports/ledger.ts';
import type { Narrator } from './ports/narrator.ts';
import { currentProcessMark } from './process/mark.ts';

export interface ComposeOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly narrator: Narrator;
  /** Aborted when the user stops the command: commands of the user's that run are ended then. */
  readonly signal?: AbortSignal;
}

/** What is known before the settings are. */
export interface Base {
  readonly options: ComposeOptions;
  readonly spawner: GitSpawner;
  readonly place: RepositoryPlace;
  readonly refs: Refs;
}

/** Finds the repository. */
export async function openBase(options: ComposeOptions): Promise<Base> {
  const spawner = new GitSpawner({ env: options.env });
  const place = await findRepository(spawner, options.cwd);
  return { options, spawner, place, refs: openRefs(spawner, place) };
}

/** Joins everything for the repository that `cwd` is in. Call `close` at the end. */
export async function openContext(
  options: ComposeOptions & { readonly settings: Settings },
): Promise<OpenContext> {
  return await joinContext(await openBase(options), options.settings);
}

export interface OpenContext extends Context {
  /** From now on also objects that are thrown away go to the disk: memory was too small for them. */
  useDisk(): void;
  close(): void;
}

export type Light = StatusContext &
  Pick<Context, 'ledger' | 'process' | 'cwd' | 'narrator'> & { close(): void };

/** What every command needs, and all that the ones that only read the ledger need. */
export function joinLight({ options, place, refs }: Base): Light {
  const { cwd, env, narrator } = options;
  let ledger: Ledger | undefined;
  let reader: LedgerReader | undefined;
  const state = env['XDG_STATE_HOME'] ?? join(env['HOME'] ?? homedir(), '.local', 'state');
  const id = createHash('sha256').update(place.commonDir).digest('hex').slice(0, 12);
  return {
    place,
    cwd,
    narrator,
    refs,
    ledger: () => {
      ledger ??= openLedger(place.stateDir);
      return ledger;
    },
    readLedger: () => {
      reader ??= ledger ?? openLedgerIfPresent(place.stateDir);
      return reader;
    },
    locks: openLocks(place.stateDir),
    process: currentProcessMark(),
    gateRoot: join(state, 'sennit', id),
    close: () => {
      ledger?.close();
      if (reader !== ledger) reader?.close();
      void refs.close();
    },
  };
}

/** All that a flow may touch. Call `close` at the end. */
export async function joinContext(base: Base, settings: Settings): Promise<OpenContext> {
  const { options, spawner, place } = base;
  const [defaults, patterns, capture, checkouts, objects, remotes, runs, system, memoryFolder] =
    await Promise.all([
      import('./config/defaults.ts'),
      import('./config/path-patterns.ts'),
      import('./git/capture.ts'),
      import('./git/checkouts.ts'),
      import('./git/object-store.ts'),
      import('./git/remotes.ts'),
      import('./process/run-command.ts'),
      import('./process/system.ts'),
      import('./process/memory-folder.ts'),
    ]);
  const { env, signal } = options;
  const light = joinLight(base);
  const runner = runs.createCommandRunner({ env });
  let inMemory = true;
  signal?.addEventListener('abort', () => void runner.endAll(), { once: true });
  return {
    ...light,
    settings,
    openObjects: ({ quarantine }) => {
      const memory =
        quarantine && inMemory
          ? memoryFolder.openMemoryFolder(light.process, tmpNameOf, parseTmpOwner)
          : undefined;
      const parent = memory ?? tmpFolderOf(place.stateDir, light.process);
      return objects.openObjects(spawner, place, { parent, quarantine });
    },
    workspaces: capture.createWorkspaces(spawner, place, patterns.matchPaths),
    checkouts: checkouts.openCheckouts(
      spawner,
      place,
      settings.snapshot.filters,
      tmpFolderOf(place.stateDir, light.process),
    ),
    remotes: remotes.openRemotes(spawner, place, env),
    runner,
    clock: {
      now: () => new Date(),
      elapsed: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    system: system.openSystem(env),
    patterns: {
      findGenerated: patterns.matchGenerated(settings.generated),
      mayHoldMarkers: patterns.matchPaths(settings.guards.markers),
      regenerateHint: defaults.findRegenerateHint,
    },
    journalPoint: (name) => crashAt(name, env),
    useDisk: () => {
      inMemory = false;
    },
    close: () => {
      light.close();
      try {
        rmdirSync(tmpFolderOf(place.stateDir, light.process));
      } catch {
        // never made, or not empty: the next clean-up takes it away
      }
    },
  };
}

/** Tests stop the process at a journal point as a power cut would. */
function crashAt(name: JournalPoint, env: NodeJS.ProcessEnv): void {
  if (env['SENNIT_TEST_CRASH_AT'] === name) process.kill(process.pid, 'SIGKILL');
}
