// What a person decided about three versions of a path is remembered under those three versions, as a private ref to a
// tree with the result in it, and replayed when the same three meet again. Refs keep it: there is no second store.

import { createHash } from 'node:crypto';
import type { Conflict } from '../model/conflict.ts';
import { sidesKey } from '../model/conflict.ts';
import { asGitPath, type Oid } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { Objects, RefUpdate } from '../ports/git.ts';
import { type Context, OWN_REFS } from './context.ts';

const NAME = asGitPath('resolution');

function refOf(conflict: Pick<Conflict, 'sides' | 'path'>): string {
  const { base, target, change } = conflict.sides;
  const present = [base, target, change].filter((entry) => entry !== null).length;
  // With fewer than two versions the same blobs meet by chance: the path counts too.
  const key = present < 2 ? `${sidesKey(conflict.sides)} ${conflict.path}` : sidesKey(conflict.sides);
  return OWN_REFS.resolution(createHash('sha256').update(key, 'latin1').digest('hex').slice(0, 40));
}

/** A reader of remembered resolutions: undefined where there is none, null where the decision was to delete. */
export async function openResolutions(
  context: Context,
  objects: Objects,
): Promise<(conflict: Pick<Conflict, 'sides' | 'path'>) => Promise<TreeEntry | null | undefined>> {
  const refs = await context.refs.listRefs('refs/sennit/resolutions/');
  const byRef = new Map(refs.map(({ ref, oid }) => [ref, oid]));
  return async (conflict) => {
    const tree = byRef.get(refOf(conflict));
    return tree === undefined ? undefined : objects.entryAt(tree, NAME);
  };
}

/** Remembers decisions. An older one for the same three versions gives way. */
export async function rememberResolutions(
  context: Context,
  objects: Objects,
  decided: readonly { readonly conflict: Conflict; readonly entry: TreeEntry | null }[],
): Promise<void> {
  if (decided.length === 0) return;
  const known = new Map(
    (await context.refs.listRefs('refs/sennit/resolutions/')).map(({ ref, oid }) => [ref, oid]),
  );
  const empty = await objects.applyToTree(await objects.emptyTree(), new Map());
  const updates = new Map<string, RefUpdate>();
  for (const { conflict, entry } of decided) {
    const tree: Oid = entry === null ? empty : await objects.applyToTree(empty, new Map([[NAME, entry]]));
    const ref = refOf(conflict);
    const from = known.get(ref) ?? null;
    if (from !== tree) updates.set(ref, { ref, to: tree, from });
  }
  await objects.makeDurable(
    [...updates.values()].flatMap(({ to }) => to ?? []),
    [],
  );
  // Another orchestrator that remembers the same at the same moment has decided the same three versions.
  await context.refs.updateRefs([...updates.values()], 'sennit: remember a resolution');
}
