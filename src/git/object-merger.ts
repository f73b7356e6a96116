import { rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { asOid, type GitPath, isOid, type Oid, slugOf } from '../model/ids.ts';
import { isRegular, type TreeEntry } from '../model/tree.ts';
import type { History, MergeTreeResult } from '../ports/git.ts';
import { customDrivers, flattenedAttributes } from './attributes.ts';
import type { HermeticGit } from './hermetic-git.ts';
import { historiesOf, parseParents } from './history.ts';
import { parseMergeTree, parseMergeTreeBatch } from './merge-tree-format.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { GitCall, GitResult } from './spawn.ts';
import { parsePathList } from './tree-format.ts';

/** Pairs that one process probes before the objects that it left are removed. */
const PROBE_BATCH = 250;
const MOST_PROBES = 4;
/** Fewer pairs than this are not worth a process of their own. */
const WORTH_PROBE = 16;

function pairsCall(pairs: readonly (readonly [Oid, Oid])[]): GitCall {
  return {
    args: ['merge-tree', '--write-tree', '-z', '--stdin'],
    stdin: pairs.map(([a, b]) => `${a} ${b}\n`).join(''),
    accept: [0, 1],
    acceptSignals: ['SIGABRT'],
  };
}

/** Merges commits and answers what a merge needs to know of histories. */
export class ObjectMerger {
  readonly #git: HermeticGit;
  readonly #reader: ObjectReader;
  readonly #writer: ObjectWriter;
  /** Attributes file that names custom merge drivers; '' for none. */
  #drivers = '';

  constructor(git: HermeticGit, reader: ObjectReader, writer: ObjectWriter) {
    this.#git = git;
    this.#reader = reader;
    this.#writer = writer;
  }

  async useAttributesOf(tree: Oid, paths: readonly GitPath[]): Promise<void> {
    const directories = new Set(['']);
    for (const path of paths) {
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
        directories.add(path.slice(0, at + 1));
    }
    const files: { directory: string; text: string }[] = [];
    await Promise.all(
      [...directories].map(async (directory) => {
        const path = `${directory}.gitattributes` as GitPath;
        if ((await this.#reader.kindAt(tree, path)) !== 'blob') return;
        const found = await this.#reader.entryAt(tree, path);
        // A link is no attributes file.
        if (isRegular(found))
          files.push({
            directory,
            text: Buffer.from(await this.#reader.readBlob(found.oid)).toString('latin1'),
          });
      }),
    );
    this.#git.attributes = files.length === 0 ? '' : join(this.#git.dir, 'attributes');
    if (files.length > 0) await writeFile(this.#git.attributes, flattenedAttributes(files), 'latin1');
    const drivers = customDrivers(files);
    this.#drivers = drivers.length === 0 ? '' : join(this.#git.dir, 'drivers');
    const lines = drivers.map(
      ({ pattern, driver }) => `"${pattern.replace(/(["\\])/g, '\\$1')}" merge=${driver}\n`,
    );
    if (drivers.length > 0) await writeFile(this.#drivers, lines.join(''), 'latin1');
  }

  async mergeTree(
    target: { oid: Oid; label: string },
    change: { oid: Oid; label: string },
  ): Promise<MergeTreeResult> {
    // Labels come from the names that git was given, so each side gets a private ref of that name.
    const names = [`${slugOf(target.label)}`, `${slugOf(change.label)}`];
    if (names[0] === names[1]) names[1] = `${names[1]}-change`;
    await Promise.all(
      [target, change].map((side, i) =>
        writeFile(join(this.#git.dir, 'refs', 'heads', names[i] ?? ''), `${side.oid}\n`),
      ),
    );
    const { code, stdout, stderr } = await this.#git.run({
      args: ['merge-tree', '--write-tree', '-z', '--messages', ...names],
      accept: [0, 1, 128],
      acceptSignals: ['SIGABRT'], // git before 2.55 can stop at an assertion about renames
    });
    if (code >= 128) return { outcome: 'refused', reason: stderr.trim() };
    return parseMergeTree(stdout, code, stderr);
  }

  async mergePairs(pairs: readonly (readonly [Oid, Oid])[]): Promise<MergeTreeResult[]> {
    if (pairs.length === 0) return [];
    return this.#answers(pairs, (some) => this.#git.run(pairsCall(some)));
  }

  async probePairs(pairs: readonly (readonly [Oid, Oid])[]): Promise<MergeTreeResult[]> {
    const results: MergeTreeResult[] = new Array(pairs.length);
    const lanes = Math.min(MOST_PROBES, availableParallelism(), Math.ceil(pairs.length / WORTH_PROBE));
    const size = Math.min(PROBE_BATCH, Math.ceil(pairs.length / Math.max(1, lanes)));
    let next = 0;
    const work = async (): Promise<void> => {
      for (let from = next; from < pairs.length; from = next) {
        const batch = pairs.slice(from, from + size);
        next = from + batch.length;
        const answers = await this.#answers(batch, (some) =>
          this.#git.runAndForget(`probe-${from}`, pairsCall(some)),
        );
        for (const [i, result] of answers.entries()) results[from + i] = result;
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
    return results;
  }

  /** The results of a batch. Where git aborts in one pair the others are asked one by one, and that one is refused. */
  async #answers(
    pairs: readonly (readonly [Oid, Oid])[],
    ask: (some: readonly (readonly [Oid, Oid])[]) => Promise<GitResult>,
  ): Promise<MergeTreeResult[]> {
    const { signal, stdout, stderr } = await ask(pairs);
    if (signal === null) return parseMergeTreeBatch(stdout, pairs.length);
    if (pairs.length === 1)
      return [{ outcome: 'refused', reason: stderr.trim() || `git ended with ${signal}` }];
    const results: MergeTreeResult[] = [];
    for (const pair of pairs) results.push(...(await this.#answers([pair], ask)));
    return results;
  }

  async readHistories(tips: readonly Oid[], known: readonly Oid[]): Promise<History[]> {
    if (tips.length === 0) return [];
    const { stdout } = await this.#git.run({
      args: ['rev-list', '--parents', '--stdin'],
      stdin: `${[...tips, ...known.map((oid) => `^${oid}`)].join('\n')}\n`,
    });
    return historiesOf(tips, parseParents(stdout.toString('latin1')));
  }

  async findMention(text: string, tip: Oid, known: Oid): Promise<Oid | null> {
    const { stdout } = await this.#git.run({
      args: ['rev-list', '--max-count=1', '--fixed-strings', `--grep=${text}`, tip, `^${known}`],
      accept: [0, 128], // what is known may be gone
    });
    const oid = stdout.toString('latin1').trim();
    return isOid(oid) ? oid : null;
  }

  async findRenames(before: Oid, after: Oid): Promise<Map<GitPath, GitPath>> {
    const { stdout } = await this.#git.run({
      args: ['diff-tree', '-r', '-z', '-M', '-l7000', '--diff-filter=R', '--name-status', before, after],
    });
    const fields = parsePathList(stdout);
    const renames = new Map<GitPath, GitPath>();
    for (let i = 0; i + 2 < fields.length; i += 3) {
      const [from, to] = [fields[i + 1], fields[i + 2]];
      if (from !== undefined && to !== undefined) renames.set(from, to);
    }
    return renames;
  }

  async findDrivers(paths: readonly GitPath[]): Promise<Map<GitPath, string>> {
    const found = new Map<GitPath, string>();
    if (this.#drivers === '' || paths.length === 0) return found;
    const { stdout } = await this.#git.run({
      args: ['check-attr', '-z', '--stdin', 'merge'],
      config: [['core.attributesFile', this.#drivers]],
      stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    });
    const fields = stdout.toString('latin1').split('\0');
    for (let i = 0; i + 2 < fields.length; i += 3) {
      const value = fields[i + 2] ?? '';
      if (!['unspecified', 'unset', 'set', 'text', 'binary', 'union'].includes(value))
        found.set(fields[i] as GitPath, value);
    }
    return found;
  }

  async findSpecial(paths: readonly GitPath[]): Promise<Set<GitPath>> {
    const found = new Set((await this.findDrivers(paths)).keys());
    if (this.#git.attributes === '' || paths.length === 0) return found;
    const { stdout } = await this.#git.run({
      args: ['check-attr', '-z', '--stdin', 'merge'],
      stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    });
    const fields = stdout.toString('latin1').split('\0');
    for (let i = 0; i + 2 < fields.length; i += 3)
      if (fields[i + 2] !== 'unspecified') found.add(fields[i] as GitPath);
    return found;
  }

  async applyPatch(sides: { base: TreeEntry; target: TreeEntry; change: TreeEntry }): Promise<Oid | null> {
    // A private index with the target's blob at a fixed name, and a patch with full ids so that the three-way
    // fall-back finds its base.
    const name = 'file';
    const env = { GIT_INDEX_FILE: join(this.#git.dir, 'patch.index') };
    return this.#git.queued('patch', async () => {
      await rm(env.GIT_INDEX_FILE, { force: true });
      const before = await this.#writer.writeTree([{ mode: sides.base.mode, name, oid: sides.base.oid }]);
      const after = await this.#writer.writeTree([{ mode: sides.change.mode, name, oid: sides.change.oid }]);
      const patch = await this.#git.run({
        args: ['diff-tree', '-p', '--binary', '--full-index', before, after],
      });
      await this.#git.run({
        args: ['update-index', '--add', '--cacheinfo', `${sides.target.mode},${sides.target.oid},${name}`],
        env,
      });
      const { code } = await this.#git.run({
        args: ['apply', '--cached', '--3way', '-'],
        env,
        stdin: patch.stdout,
        accept: [0, 1, 128],
      });
      if (code !== 0) return null;
      const { stdout } = await this.#git.run({ args: ['ls-files', '-s', '-z'], env });
      const match = /^\d+ ([0-9a-f]+) 0\tfile\0$/.exec(stdout.toString('latin1'));
      return match === null ? null : asOid(match[1] ?? '');
    });
  }

  async mergeBases(a: Oid, b: Oid): Promise<Oid[]> {
    const { stdout } = await this.#git.run({ args: ['merge-base', '--all', a, b], accept: [0, 1] });
    return stdout.toString('latin1').split('\n').filter(Boolean).map(asOid);
  }

  async mergeBasesOfAll(commits: readonly Oid[]): Promise<Oid[]> {
    const { stdout } = await this.#git.run({
      args: ['merge-base', '--octopus', '--all', ...commits],
      accept: [0, 1],
    });
    return stdout.toString('latin1').split('\n').filter(Boolean).map(asOid);
  }

  async isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean> {
    if (ancestor === descendant) return true;
    return (
      (await this.#git.run({ args: ['merge-base', '--is-ancestor', ancestor, descendant], accept: [0, 1] }))
        .code === 0
    );
  }

  async areAncestors(commits: readonly Oid[], descendant: Oid): Promise<boolean[]> {
    if (commits.length === 0) return [];
    const { stdout: checked } = await this.#git.run({
      args: ['cat-file', '--batch-check=%(objecttype)'],
      stdin: `${commits.join('\n')}\n`,
    });
    const types = checked.toString('latin1').split('\n');
    const there = commits.filter((_, i) => types[i] === 'commit');
    const { stdout } = await this.#git.run({
      args: ['rev-list', '--stdin'],
      stdin: `${[...there, `^${descendant}`].join('\n')}\n`,
    });
    const outside = new Set(stdout.toString('latin1').split('\n'));
    const existing = new Set(there);
    return commits.map((commit) => existing.has(commit) && !outside.has(commit));
  }
}
