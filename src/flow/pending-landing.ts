// A landing that waits for a person: `conflicts` shows it, `resolve` settles one path, `continue` goes on, `abort` gives
// up. All of them work on the one that waits; where several wait, its id must be said.

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { countMarkers, takeSections } from '../merge/markers.ts';
import type { Conflict, Take } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, isOperationId } from '../model/ids.ts';
import { isRegular, type Mode, type TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import type { Context } from './context.ts';
import { OWN_REFS } from './context.ts';
import { finishLanding } from './finish-landing.ts';
import { closeScratch, readHandOver, requireConflict, scratchOf, takeHandOver } from './hand-over.ts';
import { type LandData, type OpenMerge, readLandData } from './land-data.ts';
import { type LandReport, LandSession } from './land-session.ts';
import { closeOpenMerge } from './merge.ts';
import { whileHolding } from './operation-lock.ts';

/** The landing that waits. Throws `operation_none`, or `operation_unknown` for an id that does not wait. */
export function requirePending(context: Context, id: string | null): OperationRecord {
  const pending = context.ledger().listOperations({ kinds: ['land'], states: ['pending'] });
  if (id !== null) {
    const found = isOperationId(id) ? pending.find((operation) => operation.id === id) : undefined;
    if (found !== undefined) return found;
    throw new SennitError('operation_unknown', `No landing ${id} is waiting.`, {
      hint: '`sennit status` shows what waits.',
      next: ['sennit status'],
    });
  }
  const [first, second] = pending;
  if (first === undefined) {
    throw new SennitError('operation_none', 'No landing is waiting.', {
      hint: 'Start one with `sennit land <source…>`.',
      next: ['sennit log'],
    });
  }
  if (second !== undefined) {
    throw new SennitError('usage_wrong', `${pending.length} landings are waiting: say which one.`, {
      hint: `Add --operation <id>: ${pending.map((operation) => operation.id).join(', ')}.`,
      next: pending.map((operation) => `sennit conflicts --operation ${operation.id}`),
    });
  }
  return first;
}

/** What waits, as it stands. */
export function showPending(context: Context, objects: Objects, id: string | null): LandReport {
  const operation = requirePending(context, id);
  const session = new LandSession(context, objects, operation.id, readLandData(operation), false);
  return pendingReport(session);
}

function pendingReport(session: LandSession): LandReport {
  const { data } = session;
  if (data.merge?.open === null || data.merge === null) {
    return session.report('parked', {
      commit: data.candidate,
      blocked: `The landing is merged and validated and waits for its checkout to be free; it is kept as ${OWN_REFS.candidate(session.operation)}.`,
      next: session.waitingCommands(false),
    });
  }
  return session.report('conflicts', { next: session.waitingCommands(false) });
}

function openOf(data: LandData): OpenMerge {
  const open = data.merge?.open;
  if (open === null || open === undefined || data.handover === null) {
    throw new SennitError('conflict_unknown', 'The landing that waits has no conflicts.', {
      hint: 'Run `sennit continue`.',
      next: ['sennit continue'],
    });
  }
  return open;
}

export interface ResolveRequest {
  readonly operation: string | null;
  readonly path: GitPath;
  readonly take: Take;
  /** For `file`: where the content is read from. */
  readonly file: string | null;
  readonly dryRun: boolean;
}

/** Settles one path in the scratch worktree by one of its versions or by a file of the user's. */
export async function resolveConflict(
  context: Context,
  objects: Objects,
  request: ResolveRequest,
): Promise<LandReport> {
  return withPending(context, request.operation, (operation) =>
    resolveHeld(context, objects, operation, request),
  );
}

/** Works on the landing that waits while no other process does. Throws `repository_busy`. */
async function withPending(
  context: Context,
  id: string | null,
  work: (operation: OperationRecord) => Promise<LandReport>,
): Promise<LandReport> {
  const { id: operation } = requirePending(context, id);
  // Read again: whoever held it before may have changed or ended it.
  return whileHolding(context, operation, () => work(requirePending(context, operation)));
}

async function resolveHeld(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
  request: ResolveRequest,
): Promise<LandReport> {
  const session = new LandSession(context, objects, operation.id, readLandData(operation), false);
  const open = openOf(session.data);
  const conflict = requireConflict(open, request.path);
  const entry =
    request.take === 'file'
      ? await entryFromFile(context, objects, conflict, request.file)
      : await takeSide(objects, conflict, request.take);
  const { handover } = session.data;
  if (handover === null || request.dryRun) return pendingReport(session);
  await context.checkouts.writeResolution(scratchOf(handover), conflict.path, entry);
  const how =
    request.take === 'file'
      ? `taken from ${request.file}`
      : entry === null
        ? `took the ${request.take}: deleted`
        : `took the ${request.take}`;
  const resolved = [
    ...open.resolved.filter(({ path }) => path !== conflict.path),
    { path: conflict.path, entry, how },
  ];
  const { merge } = session.data;
  if (merge !== null)
    session.save(
      'conflict.resolved',
      { merge: { ...merge, open: { ...open, resolved } } },
      { event: { path: displayPath(conflict.path), how } },
    );
  return pendingReport(session);
}

/** One side of a conflict. Where git merged the rest of the file, only the conflicting parts are taken from that side:
 * what the other side did elsewhere in the file stays. */
async function takeSide(
  objects: Objects,
  conflict: Conflict,
  take: 'base' | 'target' | 'change',
): Promise<TreeEntry | null> {
  const whole = conflict.sides[take];
  const { leftover, sides } = conflict;
  if ((conflict.kind !== 'content' && conflict.kind !== 'add-add') || !isRegular(leftover)) return whole;
  const read = async (entry: TreeEntry | null): Promise<string> =>
    isRegular(entry) ? Buffer.from(await objects.readBlob(entry.oid)).toString('latin1') : '';
  const texts = await Promise.all([sides.base, sides.target, sides.change].map(read));
  // Markers that were in a version before cannot be told from those of the merge.
  if (texts.some((text) => countMarkers(text) > 0)) return whole;
  const taken = takeSections(await read(leftover), take);
  if (taken === undefined) return whole;
  return { mode: leftover.mode, oid: await objects.writeBlob(Buffer.from(taken, 'latin1')) };
}

async function entryFromFile(
  context: Context,
  objects: Objects,
  conflict: Conflict,
  file: string | null,
): Promise<TreeEntry> {
  if (file === null)
    throw new SennitError('usage_wrong', '--take file needs the name of a file.', {
      hint: 'sennit resolve <path> --take file <file>',
    });
  const path = resolve(context.cwd, file);
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || !info.isFile()) {
    throw new SennitError('usage_wrong', `${path} is not a file that can be read.`, {
      hint: 'Name an existing file with the resolved content.',
    });
  }
  const old = conflict.sides.target ?? conflict.sides.change ?? conflict.sides.base;
  const mode: Mode =
    old?.mode === '100755' || (old === null && (info.mode & 0o100) !== 0) ? '100755' : '100644';
  return { mode, oid: await objects.writeBlob(await readFile(path)) };
}

