// What has landed before. The ledger remembers which source gave which snapshot to which landing; git decides whether
// that landing is still part of the target: a landing that was undone or rewritten away counts no more.

import type { Oid } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import type { Context } from './context.ts';
import { readLandData } from './land-data.ts';

export interface LandedSnapshot {
  readonly identity: string;
  readonly snapshot: Oid;
}

/** Landings that are looked at, newest first: a workspace is rarely landed again after so many others. */
const HORIZON = 500;

/** Snapshots whose landing is contained in `tip`, newest first. */
export async function findLanded(
  context: Context,
  objects: Objects,
  target: string,
  tip: Oid,
): Promise<LandedSnapshot[]> {
  const operations =
    context.readLedger()?.listOperations({ kinds: ['land'], states: ['done'], target, limit: HORIZON }) ?? [];
  const landings = operations.flatMap((operation) => {
    const data = readLandData(operation);
    return data.landing === null ? [] : [{ landing: data.landing, sources: data.sources }];
  });
  if (landings.length === 0) return [];
  // The newest landing that the tip contains contains the older ones, unless history was rewritten.
  const known = await objects.areAncestors(
    landings.map(({ landing }) => landing),
    tip,
  );
  return landings.flatMap(({ sources }, i) =>
    known[i] === true ? sources.map(({ identity, snapshot }) => ({ identity, snapshot })) : [],
  );
}
