// Runs the flows of the sources on a test's repository: in this process, with the crash points in the test's hand, or in
// a child that is killed at one of them.

import { onTestFinished } from 'vitest';
import { type OpenContext, openContext } from '../../src/compose.ts';
import { DEFAULT_SETTINGS } from '../../src/config/defaults.ts';
import { restoreArchive } from '../../src/flow/archive.ts';
import { type CleanUpReport, cleanUp } from '../../src/flow/clean-up.ts';
import type { Context, JournalPoint } from '../../src/flow/context.ts';
import { land } from '../../src/flow/land.ts';
import type { LandOptions } from '../../src/flow/land-data.ts';
import type { LandReport } from '../../src/flow/land-session.ts';
import { type Recovered, recover } from '../../src/flow/recover.ts';
import { type UndoReport, undo } from '../../src/flow/undo.ts';
import type { Objects } from '../../src/ports/git.ts';
import type { Located } from './sealed.ts';
import { source, startSource } from './source-process.ts';

const SILENT = { step: () => undefined, done: () => undefined };

const LAND_OPTIONS: LandOptions = {
  gates: [],
  noGate: true,
  dropCulprits: false,
  message: null,
  branch: null,
  push: false,
  pullRequest: false,
  verify: false,
};

/** A context for the repository of a directory, closed at the end of the test. `at` is called at every crash point. */
export async function openFlows(
  cwd: Located,
  at: (point: JournalPoint) => void = () => undefined,
): Promise<OpenContext> {
  const context = await openContext({
    cwd: cwd.dir,
    env: cwd.place.env(),
    narrator: SILENT,
    settings: DEFAULT_SETTINGS,
  });
  onTestFinished(() => context.close());
  return { ...context, journalPoint: at };
}

/** Works with the objects of a context. */
export async function withObjects<T>(context: Context, work: (objects: Objects) => Promise<T>): Promise<T> {
  const objects = await context.openObjects({ quarantine: false });
  try {
    return await work(objects);
  } finally {
    await objects.close();
  }
}

/** Lands sources on `main` without a gate. */
export async function landOn(
  context: Context,
  names: readonly string[],
  options: Partial<LandOptions> = {},
): Promise<LandReport> {
  return land(context, {
    names,
    into: 'refs/heads/main',
    worktrees: await context.refs.listWorktrees(),
    options: { ...LAND_OPTIONS, ...options },
    dryRun: false,
  });
}

/** `sennit gc <names…> --apply`. */
export function gc(context: Context, names: readonly string[], archive = false): Promise<CleanUpReport> {
  return cleanUp(context, { names, apply: true, archive });
}

/** `sennit undo`. */
export function takeBack(context: Context): Promise<UndoReport> {
  return withObjects(context, (objects) => undo(context, objects, { operation: null, dryRun: false }));
}

/** `sennit archive restore <name> [<path>]`. */
export function restore(
  context: Context,
  name: string,
  path: string | null = null,
): ReturnType<typeof restoreArchive> {
  return withObjects(context, (objects) =>
    restoreArchive(context, objects, { name, path, branch: null, dryRun: false }),
  );
}

/** What a next command would do first. */
export async function recoverIn(cwd: Located): Promise<Recovered[]> {
  return recover(await openFlows(cwd));
}

const CALLS = {
  gc: `const { cleanUp } = await import(${source('flow/clean-up.ts')});
    await cleanUp(context, { names, apply: true, archive: true });`,
  undo: `const { undo } = await import(${source('flow/undo.ts')});
    await undo(context, objects, { operation: null, dryRun: false });`,
  restore: `const { restoreArchive } = await import(${source('flow/archive.ts')});
    await restoreArchive(context, objects, { name: names[0], path: null, branch: null, dryRun: false });`,
};

/** Runs a flow in a child that kills itself with SIGKILL when it comes to the point. */
export async function crashAt(
  cwd: Located,
  point: JournalPoint,
  call: keyof typeof CALLS,
  names: readonly string[] = [],
): Promise<void> {
  const child = startSource(
    `process.env.SENNIT_TEST_CRASH_AT = ${JSON.stringify(point)};
    const { openContext } = await import(${source('compose.ts')});
    const { DEFAULT_SETTINGS: settings } = await import(${source('config/defaults.ts')});
    const narrator = { step() {}, done() {} };
    const context = await openContext({ cwd: process.cwd(), env: process.env, narrator, settings });
    const objects = await context.openObjects({ quarantine: false });
    const names = ${JSON.stringify(names)};
    ${CALLS[call]}
    await objects.close();`,
    cwd,
  );
  const how = await child.ended();
  if (how !== 'SIGKILL') throw new Error(`it did not come to ${point}: ${how}\n${child.output()}`);
}
