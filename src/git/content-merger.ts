// Merges the contents of many files by one merge of two commits that hold nothing else. Each file stands in them under a
// name of its own and is there in all three versions, so each is merged by its lines alone: no rename is looked for and
// no attribute applies. What stays true: names say nothing, so attributes are off and the callers keep out paths that have
// some.

import { SennitError } from '../model/errors.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { ContentMerge, ContentSides } from '../ports/git.ts';
import type { HermeticGit } from './hermetic-git.ts';
import { parseMergeTreeBatch } from './merge-tree-format.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectWriter } from './object-writer.ts';

/** Files that one merge holds: they share a tree, and its size counts. */
const BATCH = 500;

export class ContentMerger {
  readonly #git: HermeticGit;
  readonly #reader: ObjectReader;
  readonly #writer: ObjectWriter;

  constructor(git: HermeticGit, reader: ObjectReader, writer: ObjectWriter) {
    this.#git = git;
    this.#reader = reader;
    this.#writer = writer;
  }

  async mergeContents(files: readonly ContentSides[]): Promise<ContentMerge[]> {
    const results: ContentMerge[] = [];
    for (let from = 0; from < files.length; from += BATCH)
      results.push(...(await this.#mergeBatch(files.slice(from, from + BATCH))));
    return results;
  }

  async #mergeBatch(files: readonly ContentSides[]): Promise<ContentMerge[]> {
    const base = await this.#commitOf(files.map((sides) => sides.base));
    const [target, change] = await Promise.all([
      this.#commitOf(
        files.map((sides) => sides.target),
        base,
      ),
      this.#commitOf(
        files.map((sides) => sides.change),
        base,
      ),
    ]);
    const { stdout } = await this.#git.run({
      args: ['merge-tree', '--write-tree', '-z', '--stdin'],
      stdin: `${target} ${change}\n`,
      config: [['core.attributesFile', '']],
      accept: [0, 1],
    });
    const [result] = parseMergeTreeBatch(stdout, 1);
    if (result === undefined || result.outcome === 'refused')
      throw new SennitError('merge_failed', `git could not merge contents: ${result?.reason ?? 'no answer'}`);
    const conflicts = new Map(
      result.outcome === 'clean' ? [] : result.conflicts.map(({ path, kind }) => [path, kind]),
    );
    const entries = new Map(
      (await this.#reader.readTree(result.tree)).map((entry) => [entry.name, entry.oid]),
    );
    return files.map((sides, i): ContentMerge => {
      const name = nameOf(i);
      const kind = conflicts.get(name);
      if (kind !== undefined) return { outcome: 'conflict', kind };
      const oid = entries.get(name);
      if (oid === undefined)
        throw new SennitError('internal_bug', `${name} is missing from a merge of contents.`);
      return { outcome: 'clean', entry: { mode: sides.target.mode, oid } };
    });
  }

  async #commitOf(entries: readonly TreeEntry[], parent?: Oid): Promise<Oid> {
    const tree = await this.#writer.writeTree(
      entries.map(({ mode, oid }, i) => ({ mode, oid, name: nameOf(i) })),
    );
    return this.#writer.writeCommit({
      tree,
      parents: parent === undefined ? [] : [parent],
      message: 'sennit: contents\n',
    });
  }
}

function nameOf(index: number): GitPath {
  return String(index) as GitPath;
}
