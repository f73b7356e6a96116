import { restoreLineEnds } from '../merge/line-ends.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid } from '../model/ids.ts';
import { type EntryChange, isRegular, type TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { BlobFacts } from './blob-facts.ts';

/** A change of one of these is a change of line ends on purpose. */
const ON_PURPOSE = /(?:^|\/)(?:\.gitattributes|\.editorconfig)$/;

export interface Prepared {
  /** The commit to merge: the snapshot itself, or one on top of it with the line ends restored. */
  readonly commit: Oid;
  readonly tree: Oid;
  readonly findings: readonly Finding[];
}

/** Undoes accidental changes of line ends before a snapshot is merged; the snapshot itself stays as it is. With `only`
 * nothing but these paths is looked at. */
export async function prepareLineEnds(
  objects: Objects,
  facts: BlobFacts,
  snapshot: { readonly name: string; readonly commit: Oid; readonly tree: Oid },
  changes: readonly EntryChange[],
  only?: ReadonlySet<GitPath>,
): Promise<Prepared> {
  const same = { commit: snapshot.commit, tree: snapshot.tree, findings: [] };
  if (changes.some(({ path }) => ON_PURPOSE.test(path))) return same;
  const edits = changes.flatMap(({ path, before, after }) =>
    isRegular(before) && isRegular(after) && before.oid !== after.oid && only?.has(path) !== false
      ? [{ path, before, after }]
      : [],
  );
  await facts.learn(edits.flatMap(({ before, after }) => [before.oid, after.oid]));
  const restored = new Map<GitPath, TreeEntry>();
  for (const { path, before, after } of edits) {
    const [was, is] = [facts.of(before.oid).lineEnds, facts.of(after.oid).lineEnds];
    if (was === undefined || is === undefined || was === is) continue;
    const [base, change] = await Promise.all([objects.readBlob(before.oid), objects.readBlob(after.oid)]);
    const text = restoreLineEnds(
      Buffer.from(base).toString('latin1'),
      Buffer.from(change).toString('latin1'),
    );
    if (text === undefined) continue;
    restored.set(path, { mode: after.mode, oid: await objects.writeBlob(Buffer.from(text, 'latin1')) });
  }
  if (restored.size === 0) return same;
  const paths = [...restored.keys()].map(displayPath);
  const tree = await objects.applyToTree(snapshot.tree, restored);
  return {
    tree,
    commit: await objects.writeCommit({
      tree,
      parents: [snapshot.commit],
      message: `sennit: line ends of ${snapshot.name}\n`,
    }),
    findings: [
      {
        check: 'line_ends_restored',
        severity: 'info',
        source: snapshot.name,
        message: `${snapshot.name} saved ${paths.slice(0, 5).join(', ')} with other line ends than before; the landing keeps those that the files had.`,
        paths,
      },
    ],
  };
}
