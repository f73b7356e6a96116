// Contents that are merged by themselves must come out as git merges the files in their trees, and must not be taken
// for files to which attributes apply.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openContext } from '../../src/compose.ts';
import { DEFAULT_SETTINGS } from '../../src/config/defaults.ts';
import { asGitPath, asOid } from '../../src/model/ids.ts';
import type { TreeEntry } from '../../src/model/tree.ts';
import type { ContentSides, Objects } from '../../src/ports/git.ts';
import { Repository } from '../support/repo.ts';
import { SealedPlace } from '../support/sealed.ts';

let repo: Repository;
let context: Awaited<ReturnType<typeof openContext>>;
let objects: Objects;

beforeAll(async () => {
  repo = Repository.create(new SealedPlace(), 'repo', { bare: true });
  context = await openContext({
    cwd: repo.dir,
    env: repo.place.env(),
    narrator: { step: () => undefined, done: () => undefined },
    settings: DEFAULT_SETTINGS,
  });
  objects = await context.openObjects({ quarantine: false });
});

afterAll(async () => {
  await objects.close();
  context.close();
  repo.place.cleanUp();
});

async function entry(content: string, mode: TreeEntry['mode'] = '100644'): Promise<TreeEntry> {
  return { mode, oid: await objects.writeBlob(Buffer.from(content, 'latin1')) };
}

async function sides(base: string, target: string, change: string): Promise<ContentSides> {
  return { base: await entry(base), target: await entry(target), change: await entry(change) };
}

const lines = (...all: string[]): string => `${all.join('\n')}\n`;

test('each file comes out merged, in the order asked for, also in more than one batch', async () => {
  const files: ContentSides[] = [];
  for (let n = 0; n < 620; n += 1) {
    const middle = ['2', '3', '4', String(n)];
    files.push(
      await sides(lines('1', ...middle, '9'), lines(`t${n}`, ...middle, '9'), lines('1', ...middle, 'c')),
    );
  }
  const merged = await objects.mergeContents(files);
  expect(merged).toHaveLength(files.length);
  for (const [n, one] of merged.entries()) {
    expect(one).toEqual({
      outcome: 'clean',
      entry: await entry(lines(`t${n}`, '2', '3', '4', String(n), 'c')),
    });
  }
}, 60_000);

test('a conflict is told for its own file, and what is binary is not merged', async () => {
  const clean = await sides(
    lines('1', '2', '3', '4', '5'),
    lines('t', '2', '3', '4', '5'),
    lines('1', '2', '3', '4', 'c'),
  );
  const conflict = await sides(lines('1'), lines('t'), lines('c'));
  const binary = await sides('\0\n1\n', '\0\nt\n', '\0\nc\n');
  const merged = await objects.mergeContents([conflict, clean, binary]);
  expect(merged.map((one) => (one.outcome === 'conflict' ? one.kind : one.outcome))).toEqual([
    'content',
    'clean',
    'binary',
  ]);
});

test('the mode of a file stays', async () => {
  const files = {
    base: await entry(lines('1', '2', '3', '4', '5'), '100755'),
    target: await entry(lines('t', '2', '3', '4', '5'), '100755'),
    change: await entry(lines('1', '2', '3', '4', 'c'), '100755'),
  };
  expect(await objects.mergeContents([files])).toEqual([
    { outcome: 'clean', entry: await entry(lines('t', '2', '3', '4', 'c'), '100755') },
  ]);
});

test('attributes that want another merge are not lost: such paths are special, and no content is merged by them', async () => {
  const attributes = await entry('log merge=union\n*.bin -merge\nown merge=mine\n* text\n');
  const tree = await objects.applyToTree(
    await objects.emptyTree(),
    new Map([[asGitPath('.gitattributes'), attributes]]),
  );
  const paths = ['log', 'a.bin', 'own', 'plain.txt'].map(asGitPath);
  await objects.useAttributesOf(tree, paths);
  expect(await objects.findSpecial(paths)).toEqual(new Set(paths.slice(0, 3)));

  await objects.useAttributesOf(
    await objects.applyToTree(tree, new Map([[asGitPath('.gitattributes'), await entry('* merge=union\n')]])),
    paths,
  );
  const merged = await objects.mergeContents([await sides(lines('1'), lines('t'), lines('c'))]);
  expect(merged.map(({ outcome }) => outcome)).toEqual(['conflict']);
  await objects.useAttributesOf(asOid(await objects.emptyTree()), []);
});
