import { SennitError } from '../model/errors.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';
import type { CommitInfo } from '../ports/git.ts';
import { parseCommit } from './commit-format.ts';
import type { HermeticGit } from './hermetic-git.ts';
import { Recent } from './recent.ts';
import type { Coprocess } from './spawn.ts';
import { parseRawDiff, parseTreeObject, type RawTreeEntry } from './tree-format.ts';

/** Bytes that are asked for at a time when many blobs are read: enough to keep the pipe full, few enough for the memory. */
const READ_AHEAD = 4 * 1024 * 1024;
const READ_TOGETHER = 64;
/** Larger contents are not remembered. Bytes. */
const REMEMBERED_SIZE = 256 * 1024;
/** Processes that read many blobs side by side: most of the time is theirs. */
const READ_LANES = 2;

const READ = ['cat-file', '--batch-command'];
const DIFF = ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames', '--no-abbrev'];

/** Reads `<oid> <type> <size>\n<content>\n`, or `<name> missing\n`. */
async function readAnswer(process: Coprocess, oid: string): Promise<{ type: string; content: Buffer }> {
  const head = (await process.readUntil('\n')).toString('latin1');
  const match = /^([0-9a-f]+) (\w+) (\d+)$/.exec(head);
  if (match === null) throw missingObject(oid);
  const content = await process.read(Number(match[3]));
  await process.read(1);
  return { type: match[2] ?? '', content };
}

/** Reads `<oid> <type> <size>\n`, or `<name> missing\n`. */
async function readSize(process: Coprocess, oid: string): Promise<number> {
  const head = (await process.readUntil('\n')).toString('latin1');
  const match = /^[0-9a-f]+ \w+ (\d+)$/.exec(head);
  if (match === null) throw missingObject(oid);
  return Number(match[1]);
}

/** Takes every answer to one question for many objects, also after one that fails: what is left unread would be taken
 * for the answer to the next question. */
