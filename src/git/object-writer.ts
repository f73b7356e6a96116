import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOid, type GitPath, type Oid } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { CommitInput } from '../ports/git.ts';
import { renderCommit } from './commit-format.ts';
import type { HermeticGit } from './hermetic-git.ts';
import type { ObjectReader } from './object-reader.ts';
import { DURABLE_CONFIG } from './spawn.ts';
import type { RawTreeEntry } from './tree-format.ts';

const MKTREE = ['mktree', '--batch', '-z', '--missing'];

/** A landing does not wait for the last percent of compression. */
const FAST_PACK = ['pack.compression', '1'] as const;

/** From so many changed paths on it is cheaper to have git build the trees than to read and write each. */
const MANY_CHANGES = 64;

/** A path as fast-import reads it: quoted only where a quote or a line feed makes it necessary. */
function importPath(path: GitPath): string {
  if (!path.startsWith('"') && !path.includes('\n')) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

interface LeafChange {
  readonly parts: readonly string[];
  readonly entry: TreeEntry | null;
}

/** Writes blobs, trees and commits, and makes what is reachable from commits durable. */
export class ObjectWriter {
  readonly #git: HermeticGit;
  readonly #reader: ObjectReader;
  #files = 0;
  #imports = 0;

  constructor(git: HermeticGit, reader: ObjectReader) {
    this.#git = git;
    this.#reader = reader;
  }

  /** Writes one object of a type from a file, through a co-process that answers each path with an id. */
  async #writeObject(type: 'blob' | 'commit', content: Uint8Array): Promise<Oid> {
    this.#files += 1;
    const file = join(this.#git.dir, 'new', String(this.#files));
    await writeFile(file, content);
    const words = ['hash-object', '-w', '-t', type, '--no-filters', '--stdin-paths'];
    const oid = await this.#git.asked(words, `${file}\n`, async (process) =>
      asOid((await process.readUntil('\n')).toString('latin1')),
    );
    await rm(file);
    return oid;
  }

  writeBlob(content: Uint8Array): Promise<Oid> {
    return this.#writeObject('blob', content);
  }

  async writeCommit(input: CommitInput): Promise<Oid> {
    const [first] = input.parents;
    const date =
      input.committer === undefined && first !== undefined
        ? (await this.#reader.readCommit(first)).committed
        : 0;
    const oid = await this.#writeObject('commit', renderCommit(input, date));
    this.#reader.trees.set(oid, input.tree);
    return oid;
  }

  writeTree(entries: readonly RawTreeEntry[]): Promise<Oid> {
    const lines = entries.map((entry) => {
      const type = entry.mode === '40000' ? 'tree' : entry.mode === '160000' ? 'commit' : 'blob';
      return `${entry.mode.padStart(6, '0')} ${type} ${entry.oid}\t${entry.name}\0`;
    });
    return this.#git.asked(MKTREE, Buffer.from(`${lines.join('')}\0`, 'latin1'), async (process) =>
      asOid((await process.readUntil('\n')).toString('latin1')),
    );
  }

  emptyTree(): Promise<Oid> {
    return this.writeTree([]);
  }

  async applyToTree(tree: Oid, changes: ReadonlyMap<GitPath, TreeEntry | null>): Promise<Oid> {
    if (changes.size === 0) return tree;
    if (changes.size >= MANY_CHANGES) {
      const imported = await this.#importTree(tree, changes);
      if (imported !== undefined) return imported;
    }
    const list = [...changes].map(([path, entry]) => ({ parts: path.split('/'), entry }));
    return (await this.#applyLevel(tree, list, 0)) ?? (await this.emptyTree());
  }

  /** The same by one process that reads and writes only the trees on the way; undefined where nothing is left. */
  async #importTree(tree: Oid, changes: ReadonlyMap<GitPath, TreeEntry | null>): Promise<Oid | undefined> {
    this.#imports += 1;
    const deleted = [...changes].flatMap(([path, entry]) => (entry === null ? [path] : []));
    const kinds = await Promise.all(deleted.map((path) => this.#reader.kindAt(tree, path)));
    const lines = [
      `commit refs/heads/import-${this.#imports}`,
      'committer sennit <sennit@invalid> 0 +0000',
      'data 0',
      `M 040000 ${tree} `,
    ];
    // A deleted leaf first, so that a file may become a directory and back. What is a directory by now is no leaf.
    for (const [i, path] of deleted.entries()) if (kinds[i] !== 'tree') lines.push(`D ${importPath(path)}`);
    for (const [path, entry] of changes)
      if (entry !== null) lines.push(`M ${entry.mode} ${entry.oid} ${importPath(path)}`);
    lines.push('ls ""', '', 'done', '');
    const { stdout } = await this.#git.run({
      args: ['fast-import', '--quiet', '--done'],
      stdin: Buffer.from(lines.join('\n'), 'latin1'),
      // What must survive is packed again and synced before a ref moves.
      config: [['fastimport.unpackLimit', '1'], ['core.fsync', 'none'], FAST_PACK],
    });
    const match = /^040000 tree ([0-9a-f]+)\t/.exec(stdout.toString('latin1')); // `040000 tree <oid>\t`
    return match === null ? undefined : asOid(match[1] ?? '');
  }

  async #applyLevel(tree: Oid | null, changes: readonly LeafChange[], depth: number): Promise<Oid | null> {
    const entries = new Map(
      (tree === null ? [] : await this.#reader.readTree(tree)).map((entry) => [entry.name, entry]),
    );
    const below = new Map<string, LeafChange[]>();
    const deleted: string[] = [];
    const set: RawTreeEntry[] = [];
    for (const change of changes) {
      const name = change.parts[depth] ?? '';
      if (depth < change.parts.length - 1) {
        const group = below.get(name);
        if (group === undefined) below.set(name, [change]);
        else group.push(change);
      } else if (change.entry === null) deleted.push(name);
      else set.push({ mode: change.entry.mode, name, oid: change.entry.oid });
    }
    // A deleted leaf first, then what is below it, then new leaves: a file may become a directory and back.
    for (const name of deleted) if (entries.get(name)?.mode !== '40000') entries.delete(name);
    await Promise.all(
      [...below].map(async ([name, group]) => {
        const old = entries.get(name);
        const next = await this.#applyLevel(old?.mode === '40000' ? old.oid : null, group, depth + 1);
        // Deletions below something that is a leaf here concern nothing that exists.
        if (next === null) {
          if (old === undefined || old.mode === '40000') entries.delete(name);
        } else entries.set(name, { mode: '40000', name, oid: next });
      }),
    );
    for (const entry of set) entries.set(entry.name, entry);
    return entries.size === 0 ? null : this.writeTree([...entries.values()]);
  }

  async makeDurable(tips: readonly Oid[], known: readonly Oid[]): Promise<void> {
    if (tips.length === 0) return;
    const revisions = [...tips, ...known.map((oid) => `^${oid}`)];
    await this.#git.run({
      args: [
        'pack-objects',
        '-q',
        '--revs',
        '--delta-base-offset',
        join(this.#git.place.commonDir, 'objects', 'pack', 'pack'),
      ],
      stdin: `${revisions.join('\n')}\n`,
      config: [...DURABLE_CONFIG, ['pack.threads', '1'], ['pack.window', '0'], FAST_PACK],
    });
  }
}
