// A tree with some of its leaves replaced, made without an index and without a checkout, must be the tree that git's
// own index gives for the same changes.

import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openContext } from '../../src/compose.ts';
import { DEFAULT_SETTINGS } from '../../src/config/defaults.ts';
import { asGitPath, asOid, type GitPath } from '../../src/model/ids.ts';
import type { TreeEntry } from '../../src/model/tree.ts';
import type { Objects } from '../../src/ports/git.ts';
import { cases } from '../support/random.ts';
import { path, tree, writeCommits } from '../support/random-history.ts';
import { Repository } from '../support/repo.ts';
import { SealedPlace } from '../support/sealed.ts';

let repo: Repository;
let context: Awaited<ReturnType<typeof openContext>>;
let objects: Objects;
/** Things to put into a tree. */
let entries: TreeEntry[];

beforeAll(async () => {
  repo = Repository.create(new SealedPlace(), 'repo', { bare: true });
  context = await openContext({
    cwd: repo.dir,
    env: repo.place.env(),
    narrator: { step: () => undefined, done: () => undefined },
    settings: DEFAULT_SETTINGS,
  });
  objects = await context.openObjects({ quarantine: false });
  const blob = asOid(repo.gitWith({ input: 'content\n' }, 'hash-object', '-w', '--stdin'));
  const other = asOid(repo.gitWith({ input: 'other' }, 'hash-object', '-w', '--stdin'));
  const [commit] = writeCommits(repo, [{ branch: 'submodule', parents: [], tree: new Map() }]);
  entries = [
    { mode: '100644', oid: blob },
    { mode: '100755', oid: other },
    { mode: '120000', oid: other },
    { mode: '160000', oid: asOid(commit?.commit ?? '') },
  ];
});

afterAll(async () => {
  await objects.close();
  context.close();
  repo.place.cleanUp();
});

/** Paths with the number of an entry to put there, -1 for none. No two entries that cannot be beside each other. */
function changes(minLength: number, maxLength: number): fc.Arbitrary<[string, number][]> {
  return fc
    .uniqueArray(fc.tuple(path, fc.integer({ min: -1, max: 3 })), {
      minLength,
      maxLength,
      selector: ([name]) => name,
    })
    .map((all) =>
      all.filter(
        ([name, entry], i) =>
          entry === -1 ||
          !all.some(([other, its], j) => j < i && its !== -1 && (inside(name, other) || inside(other, name))),
      ),
    );
}

function inside(name: string, directory: string): boolean {
  return name.startsWith(`${directory}/`);
}

/** What git's index makes of it. */
function byIndex(before: string, wanted: ReadonlyMap<GitPath, TreeEntry | null>): string {
  const env = { GIT_INDEX_FILE: join(repo.place.root, 'index') };
  const lines = [...wanted].map(([name, entry]) =>
    entry === null ? `0 ${'0'.repeat(40)}\t${name}\0` : `${entry.mode} ${entry.oid}\t${name}\0`,
  );
  repo.gitWith({ env }, 'read-tree', before);
  repo.gitWith({ env, input: Buffer.from(lines.join(''), 'latin1') }, 'update-index', '-z', '--index-info');
  return repo.gitWith({ env }, 'write-tree');
}

async function compare(before: string, list: readonly (readonly [string, number])[]): Promise<void> {
  const wanted = new Map(
    list.map(([name, entry]) => [asGitPath(name), entry === -1 ? null : (entries[entry] ?? null)] as const),
  );
  expect(await objects.applyToTree(asOid(before), wanted)).toBe(byIndex(before, wanted));
}

let round = 0;

function written(files: Parameters<typeof writeCommits>[1][number]['tree']): string {
  round += 1;
  const [made] = writeCommits(repo, [{ branch: `r${round}`, parents: [], tree: files }]);
  return made?.tree ?? '';
}

test('a few leaves come, go, change their kind and become directories as git’s index would have it', async () => {
  await fc.assert(
    fc.asyncProperty(tree, changes(1, 8), async (files, list) => {
      // Half of what is there goes or changes, so that directories become empty and files give way.
      const own = [...files.keys()].map((name, i): [string, number] => [name, (i % 5) - 1]);
      const all = new Map([...own.filter((_, i) => i % 2 === 0), ...list]);
      const safe = [...all].filter(
        ([name, entry]) =>
          entry === -1 ||
          ![...all].some(([other, its]) => its !== -1 && (inside(name, other) || inside(other, name))),
      );
      await compare(written(files), safe);
    }),
    cases(25),
  );
});

test('many leaves at once give the same', async () => {
  await fc.assert(
    fc.asyncProperty(tree, changes(90, 160), async (files, list) => {
      await compare(written(files), list);
    }),
    cases(15),
  );
});

test('taking out a file that is a directory by now takes nothing out of it', async () => {
  const before = written(new Map([['a/b', { mode: '100644', content: 'x\n' }]]));
  await compare(before, [['a', -1]]);
});

test('taking out a file that is a directory by now, among many others, takes nothing out of it', async () => {
  const before = written(new Map([['a/b', { mode: '100644', content: 'x\n' }]]));
  await compare(before, [['a', -1], ...Array.from({ length: 100 }, (_, i) => [`new/${i}`, 0] as const)]);
});

test('a tree from which all is taken is the empty tree', async () => {
  const names = ['a', 'b/c', 'b/d/e', 'n\xff/q"\n'];
  const before = asOid(written(new Map(names.map((name) => [name, { mode: '100644', content: 'x\n' }]))));
  const gone = new Map(names.map((name) => [asGitPath(name), null]));
  const many = Array.from({ length: 100 }, (_, i) => [asGitPath(`no/such/${i}`), null] as const);
  expect(await objects.applyToTree(before, gone)).toBe(await objects.emptyTree());
  expect(await objects.applyToTree(before, new Map([...gone, ...many]))).toBe(await objects.emptyTree());
});