async function forEachAnswer(oids: readonly Oid[], take: (oid: Oid) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const oid of oids) {
    try {
      await take(oid);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Reads objects through co-processes that answer in the order in which they were asked. */
export class ObjectReader {
  readonly #git: HermeticGit;
  readonly #hashBytes: 20 | 32;
  /** What was asked lately: the steps of a landing ask for the same again. Entries of differences, bytes of contents. */
  readonly #diffs = new Recent<readonly EntryChange[]>(50_000, (changes) => changes.length + 1);
  readonly #contents = new Recent<Buffer>(8 * 1024 * 1024, (content) => content.length + 64);
  /** Trees of commits that were read or written. */
  readonly trees = new Map<Oid, Oid>();

  constructor(git: HermeticGit) {
    this.#git = git;
    this.#hashBytes = git.place.objectFormat === 'sha256' ? 32 : 20;
  }

  #readObject(oid: string): Promise<{ type: string; content: Buffer }> {
    return this.#git.asked(READ, `contents ${oid}\n`, (process) => readAnswer(process, oid));
  }

  async readTree(oid: Oid): Promise<RawTreeEntry[]> {
    const { type, content } = await this.#readObject(oid);
    if (type !== 'tree') throw new SennitError('git_failed', `Object ${oid} is a ${type}, not a tree.`);
    return parseTreeObject(content, this.#hashBytes);
  }

  async readCommit(oid: Oid): Promise<CommitInfo> {
    const { type, content } = await this.#readObject(oid);
    if (type !== 'commit') throw new SennitError('git_failed', `Object ${oid} is a ${type}, not a commit.`);
    const info = parseCommit(oid, content);
    this.trees.set(oid, info.tree);
    return info;
  }

  async treeOf(commit: Oid): Promise<Oid> {
    return this.trees.get(commit) ?? (await this.readCommit(commit)).tree;
  }

  async readBlob(oid: Oid): Promise<Uint8Array> {
    return (await this.#readObject(oid)).content;
  }

  async readBlobs(
    oids: readonly Oid[],
    limit: number,
    visit: (oid: Oid, content: Uint8Array | null) => void,
  ): Promise<void> {
    const unknown: Oid[] = [];
    for (const oid of oids) {
      const known = this.#contents.find(oid);
      if (known === undefined || known.length > limit) unknown.push(oid);
      else visit(oid, known);
    }
    const sizes = await this.blobSizes(unknown);
    const parts: Oid[][] = [];
    let bytes = READ_AHEAD;
    for (const [i, oid] of unknown.entries()) {
      const size = sizes[i] ?? 0;
      const part = parts.at(-1);
      if (size > limit) visit(oid, null);
      else if (part === undefined || bytes >= READ_AHEAD || part.length >= READ_TOGETHER) {
        parts.push([oid]);
        bytes = size;
      } else {
        part.push(oid);
        bytes += size;
      }
    }
    const readParts = async (lane: number): Promise<void> => {
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        const asked = part;
        await this.#git.asked(
          READ,
          asked.map((oid) => `contents ${oid}\n`).join(''),
          (process) =>
            forEachAnswer(asked, async (oid) => {
              const { content } = await readAnswer(process, oid);
              // A copy, so that the pipe's larger pieces are not kept with it.
              if (content.length <= REMEMBERED_SIZE) this.#contents.keep(oid, Buffer.from(content));
              visit(oid, content);
            }),
          lane,
        );
      }
    };
    await Promise.all(parts.slice(0, READ_LANES).map((_, lane) => readParts(lane)));
  }

  /** Sizes of many blobs by one question. */
  blobSizes(oids: readonly Oid[]): Promise<number[]> {
    if (oids.length === 0) return Promise.resolve([]);
    return this.#git.asked(READ, oids.map((oid) => `info ${oid}\n`).join(''), async (process) => {
      const sizes: number[] = [];
      await forEachAnswer(oids, async (oid) => sizes.push(await readSize(process, oid)));
      return sizes;
    });
  }

  blobSize(oid: Oid): Promise<number> {
    return this.#git.asked(READ, `info ${oid}\n`, (process) => readSize(process, oid));
  }

  async diffTrees(before: Oid, after: Oid): Promise<readonly EntryChange[]> {
    if (before === after) return [];
    const key = `${before} ${after}`;
    const known = this.#diffs.find(key);
    if (known !== undefined) return known;
    const changes = await this.#diffTrees(before, after);
    this.#diffs.keep(key, changes);
    return changes;
  }

  #diffTrees(before: Oid, after: Oid): Promise<EntryChange[]> {
    // A line that begins with no object id is echoed and flushed: it marks the end of one answer. The random part keeps
    // a hostile file name from looking like it.
    const mark = `end-${Math.random().toString(36).slice(2)}${before.slice(0, 8)}\n`;
    const head = `${before} ${after}\n`;
    return this.#git.asked(DIFF, head + mark, async (process) => {
      const bytes = await process.readUntil(mark);
      if (bytes.toString('latin1', 0, head.length) !== head) throw missingObject(`${before} or ${after}`);
      return parseRawDiff(bytes.subarray(head.length));
    });
  }

  /** What is at a path: nothing, a `tree`, a `blob` or a `commit`. Much cheaper than reading the trees on the way. */
  async kindAt(tree: Oid, path: GitPath): Promise<string | undefined> {
    if (path.includes('\n')) return this.#kindByTrees(tree, path);
    return this.#git.asked(READ, Buffer.from(`info ${tree}:${path}\n`, 'latin1'), async (process) => {
      const answer = (await process.readUntil('\n')).toString('latin1'); // `<oid> <type> <size>` or `<name> missing`
      return /^[0-9a-f]+ (\w+) \d+$/.exec(answer)?.[1];
    });
  }

  async #kindByTrees(tree: Oid, path: GitPath): Promise<string | undefined> {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    let at = tree;
    for (const part of slash === -1 ? [] : path.slice(0, slash).split('/')) {
      const found: RawTreeEntry | undefined = (await this.readTree(at)).find((entry) => entry.name === part);
      if (found?.mode !== '40000') return undefined;
      at = found.oid;
    }
    const found = (await this.readTree(at)).find((entry) => entry.name === name);
    if (found === undefined) return undefined;
    return found.mode === '40000' ? 'tree' : found.mode === '160000' ? 'commit' : 'blob';
  }

  async entryAt(tree: Oid, path: GitPath): Promise<TreeEntry | null> {
    const parts = path.split('/');
    let at = tree;
    for (const [i, part] of parts.entries()) {
      const found = (await this.readTree(at)).find((entry) => entry.name === part);
      if (found === undefined) return null;
      const isTree = found.mode === '40000';
      if (i === parts.length - 1) return isTree ? null : { mode: found.mode as Mode, oid: found.oid };
      if (!isTree) return null;
      at = found.oid;
    }
    return null;
  }
}

function missingObject(oid: string): SennitError {
  return new SennitError('object_missing', `The repository lacks the object ${oid}.`, {
    hint: 'In a shallow or partial clone fetch it (`git fetch --unshallow` or `git fetch --refetch`); else run `git fsck`.',
  });
}
