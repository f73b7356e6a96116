import { describe, expect, test } from 'vitest';
import type { GitPath, Oid } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';
import { type Renames, type Verification, verifyPaths } from './verify.ts';

const NO_RENAMES: Renames = { target: new Map(), change: new Map() };

const at = (name: string): GitPath => name as GitPath;

/** `1` is a file, `1x` an executable one, `1@` a link. */
function entry(text: string | undefined): TreeEntry | null {
  if (text === undefined) return null;
  const modes: Record<string, Mode> = { x: '100755', '@': '120000' };
  return { mode: modes[text[1] ?? ''] ?? '100644', oid: (text[0] ?? '').repeat(40) as Oid };
}

type Tree = Readonly<Record<string, string>>;

function diff(before: Tree, after: Tree): EntryChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ path: at(name), before: entry(before[name]), after: entry(after[name]) }));
}

/** Verifies `result` as the merge of two trees, as the caller does: renames are asked for when they are needed. */
function verify(
  trees: { base: Tree; target: Tree; change: Tree; result: Tree },
  renames = NO_RENAMES,
): Verification {
  const facts = {
    baseToTarget: diff(trees.base, trees.target),
    baseToChange: diff(trees.base, trees.change),
    targetToResult: diff(trees.target, trees.result),
  };
  const first = verifyPaths(facts, null, new Set());
  return first.needsRenames ? verifyPaths(facts, renames, new Set()) : first;
}

const problems = ({ problems: all }: Verification): string[] => all.map(({ path }) => path);
const base = { a: '1', b: '1', c: '1' };

test('a merge of changes to different paths passes and asks nothing', () => {
  const target = { ...base, a: '2' };
  const change = { a: '1', c: '1x', d: '3' };
  const result = { a: '2', c: '1x', d: '3' };
  expect(verify({ base, target, change, result })).toEqual({
    problems: [],
    questions: [],
    needsRenames: false,
  });
});

describe('what git must not lose silently', () => {
  const target = { ...base, a: '2' };
  const cases: [string, Tree, Tree][] = [
    ['a file that the change added', { ...base, d: '3' }, target],
    ['an edit of the change', { ...base, b: '3' }, target],
    ['a deletion of the change', { a: '1', c: '1' }, target],
    ['a mode that the change set', { ...base, b: '1x' }, target],
    ['a link that the change made of a file', { ...base, b: '1@' }, target],
  ];
  test.each(cases)('%s', (_, change, result) => {
    expect(problems(verify({ base, target, change, result }))).toHaveLength(1);
  });

  test('an edit of the target, where the change touches something else', () => {
    const change = { ...base, b: '3' };
    expect(problems(verify({ base, target, change, result: change }))).toEqual(['a']);
  });

  test('a file that nobody touched', () => {
    const change = { ...base, b: '3' };
    expect(problems(verify({ base, target, change, result: { a: '2', b: '3' } }))).toEqual(['c']);
  });

  test('what both sides agree on', () => {
    const both = { ...base, a: '2' };
    expect(problems(verify({ base, target: both, change: both, result: base }))).toEqual(['a']);
  });

  test('an edit of one side to a file that the other deleted', () => {
    const change = { b: '1', c: '1' };
    expect(problems(verify({ base, target, change, result: change }))).toEqual(['a']);
  });

  test('one of two links that both sides changed', () => {
    const links = { a: '1@' };
    const trees = { base: links, target: { a: '2@' }, change: { a: '3@' }, result: { a: '2@' } };
    expect(problems(verify(trees))).toEqual(['a']);
  });
});

test('a file that both sides edited is handed on to be looked at line by line', () => {
  const trees = {
    base,
    target: { ...base, a: '2' },
    change: { ...base, a: '3' },
    result: { ...base, a: '4' },
  };
  const { questions, problems: found } = verify(trees);
  expect(found).toEqual([]);
  expect(questions).toEqual([
    { path: 'a', base: entry('1'), target: entry('2'), change: entry('3'), result: entry('4') },
  ]);
});

