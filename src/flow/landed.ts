// What has landed before. The ledger remembers which source gave which snapshot to which landing; git decides whether
// that landing is still part of the target, as it was made or rewritten with its trailers: one that was undone counts no
// more.

import type { Oid } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import type { Context } from './context.ts';
import type { LandData } from './land-data.ts';

export interface LandedSnapshot {
  readonly identity: string;
  readonly snapshot: Oid;
}

/** Landings that are looked at, newest first: a workspace is rarely landed again after so many others. */
const HORIZON = 500;

/** Landings that the target does not contain as they were made and that are looked for by their trailer: amended,
 * rebased, or squashed on the way. */
const LOOK_FOR_REWRITTEN = 20;

/** Snapshots whose landing is contained in `tip`, newest first. */
export async function findLanded(
  context: Context,
  objects: Objects,
  target: string,
  tip: Oid,
): Promise<LandedSnapshot[]> {
  const operations =
    context.readLedger()?.listOperations({ kinds: ['land'], states: ['done'], target, limit: HORIZON }) ?? [];
  const landings = operations.flatMap(({ id, data }) => {
    const { landing, tip: onto, sources } = data as LandData;
    return landing === null ? [] : [{ id, landing, onto, sources }];
  });
  if (landings.length === 0) return [];
  const contained = await objects.areAncestors(
    landings.map(({ landing }) => landing),
    tip,
  );
  const found: LandedSnapshot[] = [];
  let looked = 0;
  for (const [i, { id, onto, sources }] of landings.entries()) {
    let holds = contained[i] === true;
    if (!holds && looked < LOOK_FOR_REWRITTEN) {
      looked += 1;
      holds = (await objects.findMention(`Sennit-Operation: ${id}`, tip, onto)) !== null;
    }
    if (holds) found.push(...sources.map(({ identity, snapshot }) => ({ identity, snapshot })));
  }
  return found;
}
