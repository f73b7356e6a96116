// Random small histories for property tests: trees as maps from path to leaf, changes to them as an agent makes them
// (edits, new files, deletions, renames of files and of directories, modes, links, files that become directories and
// back), and one fast-import that writes many commits at once. A change is a list of plain numbers that are read
// against whatever the tree is at that moment: every change makes sense, and shrinking works. Paths are byte strings.

import fc from 'fast-check';
import type { Repository } from './repo.ts';
import { USER } from './sealed.ts';

export interface Leaf {
  readonly mode: '100644' | '100755' | '120000';
  readonly content: string;
}

export type Tree = ReadonlyMap<string, Leaf>;

const KINDS = [
  ...['edit', 'edit', 'edit', 'insert', 'cut', 'rewrite', 'add', 'add', 'copy', 'delete'],
  ...['rename', 'rename', 'rename-edit', 'move-directory', 'mode', 'link', 'remove-directory'],
] as const;

/** One step of a change; `a`, `b` and `c` choose what and where. */
export interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

const NAMES = ['a', 'b', 'c', 'lib', 'lib-x', '\xc3\xa9', 'n\xff', 'q"\n'];

/** Few names and few levels, so that changes meet. */
function pathFor(a: number, b: number): string {
  const parts = Array.from({ length: 1 + (a % 3) }, (_, i) => NAMES[(b >> (3 * i)) & 7] ?? 'a');
  return parts.join('/');
}

function newText(seed: number, lines: number): string {
  return Array.from({ length: lines }, (_, i) => `line ${i + 1} of ${seed}\n`).join('');
}

/** Puts a leaf into a tree; what cannot be there beside it goes. */
function put(tree: Map<string, Leaf>, path: string, leaf: Leaf): void {
  for (const other of [...tree.keys()])
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  tree.set(path, leaf);
}

function editLine({ mode, content }: Leaf, { kind, b, c }: Step): Leaf {
  const lines = content.split('\n').slice(0, -1);
  const at = b % Math.max(1, lines.length);
  const fresh = `changed by ${c}`;
  if (kind === 'insert') lines.splice(at, 0, fresh);
  else if (kind === 'cut') lines.splice(at, 1);
  else lines.splice(at, 1, fresh);
  return { mode, content: lines.map((line) => `${line}\n`).join('') };
}

/** The tree after some steps. */
export function changed(before: Tree, steps: readonly Step[]): Tree {
  const tree = new Map(before);
  for (const step of steps) apply(tree, step);
  return tree;
}

function apply(tree: Map<string, Leaf>, step: Step): void {
  const { kind, a, b, c } = step;
  const paths = [...tree.keys()].sort();
  const path = paths[a % Math.max(1, paths.length)];
  const leaf = path === undefined ? undefined : tree.get(path);
  if (path === undefined || leaf === undefined || kind === 'add') {
    put(tree, pathFor(a, b), { mode: '100644', content: newText(c, 1 + (c % 12)) });
    return;
  }
  const directory = path
    .split('/')
    .slice(0, 1 + (b % 2))
    .join('/');
  const inside = paths.filter((one) => one.startsWith(`${directory}/`));
  switch (kind) {
    case 'edit':
    case 'insert':
    case 'cut':
      if (leaf.mode !== '120000') tree.set(path, editLine(leaf, step));
      return;
    case 'rewrite':
      tree.set(path, { mode: '100644', content: newText(c, 8) });
      return;
    case 'copy':
      put(tree, pathFor(b, c), leaf);
      return;
    case 'delete':
      tree.delete(path);
      return;
    case 'rename':
    case 'rename-edit':
      tree.delete(path);
      put(tree, pathFor(b, c), kind === 'rename' || leaf.mode === '120000' ? leaf : editLine(leaf, step));
      return;
    case 'move-directory':
      for (const one of inside) {
        const moved = tree.get(one);
        tree.delete(one);
        if (moved !== undefined) put(tree, `${pathFor(b, c)}${one.slice(directory.length)}`, moved);
      }
      return;
    case 'remove-directory':
      for (const one of inside) tree.delete(one);
      return;
    case 'mode':
      if (leaf.mode !== '120000')
        tree.set(path, { ...leaf, mode: leaf.mode === '100644' ? '100755' : '100644' });
      return;
    case 'link':
      tree.set(path, { mode: '120000', content: NAMES[c % NAMES.length] ?? 'a' });
  }
}

