// Ends what a killed git had begun when it brought a checkout from one commit to the next. git takes away what goes,
// then writes what comes, and writes its index last; so every changed path is as in the old commit, as in the new one,
// gone, or cut short, and the index is still the old one. What is anything else was changed by somebody since: then
// nothing is touched. Comparing is git's, with the checkout's own line ends and filters, by private indexes that hold the
// changed paths alone. Safe to be cut short itself: it looks again at what is there.

import { lstat, mkdir, mkdtemp, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { displayPath, type GitPath, type Oid, pathBytes } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { EntryChange, TreeEntry } from '../model/tree.ts';
import type { AdvancePlan } from '../ports/checkouts.ts';
import type { GitCall, GitResult } from './spawn.ts';
import { parsePathList, parseRawDiff } from './tree-format.ts';

/** Runs git in a checkout. */
export type InCheckout = (worktree: WorktreeInfo, call: GitCall) => Promise<GitResult>;

/** All directories above a path: `a/b/c` gives `a` and `a/b`. */
function* directoriesOf(path: GitPath): Generator<GitPath> {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    yield path.slice(0, at) as GitPath;
}

const DIFF = ['-z', '--raw', '--no-renames', '--no-abbrev'];

/** Brings index and files of a checkout to `to`; blocked, with nothing touched, where somebody changed one of the paths
 * since. `scratch` is a folder for temporary files, made when missing. */
export async function finishAdvance(
  run: InCheckout,
  worktree: WorktreeInfo,
  scratch: string,
  from: Oid,
  to: Oid,
): Promise<AdvancePlan> {
  const { stdout } = await run(worktree, { args: ['diff-tree', '-r', ...DIFF, from, to] });
  const changes = parseRawDiff(stdout);
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(join(scratch, 'advance-'));
  try {
    const checkout = new HalfCheckout(run, worktree, folder);
    const standing = await checkout.look(changes);
    const staged = await checkout.findStaged(from, to, changes);
    const foreign = [...new Set([...standing.foreign, ...staged])].sort();
    if (foreign.length > 0) {
      const names = foreign.slice(0, 10).map(displayPath).join(', ');
      return { outcome: 'blocked', paths: foreign, message: `changed since in ${worktree.path}: ${names}` };
    }
    await checkout.takeAway(standing.going);
    await checkout.stage(changes);
    await checkout.write(standing.coming);
    return { outcome: 'clear' };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Standing {
  /** Files of the old commit that must go. */
  readonly going: readonly GitPath[];
  /** Files of the new commit that are not there yet, or not whole. */
  readonly coming: readonly GitPath[];
  /** Neither as in the old nor as in the new commit. */
  readonly foreign: readonly GitPath[];
}

class HalfCheckout {
  readonly #run: InCheckout;
  readonly #worktree: WorktreeInfo;
  readonly #folder: string;

  constructor(run: InCheckout, worktree: WorktreeInfo, folder: string) {
    this.#run = run;
    this.#worktree = worktree;
    this.#folder = folder;
  }

  #file(path: GitPath): Buffer {
    return Buffer.concat([Buffer.from(`${this.#worktree.path}/`), pathBytes(path)]);
  }

  /** How far every changed path is. */
  async look(changes: readonly EntryChange[]): Promise<Standing> {
    const asBefore = await this.#matching('from', changes, ({ before }) => before);
    const asAfter = await this.#matching('to', changes, ({ after }) => after);
    const going: GitPath[] = [];
    const coming: GitPath[] = [];
    const doubtful: GitPath[] = [];
    const foreign: GitPath[] = [];
    for (const { path, after } of changes) {
      // A submodule has no files of its own here.
      if (after?.mode === '160000') continue;
      const there = await this.#isLeaf(path);
      if (after === null) {
        if (!there) continue;
        if (asBefore.has(path)) going.push(path);
        else foreign.push(path);
      } else if (!there || asBefore.has(path)) {
        if (!asAfter.has(path)) coming.push(path);
      } else if (!asAfter.has(path)) doubtful.push(path);
    }
    const cut = await this.#cutShort(doubtful);
    for (const path of doubtful) (cut.has(path) ? coming : foreign).push(path);
    const leaving = new Set(going);
    for (const path of coming) foreign.push(...(await this.#inTheWay(path, leaving)));
    return { going, coming, foreign };
  }

  /** What stands where a file or its folders shall be and does not leave: git would write over it when forced to. */
  async #inTheWay(path: GitPath, leaving: ReadonlySet<GitPath>): Promise<GitPath[]> {
    for (const directory of directoriesOf(path))
      if ((await this.#isLeaf(directory)) && !leaving.has(directory)) return [directory];
    return this.#strangersIn(path, leaving);
  }

  async #strangersIn(path: GitPath, leaving: ReadonlySet<GitPath>): Promise<GitPath[]> {
    const stat = await lstat(this.#file(path)).catch(() => undefined);
    if (stat?.isDirectory() !== true) return [];
    const found: GitPath[] = [];
    const entries = await readdir(this.#file(path), { withFileTypes: true, encoding: 'buffer' });
    for (const entry of entries) {
      const at = `${path}/${entry.name.toString('latin1')}` as GitPath;
      if (entry.isDirectory()) found.push(...(await this.#strangersIn(at, leaving)));
      else if (!leaving.has(at)) found.push(at);
    }
    return found;
  }

  async #isLeaf(path: GitPath): Promise<boolean> {
    const stat = await lstat(this.#file(path)).catch(() => undefined);
    return stat !== undefined && !stat.isDirectory();
  }

  #index(name: string): { GIT_INDEX_FILE: string } {
    return { GIT_INDEX_FILE: join(this.#folder, `${name}.index`) };
  }

  /** Paths whose files are as one side of the changes has them. */
  async #matching(
    name: string,
    changes: readonly EntryChange[],
    side: (change: EntryChange) => TreeEntry | null,
  ): Promise<Set<GitPath>> {
    const env = this.#index(name);
    const held = changes.flatMap((change) => {
      const entry = side(change);
      return entry === null ? [] : [{ path: change.path, entry }];
    });
    const lines = held.map(({ path, entry }) => `${entry.mode} ${entry.oid}\t${path}\0`);
    await this.#run(this.#worktree, {
      args: ['update-index', '-z', '--index-info'],
      stdin: Buffer.from(lines.join(''), 'latin1'),
      env,
    });
    await this.#run(this.#worktree, { args: ['update-index', '-q', '--refresh'], env, accept: [0, 1] });
    const { stdout } = await this.#run(this.#worktree, {
      args: ['diff-files', '-z', '--name-only', '--ignore-submodules=all'],
      env,
    });
    const differing = new Set(parsePathList(stdout));
    return new Set(held.map(({ path }) => path).filter((path) => !differing.has(path)));
  }

  /** Those of the paths whose files are the beginning of what the new commit has. */
  async #cutShort(paths: readonly GitPath[]): Promise<Set<GitPath>> {
    const cut = new Set<GitPath>();
    if (paths.length === 0) return cut;
    const whole = join(this.#folder, 'whole');
    await this.#run(this.#worktree, {
      args: ['checkout-index', '-q', '-z', '--stdin', `--prefix=${whole}/`],
      env: this.#index('to'),
      stdin: pathList(paths),
    });
    for (const path of paths) {
      const [is, wanted] = await Promise.all([
        readFile(this.#file(path)).catch(() => undefined),
        readFile(Buffer.concat([Buffer.from(`${whole}/`), pathBytes(path)])).catch(() => undefined),
      ]);
      if (is === undefined || wanted === undefined) continue;
      if (is.length < wanted.length && wanted.subarray(0, is.length).equals(is)) cut.add(path);
    }
    return cut;
  }

  /** Changed paths at which the index holds neither the old nor the new entry. */
  async findStaged(from: Oid, to: Oid, changes: readonly EntryChange[]): Promise<GitPath[]> {
    const differing = async (commit: Oid): Promise<Set<GitPath>> => {
      const { stdout } = await this.#run(this.#worktree, {
        args: ['diff-index', '--cached', '-z', '--name-only', '--ignore-submodules=none', commit],
      });
      return new Set(parsePathList(stdout));
    };
    const [fromOld, fromNew] = [await differing(from), await differing(to)];
    return changes.map(({ path }) => path).filter((path) => fromOld.has(path) && fromNew.has(path));
  }

  /** Removes files, and the folders that are empty then. */
  async takeAway(paths: readonly GitPath[]): Promise<void> {
    for (const path of paths) {
      await rm(this.#file(path), { force: true });
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const removed = await rmdir(this.#file(path.slice(0, at) as GitPath)).then(
          () => true,
          () => false,
        );
        if (!removed) break;
      }
    }
  }

  /** Puts all changes into the index: first what goes, so that what comes finds room. */
  async stage(changes: readonly EntryChange[]): Promise<void> {
    const gone = changes.flatMap(({ path, before, after }) =>
      after === null && before !== null ? [`0 ${'0'.repeat(before.oid.length)}\t${path}\0`] : [],
    );
    const come = changes.flatMap(({ path, after }) =>
      after === null ? [] : [`${after.mode} ${after.oid}\t${path}\0`],
    );
    await this.#run(this.#worktree, {
      args: ['update-index', '-z', '--index-info'],
      stdin: Buffer.from([...gone, ...come].join(''), 'latin1'),
    });
  }

  /** Writes files as the index has them. */
  async write(paths: readonly GitPath[]): Promise<void> {
    if (paths.length > 0) {
      await this.#run(this.#worktree, {
        args: ['checkout-index', '-f', '-q', '-z', '--stdin'],
        stdin: pathList(paths),
      });
    }
    await this.#run(this.#worktree, { args: ['update-index', '-q', '--refresh'], accept: [0, 1] });
  }
}

function pathList(paths: readonly GitPath[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
}
