// A checkout that git was bringing from one commit to the next when it was killed: some files gone, some written, one
// perhaps cut short, the index as it was. Wherever it stopped, the checkout is brought to its end, and what is the
// user's own is left alone.

import { readdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContext } from '../../src/compose.ts';
import { DEFAULT_SETTINGS } from '../../src/config/defaults.ts';
import { asOid } from '../../src/model/ids.ts';
import { cases } from '../support/random.ts';
import {
  changed,
  differences,
  type Leaf,
  steps,
  type Tree,
  tree,
  writeCommits,
} from '../support/random-history.ts';
import { type Content, linkTo, Repository, readFiles } from '../support/repo.ts';
import { SealedPlace } from '../support/sealed.ts';

/** Names that are no text are left to other tests: here files are written by their names as text. */
function readable(files: Tree): Tree {
  return new Map(
    [...files].map(([name, leaf]) => [
      Buffer.from(name, 'latin1').toString('utf8').replace('\ufffd', 'y'),
      leaf,
    ]),
  );
}

function content({ mode, content: text }: Leaf): Content {
  const bytes = Buffer.from(text, 'latin1');
  return mode === '100644' ? bytes : { mode, content: bytes };
}

/** Does what git does before it writes the index, as far as `stop` steps: first all that goes, then all that comes. */
function halfWay(
  repo: Repository,
  changes: ReadonlyMap<string, Leaf | null>,
  stop: number,
  cut: number,
): void {
  const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  const todo = [...sorted.filter(([, leaf]) => leaf === null), ...sorted.filter(([, leaf]) => leaf !== null)];
  for (const [i, [name, leaf]] of todo.slice(0, stop).entries()) {
    repo.write(name, null);
    if (leaf === null) {
      for (
        let dir = dirname(name);
        dir !== '.' && readdirSync(repo.path(dir)).length === 0;
        dir = dirname(dir)
      )
        rmdirSync(repo.path(dir));
      continue;
    }
    const last = i === stop - 1 && leaf.mode !== '120000';
    if (last && cut === 0) continue;
    repo.write(
      name,
      content(
        last && cut < 9
          ? { ...leaf, content: leaf.content.slice(0, leaf.content.length >> (cut % 3)) }
          : leaf,
      ),
    );
  }
}

interface Scene {
  readonly from: Tree;
  readonly to: Tree;
  /** Steps that were taken. */
  readonly stop: number;
  /** How much of the last file was written: 0 nothing, up to 8 a part, else all. */
  readonly cut: number;
}

const scene: fc.Arbitrary<Scene> = fc
  .record({ before: tree, change: steps(6), stop: fc.nat(12), cut: fc.nat(12) })
  .map(({ before, change, stop, cut }) => ({
    from: readable(before),
    to: readable(changed(before, change)),
    stop,
    cut,
  }));

let repo: Repository;
let context: Awaited<ReturnType<typeof openContext>>;
let round = 0;

beforeAll(async () => {
  repo = Repository.create(new SealedPlace());
  repo.commit('first', { start: 'x\n' });
  context = await openContext({
    cwd: repo.dir,
    env: repo.place.env(),
    narrator: { step: () => undefined, done: () => undefined },
    settings: DEFAULT_SETTINGS,
  });
});

afterAll(() => {
  context.close();
  repo.place.cleanUp();
});

/** Checks out the first commit, moves the branch to the second, and goes half of the way; gives both and how to end. */
async function crash({ from, to, stop, cut }: Scene) {
  round += 1;
  const bytes = (files: Tree): Tree =>
    new Map([...files].map(([name, leaf]) => [Buffer.from(name).toString('latin1'), leaf]));
  const [old, next] = writeCommits(repo, [
    { branch: `r${round}-from`, parents: [], tree: bytes(from) },
    { branch: `r${round}-to`, parents: [`r${round}-from`], tree: bytes(to) },
  ]);
  repo.git('reset', '-q', '--hard');
  repo.git('clean', '-qffdx');
  repo.git('checkout', '-q', '-B', 'main', `r${round}-from`);
  repo.write('zz-own', 'loose\n');
  repo.git('update-ref', 'refs/heads/main', `refs/heads/r${round}-to`);
  halfWay(repo, differences(from, to), stop, cut);
  const [worktree] = await context.refs.listWorktrees();
  if (worktree === undefined || old === undefined || next === undefined) throw new Error('no scene');
  const end = () => context.checkouts.finishAdvance(worktree, asOid(old.commit), asOid(next.commit));
  return { next, end };
}

test('a checkout that stopped anywhere on its way comes to its end', async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (one) => {
      const { next, end } = await crash(one);
      expect(await end()).toEqual({ outcome: 'clear' });
      expect(repo.status()).toEqual(['?? zz-own']);
      expect(repo.read('zz-own')).toBe('loose\n');
      expect(repo.git('write-tree')).toBe(next.tree);
      expect(Object.keys(readFiles(repo.dir)).sort()).toEqual([...one.to.keys(), 'zz-own'].sort());
    }),
    cases(30),
  );
});

const file = (text: string): Leaf => ({ mode: '100644', content: text });
const BEFORE: Tree = new Map([
  ['edited', file('old\n')],
  ['gone', file('old\n')],
  ['dir/x', file('old\n')],
  ['link', { mode: '120000', content: 'a' }],
]);
const AFTER: Tree = new Map([
  ['edited', file('new\n')],
  ['dir', file('new\n')],
  ['new/deep/file', file('new\n')],
  ['link', { mode: '120000', content: 'b' }],
]);

describe('what the user wrote since is not written over, and named', () => {
  test.each<[name: string, what: string, content: Content]>([
    ['edited', 'a file that both commits have', 'mine\n'],
    ['gone', 'a file that goes', 'mine\n'],
    ['link', 'a link', linkTo('mine')],
    ['new/deep/file', 'a file that comes', 'mine\n'],
    ['new', 'a file where a folder comes', 'mine\n'],
    ['new/deep/file/mine', 'a folder where a file comes', 'mine\n'],
    ['dir/mine', 'a file in a folder that becomes a file', 'mine\n'],
  ])('%s: %s', async (name, _, mine) => {
    for (const stop of [0, 1]) {
      const { end } = await crash({ from: BEFORE, to: AFTER, stop, cut: 9 });
      repo.write(name, null);
      repo.write(name, mine);
      const before = readFiles(repo.dir);
      expect(await end()).toMatchObject({ outcome: 'blocked', paths: [name] });
      expect(readFiles(repo.dir)).toEqual(before);
    }
  });

  test('also what is only staged', async () => {
    const { end } = await crash({ from: BEFORE, to: AFTER, stop: 0, cut: 9 });
    repo.write('edited', 'mine\n');
    repo.git('add', 'edited');
    repo.write('edited', 'old\n');
    expect(await end()).toMatchObject({ outcome: 'blocked', paths: ['edited'] });
    expect(repo.git('cat-file', 'blob', ':edited')).toBe('mine');
  });
});