const number = fc.nat(0xfff);

/** A path out of some hundred that lie inside and beside each other. */
export const path: fc.Arbitrary<string> = fc.tuple(number, number).map(([a, b]) => pathFor(a, b));

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  a: number,
  b: number,
  c: number,
});

/** Steps of one commit. */
export const steps = (max: number): fc.Arbitrary<Step[]> => fc.array(step, { minLength: 1, maxLength: max });

/** A tree with some files of a dozen lines, most of them found again by git when they are renamed. */
export const tree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(number, number, fc.nat(9)), { minLength: 3, maxLength: 14 })
  .map((files) => {
    const made = new Map<string, Leaf>();
    for (const [a, b, more] of files)
      put(made, pathFor(a, b), {
        mode: more === 0 ? '100755' : '100644',
        content: newText(a * 4096 + b, 6 + more),
      });
    return made;
  });

/** What `side` does to `base`, path by path; null deletes. */
export function differences(base: Tree, side: Tree): Map<string, Leaf | null> {
  const found = new Map<string, Leaf | null>();
  for (const path of base.keys()) if (!side.has(path)) found.set(path, null);
  for (const [path, leaf] of side) {
    const before = base.get(path);
    if (before?.mode !== leaf.mode || before.content !== leaf.content) found.set(path, leaf);
  }
  return found;
}

/** The tree after all of these changes by path. */
export function joined(base: Tree, ...changes: readonly ReadonlyMap<string, Leaf | null>[]): Tree {
  const made = new Map(base);
  for (const change of changes)
    for (const [path, leaf] of change) {
      if (leaf === null) made.delete(path);
      else made.set(path, leaf);
    }
  return made;
}

export interface NewCommit {
  /** Short name of the branch that comes to stand at it. */
  readonly branch: string;
  /** Names of branches, earlier in the list or in the repository; the first is the first parent. */
  readonly parents: readonly string[];
  readonly tree: Tree;
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Writes commits in order, all by one process, and gives the ids of commits and of trees. */
export function writeCommits(
  repo: Repository,
  commits: readonly NewCommit[],
): { commit: string; tree: string }[] {
  const chunks: string[] = [];
  for (const { branch, parents, tree: files } of commits) {
    const [first, ...others] = parents.map((name) => `refs/heads/${name}`);
    chunks.push(
      `commit refs/heads/${branch}\ncommitter ${USER.name} <${USER.email}> ${repo.place.tick()} +0000\ndata 1\nx\n`,
      first === undefined ? '' : `from ${first}\n`,
      ...others.map((other) => `merge ${other}\n`),
      'deleteall\n',
    );
    for (const [path, { mode, content }] of files)
      chunks.push(`M ${mode} inline ${quoted(path)}\ndata ${content.length}\n${content}\n`);
    chunks.push('\n');
  }
  chunks.push('done\n');
  repo.gitWith(
    { input: Buffer.from(chunks.join(''), 'latin1') },
    'fast-import',
    '--quiet',
    '--done',
    '--force',
  );
  const out = repo
    .gitWith(
      { input: commits.map(({ branch }) => `refs/heads/${branch}\nrefs/heads/${branch}^{tree}\n`).join('') },
      'cat-file',
      '--batch-check=%(objectname)',
    )
    .split('\n');
  return commits.map((_, i) => ({ commit: out[2 * i] ?? '', tree: out[2 * i + 1] ?? '' }));
}