/** Goes on with a landing that waits: takes the resolved conflicts, merges what is left, validates and lands. */
export async function continueLanding(
  context: Context,
  objects: Objects,
  id: string | null,
): Promise<LandReport> {
  return withPending(context, id, (operation) => continueHeld(context, objects, operation));
}

async function continueHeld(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
): Promise<LandReport> {
  if (!context.ledger().claimOperation(operation.id, operation.owner, context.process)) {
    throw new SennitError('repository_busy', 'Another process just took this landing up.', {
      hint: '`sennit status` shows it.',
    });
  }
  const session = new LandSession(context, objects, operation.id, readLandData(operation), false);
  session.continued = true;
  // Whoever goes on has seen what stopped it.
  const fingerprint = await context.refs.readFingerprint();
  const { merge, handover, sources } = session.data;
  if (merge?.open !== null && merge !== null && handover !== null) {
    const { open } = merge;
    const source = sources.find(({ name }) => name === open.source);
    if (source === undefined) throw new TypeError(`no source ${open.source}`);
    const taken = await takeHandOver(context, objects, operation.id, session.data, open, handover);
    const closed = await closeOpenMerge(objects, merge, source, taken.tree, taken.records);
    await objects.makeDurable([closed.accumulated], [merge.accumulated, source.snapshot]);
    session.save(
      'conflicts.resolved',
      { merge: closed, handover: null, fingerprint },
      { state: 'running', durable: true },
    );
    await closeScratch(context, handover);
  } else session.save('landing.resumed', { fingerprint }, { state: 'running' });
  try {
    return await finishLanding(session);
  } catch (error) {
    if (session.data.merge?.open === null) await session.fail(error);
    throw error;
  }
}

/** Whether everything that waits is resolved, without going on. Throws `conflict_unresolved` where it is not. */
export async function previewContinue(
  context: Context,
  objects: Objects,
  id: string | null,
): Promise<LandReport> {
  const operation = requirePending(context, id);
  const session = new LandSession(context, objects, operation.id, readLandData(operation), false);
  const { merge, handover } = session.data;
  if (merge?.open != null && handover !== null) {
    await readHandOver(context, objects, operation.id, session.data, merge.open, handover);
  }
  return session.report('dry_run', { conflicts: [], next: ['sennit continue'] });
}

/** Gives up a landing that waits. Its snapshots stay under their refs; nothing of the user's had changed. */
export async function abortLanding(
  context: Context,
  objects: Objects,
  id: string | null,
): Promise<LandReport> {
  return withPending(context, id, (operation) => abortHeld(context, objects, operation));
}

async function abortHeld(
  context: Context,
  objects: Objects,
  operation: OperationRecord,
): Promise<LandReport> {
  const session = new LandSession(context, objects, operation.id, readLandData(operation), false);
  const { handover } = session.data;
  session.save('landing.aborted', { handover: null }, { state: 'aborted' });
  if (handover !== null) await closeScratch(context, handover);
  const kept = session.data.sources.map(({ ref }) => ref);
  return session.report('conflicts', {
    result: 'aborted',
    conflicts: [],
    blocked: `The landing was given up. The snapshots are kept under ${kept.length === 1 ? kept[0] : `refs/sennit/${operation.id}/`}; no source and no branch has changed.`,
    next: ['sennit log'],
  });
}
