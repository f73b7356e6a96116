// Hand-over: what no rung settles is written out for a person or an agent. A scratch worktree holds the merge as far as
// it came, with diff3 markers; beside it a packet says for each conflict its kind, its three versions and what was
// tried. `resolve` settles one path, or files are edited in place; `closeHandOver` takes the result, checks it, and
// remembers each decision. Until then nothing of the user's has changed.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { countMarkerLines } from '../merge/markers.ts';
import type { Conflict } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, type Oid, type OperationId } from '../model/ids.ts';
import { isRegular, sameEntry, type TreeEntry } from '../model/tree.ts';
import type { ScratchWorktree } from '../ports/checkouts.ts';
import type { Objects } from '../ports/git.ts';
import type { Context } from './context.ts';
import type { LandData, OpenMerge, PathRecord } from './land-data.ts';
import { renderPacket } from './packet.ts';
import { rememberResolutions } from './resolutions.ts';

export interface HandOver {
  readonly worktree: string;
  readonly adminDir: string;
  readonly packet: string;
}

export function scratchOf(handover: HandOver): ScratchWorktree {
  return { path: handover.worktree, adminDir: handover.adminDir };
}

/** Writes scratch worktree and packet for an open merge. */
export async function openHandOver(
  context: Context,
  operation: OperationId,
  data: LandData,
  open: OpenMerge,
): Promise<HandOver> {
  const merge = data.merge;
  if (merge === null) throw new TypeError('nothing is being merged');
  const folder = join(context.place.stateDir, 'operations', operation);
  const path = join(folder, 'worktree');
  const lock = await context.locks.acquire('worktrees', 120_000);
  let scratch: ScratchWorktree;
  try {
    scratch = await context.checkouts.addScratch(path, merge.accumulated);
  } finally {
    lock.release();
  }
  await context.checkouts.writeConflicts(scratch, open.tree, open.conflicts);
  const packet = join(folder, 'conflicts.json');
  const handover = { worktree: scratch.path, adminDir: scratch.adminDir, packet };
  await writePacket(operation, data, open, handover);
  return handover;
}

async function writePacket(
  operation: OperationId,
  data: LandData,
  open: OpenMerge,
  handover: HandOver,
): Promise<void> {
  const { json, markdown } = renderPacket(operation, data, open, handover);
  await mkdir(dirname(handover.packet), { recursive: true });
  await writeFile(handover.packet, `${JSON.stringify(json, null, 2)}\n`);
  await writeFile(handover.packet.replace(/\.json$/, '.md'), markdown);
}

/** Removes the scratch worktree and its record. The packet stays with the operation's folder. */
export async function closeScratch(context: Context, handover: HandOver): Promise<void> {
  await context.checkouts.removeScratch(scratchOf(handover));
}

export interface Taken {
  readonly tree: Oid;
  readonly records: readonly PathRecord[];
  readonly decided: readonly { readonly conflict: Conflict; readonly entry: TreeEntry | null }[];
}

/** Takes what was made of the conflicts and remembers each decision. Throws as `readHandOver` does. */
export async function takeHandOver(...input: Parameters<typeof readHandOver>): Promise<Taken> {
  const [context, objects] = input;
  const taken = await readHandOver(...input);
  await rememberResolutions(
    context,
    objects,
    taken.decided.filter(({ conflict }) => conflict.kind !== 'generated'),
  );
  return taken;
}

/** Reads what was made of the conflicts. Throws `conflict_unresolved` naming what is still open. Changes nothing. */
export async function readHandOver(
  context: Context,
  objects: Objects,
  operation: OperationId,
  data: LandData,
  open: OpenMerge,
  handover: HandOver,
): Promise<Taken> {
  const scratch = scratchOf(handover);
  const capture = await context.workspaces.capture({
    worktree: {
      ...scratch,
      primary: false,
      branch: null,
      head: data.merge?.accumulated ?? null,
      locked: null,
      exists: true,
      linked: true,
    },
    base: data.merge?.accumulated ?? data.tip,
    maxFileBytes: context.settings.snapshot.maxFileBytes,
    filters: context.settings.snapshot.filters,
    exclude: [],
    scratch: join(context.place.stateDir, 'operations', operation, 'capture', 'worktree'),
  });
  const unmerged = new Set(await context.checkouts.listUnmerged(scratch));
  const resolved = new Map(open.resolved.map((one) => [one.path, one.how]));
  const records: PathRecord[] = [];
  const decided: { conflict: Conflict; entry: TreeEntry | null }[] = [];
  const stillOpen: string[] = [];
  for (const conflict of open.conflicts) {
    const entry = await objects.entryAt(capture.tree, conflict.path);
    const problem = await openProblem(
      context,
      objects,
      conflict,
      entry,
      unmerged.has(conflict.path),
      resolved.has(conflict.path),
    );
    if (problem !== undefined) {
      stillOpen.push(`${displayPath(conflict.path)} (${problem})`);
      continue;
    }
    decided.push({ conflict, entry });
    records.push({
      path: conflict.path,
      rung: 'hand-over',
      reason: resolved.get(conflict.path) ?? 'edited in the scratch worktree',
      ms: 0,
      source: open.source,
    });
  }
  if (stillOpen.length > 0) {
    throw new SennitError('conflict_unresolved', `Still to be resolved: ${stillOpen.join(', ')}.`, {
      hint: `Edit the files in ${handover.worktree}, or settle a path with \`sennit resolve <path> --take base|target|change\`; then run \`sennit continue\`.`,
      paths: stillOpen,
      next: ['sennit conflicts', 'sennit continue', 'sennit abort'],
    });
  }
  const known = new Set(open.conflicts.map(({ path }) => path));
  for (const { path } of await objects.diffTrees(open.tree, capture.tree)) {
    if (!known.has(path))
      records.push({
        path,
        rung: 'hand-over',
        reason: 'also edited in the scratch worktree',
        ms: 0,
        source: open.source,
      });
  }
  return { tree: capture.tree, records, decided };
}

/** Why a conflict still counts as open, or undefined. Edited, staged or settled by command: each is a decision. */
async function openProblem(
  context: Context,
  objects: Objects,
  conflict: Conflict,
  entry: TreeEntry | null,
  unmerged: boolean,
  settled: boolean,
): Promise<string | undefined> {
  if (isRegular(entry) && !context.patterns.mayHoldMarkers(conflict.path)) {
    const read = async (one: TreeEntry | null): Promise<number> =>
      isRegular(one) ? countMarkerLines(Buffer.from(await objects.readBlob(one.oid)).toString('latin1')) : 0;
    const { base, target, change } = conflict.sides;
    const [is, ...was] = await Promise.all([entry, base, target, change].map(read));
    if ((is ?? 0) > Math.max(...was)) return 'conflict markers';
  }
  if (settled || !unmerged) return undefined;
  return sameEntry(entry, conflict.leftover) ? `${conflict.kind}, not decided` : undefined;
}

/** Finds an open conflict by the path that a person gave. Throws `conflict_unknown`. */
export function requireConflict(open: OpenMerge, path: GitPath): Conflict {
  const found = open.conflicts.find((conflict) => conflict.path === path);
  if (found !== undefined) return found;
  throw new SennitError('conflict_unknown', `${displayPath(path)} is not among the open conflicts.`, {
    hint: `Open are: ${open.conflicts.map((conflict) => displayPath(conflict.path)).join(', ')}.`,
    next: ['sennit conflicts'],
  });
}
