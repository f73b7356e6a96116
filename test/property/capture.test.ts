// Whatever was done to a workspace, its snapshot is the tree that `git add -A` would give, and comparing it afterwards
// finds nothing; after one more change it finds just that.

import { chmodSync, lstatSync, rmSync, type Stats, utimesSync } from 'node:fs';
import fc from 'fast-check';
import { test } from 'vitest';
import { plainTree, requestFor, workspacesOf } from '../support/captures.ts';
import { type Content, linkTo, type Repository, repositoryTemplate } from '../support/repo.ts';

const PATHS = [
  'a',
  'b',
  'd',
  'd/a',
  'd/b',
  'd/e',
  'd/e/f',
  'e/g',
  '-x',
  'n\nl',
  'ü',
  ':(top)a',
  '*',
] as const;

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { a: 'a\n', 'd/a': 'a\n', 'd/e/f': 'f\n', 'e/g': 'g\n', '-x': 'x\n', 'n\nl': 'nl\n' });
});

type Step = (repo: Repository) => void;

function find(a: Repository, path: string): Stats | undefined {
  try {
    return lstatSync(a.path(path));
  } catch {
    return undefined;
  }
}

function isFile(a: Repository, path: string): boolean {
  return find(a, path)?.isFile() === true;
}

/** Makes room for a path: what stands where it, or a folder above it, must be goes away. */
function clear(a: Repository, path: string): void {
  const parts = path.split('/');
  for (let i = 1; i < parts.length; i += 1) {
    const above = parts.slice(0, i).join('/');
    if (find(a, above)?.isDirectory() === false) rmSync(a.path(above));
  }
  rmSync(a.path(path), { recursive: true, force: true });
}

function put(a: Repository, path: string, content: Content): void {
  clear(a, path);
  a.write(path, content);
}

const path = fc.constantFrom(...PATHS);
const content = fc.constantFrom('', 'a\n', 'b\n', 'c', 'a\r\nb\r\n', '\0\xff');

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(path, content).map(
      ([p, text]): Step =>
        (a) =>
          put(a, p, text),
    ),
  },
  {
    weight: 3,
    arbitrary: path.map(
      (p): Step =>
        (a) => {
          if (find(a, p) !== undefined) rmSync(a.path(p), { recursive: true });
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(path, path).map(
      ([p, target]): Step =>
        (a) =>
          put(a, p, linkTo(target)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(path, fc.constantFrom(0o644, 0o755)).map(
      ([p, mode]): Step =>
        (a) => {
          if (isFile(a, p)) chmodSync(a.path(p), mode);
        },
    ),
  },
  {
    weight: 1,
    arbitrary: path.map(
      (p): Step =>
        (a) => {
          if (isFile(a, p)) utimesSync(a.path(p), 1, 1);
        },
    ),
  },
  {
    weight: 2,
    arbitrary: path.map(
      (p): Step =>
        (a) =>
          void a.tryGit(['--literal-pathspecs', 'add', '--', p]),
    ),
  },
  {
    weight: 1,
    arbitrary: path.map(
      (p): Step =>
        (a) =>
          void a.tryGit(['--literal-pathspecs', 'add', '-N', '--', p]),
    ),
  },
  {
    weight: 1,
    arbitrary: path.map(
      (p): Step =>
        (a) =>
          void a.tryGit(['--literal-pathspecs', 'rm', '-q', '--cached', '-r', '--', p]),
    ),
  },
  {
    weight: 1,
    arbitrary: path.map(
      (p): Step =>
        (a) =>
          void a.tryGit(['update-index', '--assume-unchanged', '--', p]),
    ),
  },
  { weight: 1, arbitrary: fc.constant((a: Repository) => void a.tryGit(['commit', '-q', '-m', 'x'])) },
  { weight: 1, arbitrary: fc.constant((a: Repository) => void a.tryGit(['stash', '-q'])) },
  { weight: 1, arbitrary: fc.constant((a: Repository) => void a.tryGit(['reset', '-q'])) },
);

test('a snapshot is what git add -A gives, and stays equal to the disk', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (steps, autocrlf) => {
        const repo = newRepo();
        repo.git('config', 'core.autocrlf', autocrlf ? 'input' : 'false');
        repo.git('config', 'core.safecrlf', 'false');
        const a = repo.worktree('a');
        for (const one of steps) one(a);
        const request = await requestFor(repo, a);
        const store = await workspacesOf(repo);
        const { tree, uncommitted } = await store.capture(request);
        if (tree !== plainTree(a)) throw new Error(`captured ${repo.git('ls-tree', '-r', tree)}`);
        if (uncommitted !== (tree !== a.tree('HEAD'))) throw new Error('uncommitted is wrong');
        if ((await store.compare(request, tree)).length > 0)
          throw new Error('the disk differs from its own snapshot');
        clear(a, 'zz');
        a.write('zz', 'one more\n');
        const differing = await store.compare(request, tree);
        if (differing.length !== 1 || differing[0] !== 'zz')
          throw new Error(`differs: ${JSON.stringify(differing)}`);
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
});