test('a mode that one side set is not lost when both edited the file', () => {
  const edited = { base, target: { ...base, a: '2' }, change: { ...base, a: '3x' } };
  expect(problems(verify({ ...edited, result: { ...base, a: '4' } }))).toEqual(['a']);
  expect(verify({ ...edited, result: { ...base, a: '4x' } }).questions).toHaveLength(1);
  const turned = { base, target: { ...base, a: '2x' }, change: { ...base, a: '3' } };
  expect(problems(verify({ ...turned, result: { ...base, a: '4' } }))).toEqual(['a']);
  expect(verify({ ...turned, result: { ...base, a: '4x' } }).questions).toHaveLength(1);
});

describe('renames', () => {
  const moved = { z: '1', b: '1', c: '1' };
  const edited = { ...base, a: '3' };

  test('an edit of one side must be in the file that the other renamed', () => {
    const result = { z: '3', b: '1', c: '1' };
    const line = { path: 'z', base: entry('1'), result: entry('3') };
    const byTarget = { target: new Map([[at('a'), at('z')]]), change: new Map() };
    expect(verify({ base, target: moved, change: edited, result }, byTarget)).toEqual({
      problems: [],
      questions: [{ ...line, target: entry('1'), change: entry('3') }],
      needsRenames: false,
    });
    const byChange = { target: new Map(), change: new Map([[at('a'), at('z')]]) };
    expect(verify({ base, target: edited, change: moved, result }, byChange)).toEqual({
      problems: [],
      questions: [{ ...line, target: entry('3'), change: entry('1') }],
      needsRenames: false,
    });
  });

  test('a file that both sides renamed alike and edited is compared with what it was', () => {
    const target = { z: '2', b: '1', c: '1' };
    const change = { z: '3', b: '1', c: '1' };
    const both = new Map([[at('a'), at('z')]]);
    const trees = { base, target, change, result: { z: '4', b: '1', c: '1' } };
    expect(verify(trees, { target: both, change: both }).questions).toEqual([
      { path: 'z', base: entry('1'), target: entry('2'), change: entry('3'), result: entry('4') },
    ]);
  });

  test('an edit that fell away with the rename is seen', () => {
    const byTarget = { target: new Map([[at('a'), at('z')]]), change: new Map() };
    // The file vanished from its new place, as old versions of git let it.
    expect(
      problems(verify({ base, target: moved, change: edited, result: { b: '1', c: '1' } }, byTarget)),
    ).toContain('a');
    // The edit is kept at the old place besides.
    expect(
      problems(verify({ base, target: moved, change: edited, result: { ...moved, a: '3' } }, byTarget)),
    ).toContain('a');
  });

  test('a file that conflicts at its new place is one conflict, not two', () => {
    const byTarget = { target: new Map([[at('a'), at('z')]]), change: new Map() };
    const facts = {
      baseToTarget: diff(base, moved),
      baseToChange: diff(base, edited),
      targetToResult: diff(moved, { ...moved, z: '9' }),
    };
    expect(verifyPaths(facts, byTarget, new Set([at('z')]))).toEqual({
      problems: [],
      questions: [],
      needsRenames: false,
    });
  });

  test('a rename that git did not see explains nothing', () => {
    expect(problems(verify({ base, target: moved, change: edited, result: moved }))).toEqual(['a']);
  });
});

test('paths that are conflicts already are not judged again', () => {
  const facts = {
    baseToTarget: diff(base, { ...base, a: '2@' }),
    baseToChange: diff(base, { ...base, a: '3@' }),
    targetToResult: [],
  };
  expect(verifyPaths(facts, NO_RENAMES, new Set([at('a')]))).toEqual({
    problems: [],
    questions: [],
    needsRenames: false,
  });
});
