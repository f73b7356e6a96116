// The repository's objects as flows know them: one git dir of our own (hermetic-git.ts) with a reader, a writer and a
// merger over it.

import type { Objects, RepositoryPlace } from '../ports/git.ts';
import { ContentMerger } from './content-merger.ts';
import { type HermeticOptions, openHermeticGit } from './hermetic-git.ts';
import { ObjectMerger } from './object-merger.ts';
import { ObjectReader } from './object-reader.ts';
import { ObjectWriter } from './object-writer.ts';
import type { GitSpawner } from './spawn.ts';

/** Opens the repository's objects. `close` ends the co-processes and removes the git dir. */
export async function openObjects(
  spawner: GitSpawner,
  place: RepositoryPlace,
  options: HermeticOptions,
): Promise<Objects> {
  const git = await openHermeticGit(spawner, place, options);
  const reader = new ObjectReader(git);
  const writer = new ObjectWriter(git, reader);
  const merger = new ObjectMerger(git, reader, writer);
  const contents = new ContentMerger(git, reader, writer);
  return {
    objectsDir: git.objectsDir,
    readCommit: (oid) => reader.readCommit(oid),
    treeOf: (commit) => reader.treeOf(commit),
    readBlob: (oid) => reader.readBlob(oid),
    readBlobs: (oids, limit, visit) => reader.readBlobs(oids, limit, visit),
    blobSize: (oid) => reader.blobSize(oid),
    blobSizes: (oids) => reader.blobSizes(oids),
    diffTrees: (before, after) => reader.diffTrees(before, after),
    entryAt: (tree, path) => reader.entryAt(tree, path),
    writeBlob: (content) => writer.writeBlob(content),
    writeCommit: (input) => writer.writeCommit(input),
    emptyTree: () => writer.emptyTree(),
    applyToTree: (tree, changes) => writer.applyToTree(tree, changes),
    makeDurable: (tips, known) => writer.makeDurable(tips, known),
    useAttributesOf: (tree, paths) => merger.useAttributesOf(tree, paths),
    mergeTree: (target, change) => merger.mergeTree(target, change),
    mergePairs: (pairs) => merger.mergePairs(pairs),
    probePairs: (pairs) => merger.probePairs(pairs),
    openBench: () => openObjects(spawner, place, { parent: git.dir, quarantine: true, over: git.objectsDir }),
    readHistories: (tips, known) => merger.readHistories(tips, known),
    findMention: (text, tip, known) => merger.findMention(text, tip, known),
    findRenames: (before, after) => merger.findRenames(before, after),
    findDrivers: (paths) => merger.findDrivers(paths),
    findSpecial: (paths) => merger.findSpecial(paths),
    mergeContents: (files) => contents.mergeContents(files),
    applyPatch: (sides) => merger.applyPatch(sides),
    mergeBases: (a, b) => merger.mergeBases(a, b),
    mergeBasesOfAll: (commits) => merger.mergeBasesOfAll(commits),
    isAncestor: (ancestor, descendant) => merger.isAncestor(ancestor, descendant),
    areAncestors: (commits, descendant) => merger.areAncestors(commits, descendant),
    close: () => git.close(),
  };
}
