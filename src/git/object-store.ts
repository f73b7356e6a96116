// The repository's objects behind a git dir of our own. The hermetic dir is bare, has its own config, no hooks,
// no merge or filter drivers and an empty user configuration, and names the repository's objects by
// GIT_OBJECT_DIRECTORY. So a merge depends on nothing but the ids that go in (not on `merge.renames`,
// attributes in a checkout, or a machine's configuration), and nothing that an agent wrote into a workspace or
// the shared config can run. With a quarantine new objects go to a folder that can be thrown away.
// What must stay true: refs of the repository are never touched from here.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { asOid, type GitPath, type Oid, slugOf } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';
import type {
  CommitInfo,
  CommitInput,
  History,
  MergeTreeResult,
  Objects,
  RepositoryPlace,
} from '../ports/git.ts';
import { customDrivers, flattenedAttributes } from './attributes.ts';
import { parseCommit, renderCommit } from './commit-format.ts';
import { historiesOf, parseParents } from './history.ts';
import { parseMergeTree, parseMergeTreeBatch } from './merge-tree-format.ts';
import { type Coprocess, DURABLE_CONFIG, type GitCall, type GitResult, type GitSpawner } from './spawn.ts';
import { parsePathList, parseRawDiff, parseTreeObject, type RawTreeEntry } from './tree-format.ts';

export interface ObjectStoreOptions {
  /** Folder for the hermetic git dir; made, and removed by `close`. Inside the state dir of the repository. */
  readonly parent: string;
  /** New objects go into the hermetic dir and vanish with it; reads see both. */
  readonly quarantine: boolean;
}

/** Opens the repository's objects. `close` ends the co-processes and removes the hermetic dir. */
export async function openObjects(
  spawner: GitSpawner,
  place: RepositoryPlace,
  options: ObjectStoreOptions,
): Promise<ObjectStore> {
  await mkdir(options.parent, { recursive: true });
  const dir = await mkdtemp(join(options.parent, 'objects-'));
  const sha256 = place.objectFormat === 'sha256';
  const config = [
    '[core]',
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    '\tbare = true',
    '[merge]',
    '\tconflictStyle = diff3',
    '\trenames = true',
    '\trenameLimit = 7000',
    '\tdirectoryRenames = false',
    ...(sha256 ? ['[extensions]', '\tobjectFormat = sha256'] : []),
    '',
  ];
  await Promise.all([
    writeFile(join(dir, 'config'), config.join('\n')),
    writeFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n'),
    writeFile(join(dir, 'empty'), ''),
    mkdir(join(dir, 'refs', 'heads'), { recursive: true }),
    mkdir(join(dir, 'objects', 'info'), { recursive: true }),
    mkdir(join(dir, 'new'), { recursive: true }),
  ]);
  return new ObjectStore(spawner, place, dir, options.quarantine);
}

/** Blobs that are asked for at a time when many are read: enough to keep the pipe full, few enough for the memory. */
const READ_AHEAD = 64;

export class ObjectStore implements Objects {
  readonly #spawner: GitSpawner;
  readonly #place: RepositoryPlace;
  readonly #dir: string;
  readonly #env: Record<string, string>;
  readonly #hashBytes: 20 | 32;
  #reader: Coprocess | undefined;
  #checker: Coprocess | undefined;
  #differ: Coprocess | undefined;
  #treeWriter: Coprocess | undefined;
  #hashers = new Map<string, Coprocess>();
  #queues = new Map<string, Promise<unknown>>();
  #files = 0;
  /** Attributes file in use for merges; '' for none. */
  #attributes = '';
  /** Attributes file that names custom merge drivers; '' for none. */
  #drivers = '';
  readonly #trees = new Map<Oid, Oid>();
  /** Where new objects go when they are quarantined. */
  readonly objectsDir: string | undefined;

  constructor(spawner: GitSpawner, place: RepositoryPlace, dir: string, quarantine: boolean) {
    this.#spawner = spawner;
    this.#place = place;
    this.#dir = dir;
    this.#hashBytes = place.objectFormat === 'sha256' ? 32 : 20;
    const objects = join(place.commonDir, 'objects');
    this.objectsDir = quarantine ? join(dir, 'objects') : undefined;
    this.#env = {
      GIT_CONFIG_GLOBAL: join(dir, 'empty'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_OBJECT_DIRECTORY: quarantine ? join(dir, 'objects') : objects,
      ...(quarantine ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects) } : {}),
      ...(place.shallow ? { GIT_SHALLOW_FILE: join(place.commonDir, 'shallow') } : {}),
    };
  }

  #call(call: GitCall): GitCall {
    return {
      ...call,
      gitDir: this.#dir,
      cwd: this.#dir,
      env: { ...this.#env, ...call.env },
      config: [['core.attributesFile', this.#attributes], ...(call.config ?? [])],
    };
  }

  #run(call: GitCall): Promise<GitResult> {
    return this.#spawner.run(this.#call(call));
  }

  /** Runs `work` after all earlier work of the same co-process, so that answers meet their questions. */
  #queued<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(name) ?? Promise.resolve();
    const next = before.then(work, work);
    this.#queues.set(
      name,
      next.catch(() => undefined),
    );
    return next;
  }

  /** Asks at once and reads the answer in its turn: many questions are under way at a time. */
  #asked<T>(name: string, ask: () => void, answer: () => Promise<T>): Promise<T> {
    ask();
    return this.#queued(name, answer);
  }

  // ---- reading -------------------------------------------------------------------------------------------

  #readObject(oid: string): Promise<{ type: string; content: Buffer }> {
    this.#reader ??= this.#spawner.coprocess(this.#call({ args: ['cat-file', '--batch'] }));
    const reader = this.#reader;
    const answer = async (): Promise<{ type: string; content: Buffer }> => {
      const head = (await reader.readUntil('\n')).toString('latin1'); // `<oid> <type> <size>` or `<name> missing`
      const match = /^([0-9a-f]+) (\w+) (\d+)$/.exec(head);
      if (match === null) throw missingObject(oid);
      const content = await reader.read(Number(match[3]));
      await reader.read(1);
      return { type: match[2] ?? '', content };
    };
    return this.#asked('read', () => reader.write(`${oid}\n`), answer);
  }

  async #readTree(oid: Oid): Promise<RawTreeEntry[]> {
    const { type, content } = await this.#readObject(oid);
    if (type !== 'tree') throw new SennitError('git_failed', `Object ${oid} is a ${type}, not a tree.`);
    return parseTreeObject(content, this.#hashBytes);
  }

  async readCommit(oid: Oid): Promise<CommitInfo> {
    const { type, content } = await this.#readObject(oid);
    if (type !== 'commit') throw new SennitError('git_failed', `Object ${oid} is a ${type}, not a commit.`);
    const info = parseCommit(oid, content);
    this.#trees.set(oid, info.tree);
    return info;
  }

  async treeOf(commit: Oid): Promise<Oid> {
    return this.#trees.get(commit) ?? (await this.readCommit(commit)).tree;
  }

  async readBlob(oid: Oid): Promise<Uint8Array> {
    return (await this.#readObject(oid)).content;
  }

  async readBlobs(
    oids: readonly Oid[],
    limit: number,
    visit: (oid: Oid, content: Uint8Array | null) => void,
  ): Promise<void> {
    if (oids.length === 0) return;
    const sizes = await Promise.all(oids.map((oid) => this.blobSize(oid)));
    const small = oids.filter((_, i) => (sizes[i] ?? 0) <= limit);
    for (const [i, oid] of oids.entries()) if ((sizes[i] ?? 0) > limit) visit(oid, null);
    for (let from = 0; from < small.length; from += READ_AHEAD) {
      const part = small.slice(from, from + READ_AHEAD);
      await Promise.all(part.map(async (oid) => visit(oid, await this.readBlob(oid))));
    }
  }

  blobSize(oid: Oid): Promise<number> {
    this.#checker ??= this.#spawner.coprocess(this.#call({ args: ['cat-file', '--batch-check'] }));
    const checker = this.#checker;
    const answer = async (): Promise<number> => {
      const head = (await checker.readUntil('\n')).toString('latin1');
      const match = /^[0-9a-f]+ \w+ (\d+)$/.exec(head);
      if (match === null) throw missingObject(oid);
      return Number(match[1]);
    };
    return this.#asked('check', () => checker.write(`${oid}\n`), answer);
  }

  diffTrees(before: Oid, after: Oid): Promise<EntryChange[]> {
    if (before === after) return Promise.resolve([]);
    this.#differ ??= this.#spawner.coprocess(
      this.#call({ args: ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames', '--no-abbrev'] }),
    );
    const differ = this.#differ;
    // A line that begins with no object id is echoed and flushed: it marks the end of one answer. The random part keeps
    // a hostile file name from looking like it.
    const mark = `end-${Math.random().toString(36).slice(2)}${before.slice(0, 8)}\n`;
    const answer = async (): Promise<EntryChange[]> => {
      const bytes = await differ.readUntil(mark);
      const head = `${before} ${after}\n`;
      if (bytes.toString('latin1', 0, head.length) !== head) throw missingObject(`${before} or ${after}`);
      return parseRawDiff(bytes.subarray(head.length));
    };
    return this.#asked('diff', () => differ.write(`${before} ${after}\n${mark}`), answer);
  }

  async entryAt(tree: Oid, path: GitPath): Promise<TreeEntry | null> {
    const parts = path.split('/');
    let at = tree;
    for (const [i, part] of parts.entries()) {
      const found = (await this.#readTree(at)).find((entry) => entry.name === part);
      if (found === undefined) return null;
      const isTree = found.mode === '40000';
      if (i === parts.length - 1) return isTree ? null : { mode: found.mode as Mode, oid: found.oid };
      if (!isTree) return null;
      at = found.oid;
    }
    return null;
  }

  // ---- writing -------------------------------------------------------------------------------------------

  /** Writes one object of a type from a file, through a co-process that answers each path with an id. */
  #writeObject(type: 'blob' | 'commit', content: Uint8Array): Promise<Oid> {
    return this.#queued(`hash-${type}`, async () => {
      let hasher = this.#hashers.get(type);
      if (hasher === undefined) {
        hasher = this.#spawner.coprocess(
          this.#call({ args: ['hash-object', '-w', '-t', type, '--no-filters', '--stdin-paths'] }),
        );
        this.#hashers.set(type, hasher);
      }
      this.#files += 1;
      const file = join(this.#dir, 'new', String(this.#files));
      await writeFile(file, content);
      hasher.write(`${file}\n`);
      const oid = asOid((await hasher.readUntil('\n')).toString('latin1'));
      await rm(file);
      return oid;
    });
  }

  writeBlob(content: Uint8Array): Promise<Oid> {
    return this.#writeObject('blob', content);
  }

  async writeCommit(input: CommitInput): Promise<Oid> {
    const [first] = input.parents;
    const date =
      input.committer === undefined && first !== undefined ? (await this.readCommit(first)).committed : 0;
    const oid = await this.#writeObject('commit', renderCommit(input, date));
    this.#trees.set(oid, input.tree);
    return oid;
  }

  #writeTree(entries: readonly RawTreeEntry[]): Promise<Oid> {
    return this.#queued('mktree', async () => {
      this.#treeWriter ??= this.#spawner.coprocess(
        this.#call({ args: ['mktree', '--batch', '-z', '--missing'] }),
      );
      const lines = entries.map((entry) => {
        const type = entry.mode === '40000' ? 'tree' : entry.mode === '160000' ? 'commit' : 'blob';
        return `${entry.mode.padStart(6, '0')} ${type} ${entry.oid}\t${entry.name}\0`;
      });
      this.#treeWriter.write(Buffer.from(`${lines.join('')}\0`, 'latin1'));
      return asOid((await this.#treeWriter.readUntil('\n')).toString('latin1'));
    });
  }

  emptyTree(): Promise<Oid> {
    return this.#writeTree([]);
  }

  async applyToTree(tree: Oid, changes: ReadonlyMap<GitPath, TreeEntry | null>): Promise<Oid> {
    if (changes.size === 0) return tree;
    const list = [...changes].map(([path, entry]) => ({ parts: path.split('/'), entry }));
    const result = await this.#applyLevel(tree, list, 0);
    return result ?? (await this.emptyTree());
  }

  async #applyLevel(
    tree: Oid | null,
    changes: readonly { parts: string[]; entry: TreeEntry | null }[],
    depth: number,
  ): Promise<Oid | null> {
    const entries = new Map(
      (tree === null ? [] : await this.#readTree(tree)).map((entry) => [entry.name, entry]),
    );
    const below = new Map<string, { parts: string[]; entry: TreeEntry | null }[]>();
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
    for (const [name, group] of below) {
      const old = entries.get(name);
      const next = await this.#applyLevel(old?.mode === '40000' ? old.oid : null, group, depth + 1);
      // Deletions below something that is a leaf here concern nothing that exists.
      if (next === null) {
        if (old === undefined || old.mode === '40000') entries.delete(name);
      } else entries.set(name, { mode: '40000', name, oid: next });
    }
    for (const entry of set) entries.set(entry.name, entry);
    return entries.size === 0 ? null : this.#writeTree([...entries.values()]);
  }

  // ---- merging -------------------------------------------------------------------------------------------

  async useAttributesOf(tree: Oid, paths: readonly GitPath[]): Promise<void> {
    const directories = new Set(['']);
    for (const path of paths) {
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
        directories.add(path.slice(0, at + 1));
    }
    const files: { directory: string; text: string }[] = [];
    const trees = new Map<string, Promise<RawTreeEntry[]>>();
    // Each directory is read once, by way of its parent.
    const entriesOf = (directory: string): Promise<RawTreeEntry[]> => {
      const known = trees.get(directory);
      if (known !== undefined) return known;
      const reading = directory === '' ? this.#readTree(tree) : readBelow(directory);
      trees.set(directory, reading);
      return reading;
    };
    const readBelow = async (directory: string): Promise<RawTreeEntry[]> => {
      const slash = directory.lastIndexOf('/', directory.length - 2);
      const name = directory.slice(slash + 1, -1);
      const entry = (await entriesOf(directory.slice(0, slash + 1))).find((one) => one.name === name);
      return entry?.mode === '40000' ? this.#readTree(entry.oid) : [];
    };
    await Promise.all(
      [...directories].map(async (directory) => {
        const found = (await entriesOf(directory)).find(
          ({ name, mode }) => name === '.gitattributes' && mode.startsWith('100'),
        );
        if (found !== undefined)
          files.push({ directory, text: Buffer.from(await this.readBlob(found.oid)).toString('latin1') });
      }),
    );
    this.#attributes = files.length === 0 ? '' : join(this.#dir, 'attributes');
    if (files.length > 0) await writeFile(this.#attributes, flattenedAttributes(files), 'latin1');
    const drivers = customDrivers(files);
    this.#drivers = drivers.length === 0 ? '' : join(this.#dir, 'drivers');
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
        writeFile(join(this.#dir, 'refs', 'heads', names[i] ?? ''), `${side.oid}\n`),
      ),
    );
    const { code, stdout, stderr } = await this.#run({
      args: ['merge-tree', '--write-tree', '-z', '--messages', ...names],
      accept: [0, 1, 128],
    });
    if (code === 128) return { outcome: 'refused', reason: stderr.trim() };
    return parseMergeTree(stdout, code, stderr);
  }

  async mergePairs(pairs: readonly (readonly [Oid, Oid])[]): Promise<MergeTreeResult[]> {
    if (pairs.length === 0) return [];
    const { stdout } = await this.#run({
      args: ['merge-tree', '--write-tree', '-z', '--stdin'],
      stdin: pairs.map(([a, b]) => `${a} ${b}\n`).join(''),
      accept: [0, 1],
    });
    return parseMergeTreeBatch(stdout, pairs.length);
  }

  async readHistories(tips: readonly Oid[], known: readonly Oid[]): Promise<History[]> {
    if (tips.length === 0) return [];
    const { stdout } = await this.#run({
      args: ['rev-list', '--parents', '--stdin'],
      stdin: `${[...tips, ...known.map((oid) => `^${oid}`)].join('\n')}\n`,
    });
    return historiesOf(tips, parseParents(stdout.toString('latin1')));
  }

  async findRenames(before: Oid, after: Oid): Promise<Map<GitPath, GitPath>> {
    const { stdout } = await this.#run({
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
    const { stdout } = await this.#run({
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

  async applyPatch(sides: { base: TreeEntry; target: TreeEntry; change: TreeEntry }): Promise<Oid | null> {
    // A private index with the target's blob at a fixed name, and a patch with full ids so that the three-way
    // fall-back finds its base.
    const name = 'file';
    const env = { GIT_INDEX_FILE: join(this.#dir, 'patch.index') };
    return this.#queued('patch', async () => {
      await rm(env.GIT_INDEX_FILE, { force: true });
      const before = await this.#writeTree([{ mode: sides.base.mode, name, oid: sides.base.oid }]);
      const after = await this.#writeTree([{ mode: sides.change.mode, name, oid: sides.change.oid }]);
      const patch = await this.#run({ args: ['diff-tree', '-p', '--binary', '--full-index', before, after] });
      await this.#run({
        args: ['update-index', '--add', '--cacheinfo', `${sides.target.mode},${sides.target.oid},${name}`],
        env,
      });
      const { code } = await this.#run({
        args: ['apply', '--cached', '--3way', '-'],
        env,
        stdin: patch.stdout,
        accept: [0, 1, 128],
      });
      if (code !== 0) return null;
      const { stdout } = await this.#run({ args: ['ls-files', '-s', '-z'], env });
      const match = /^\d+ ([0-9a-f]+) 0\tfile\0$/.exec(stdout.toString('latin1'));
      return match === null ? null : asOid(match[1] ?? '');
    });
  }

  async mergeBases(a: Oid, b: Oid): Promise<Oid[]> {
    const { stdout } = await this.#run({ args: ['merge-base', '--all', a, b], accept: [0, 1] });
    return stdout.toString('latin1').split('\n').filter(Boolean).map(asOid);
  }

  async mergeBasesOfAll(commits: readonly Oid[]): Promise<Oid[]> {
    const { stdout } = await this.#run({
      args: ['merge-base', '--octopus', '--all', ...commits],
      accept: [0, 1],
    });
    return stdout.toString('latin1').split('\n').filter(Boolean).map(asOid);
  }

  async isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean> {
    if (ancestor === descendant) return true;
    return (
      (await this.#run({ args: ['merge-base', '--is-ancestor', ancestor, descendant], accept: [0, 1] }))
        .code === 0
    );
  }

  async areAncestors(commits: readonly Oid[], descendant: Oid): Promise<boolean[]> {
    if (commits.length === 0) return [];
    const { stdout: checked } = await this.#run({
      args: ['cat-file', '--batch-check=%(objecttype)'],
      stdin: `${commits.join('\n')}\n`,
    });
    const types = checked.toString('latin1').split('\n');
    const there = commits.filter((_, i) => types[i] === 'commit');
    const { stdout } = await this.#run({
      args: ['rev-list', '--stdin'],
      stdin: `${[...there, `^${descendant}`].join('\n')}\n`,
    });
    const outside = new Set(stdout.toString('latin1').split('\n'));
    const existing = new Set(there);
    return commits.map((commit) => existing.has(commit) && !outside.has(commit));
  }

  // ---- durability ----------------------------------------------------------------------------------------

  async makeDurable(tips: readonly Oid[], known: readonly Oid[]): Promise<void> {
    if (tips.length === 0) return;
    const revisions = [...tips, ...known.map((oid) => `^${oid}`)];
    await this.#run({
      args: [
        'pack-objects',
        '-q',
        '--revs',
        '--delta-base-offset',
        join(this.#place.commonDir, 'objects', 'pack', 'pack'),
      ],
      stdin: `${revisions.join('\n')}\n`,
      config: [...DURABLE_CONFIG, ['pack.threads', '1'], ['pack.window', '0']],
    });
  }

  async close(): Promise<void> {
    const open = [this.#reader, this.#checker, this.#differ, this.#treeWriter, ...this.#hashers.values()];
    await Promise.all(open.map((process) => process?.close()));
    await rm(this.#dir, { recursive: true, force: true });
  }
}

function missingObject(oid: string): SennitError {
  return new SennitError('object_missing', `The repository lacks the object ${oid}.`, {
    hint: 'In a shallow or partial clone fetch it (`git fetch --unshallow` or `git fetch --refetch`); else run `git fsck`.',
  });
}
