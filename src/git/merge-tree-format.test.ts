import { describe, expect, test } from 'vitest';
import { parseMergeTree, parseMergeTreeBatch } from './merge-tree-format.ts';

const TREE = '3ac0eae9ea3b87e3fa90b656b4b5702b6b707a96';
const OTHER = '308b174efc4c68f397fe9426ecddb02e5cd70413';
const oid = (digit: string): string => digit.repeat(40);

/** What git prints: fields, each with a NUL after it. */
const bytes = (...fields: readonly string[]): Buffer =>
  Buffer.from(fields.map((field) => `${field}\0`).join(''), 'latin1');

const stages = (path: string, mode = '100644'): string[] =>
  [1, 2, 3].map((stage) => `${mode} ${oid(String(stage))} ${stage}\t${path}`);
const contents = (path: string): string[] => [
  '1',
  path,
  'CONFLICT (contents)',
  `CONFLICT (content): Merge conflict in ${path}\n`,
];
const entry = (digit: string, mode = '100644') => ({ mode, oid: oid(digit) });

/** The text that git 2.39 puts after a conflict in a submodule, with no NUL in it. */
const ADVICE =
  'Recursive merging with submodules currently only supports trivial cases.\nPlease manually handle the merging\n';

describe('one merge', () => {
  test('exit code 1 without a tree is a refusal, not a conflict', () => {
    expect(parseMergeTree(Buffer.alloc(0), 1, 'merge-tree: x - not something we can merge\n')).toEqual({
      outcome: 'refused',
      reason: 'merge-tree: x - not something we can merge',
    });
    expect(parseMergeTree(Buffer.alloc(0), 1, '').outcome).toBe('refused');
    expect(parseMergeTree(bytes('NOISE FROM A DRIVER', TREE), 1, '').outcome).toBe('refused');
  });

  test('a conflict that names no path is refused, never taken for clean', () => {
    expect(parseMergeTree(bytes(TREE, ''), 1, '').outcome).toBe('refused');
  });

  test('a clean merge may carry messages', () => {
    const clean = bytes(TREE, '', '1', 'a', 'Auto-merging', 'Auto-merging a\n');
    expect(parseMergeTree(clean, 0, '')).toEqual({ outcome: 'clean', tree: TREE });
  });

  test('each conflict has its three versions and what git said about it', () => {
    const printed = bytes(
      TREE,
      ...stages('a'),
      ...stages('b').slice(1),
      '',
      '1',
      'a',
      'Auto-merging',
      'Auto-merging a\n',
      ...contents('a'),
      ...contents('b'),
    );
    expect(parseMergeTree(printed, 1, '')).toEqual({
      outcome: 'conflict',
      tree: TREE,
      conflicts: [
        {
          path: 'a',
          kind: 'content',
          sides: { base: entry('1'), target: entry('2'), change: entry('3') },
          message: 'CONFLICT (content): Merge conflict in a',
          related: [],
        },
        {
          path: 'b',
          kind: 'add-add',
          sides: { base: null, target: entry('2'), change: entry('3') },
          message: 'CONFLICT (content): Merge conflict in b',
          related: [],
        },
      ],
    });
  });

  test('names keep their bytes, tabs and line feeds included', () => {
    const name = 'a\tb\nc\xff';
    const result = parseMergeTree(bytes(TREE, ...stages(name), '', ...contents(name)), 1, '');
    expect(result.outcome === 'conflict' && result.conflicts.map(({ path }) => path)).toEqual([name]);
  });

  test('the other names of a rename belong to the conflict', () => {
    const printed = bytes(
      TREE,
      `100644 ${oid('1')} 1\told`,
      `100644 ${oid('2')} 2\tone`,
      `100644 ${oid('3')} 3\ttwo`,
      '',
      '3',
      'old',
      'one',
      'two',
      'CONFLICT (rename/rename)',
      'CONFLICT (rename/rename): old renamed to one in x and to two in y.\n',
    );
    const result = parseMergeTree(printed, 1, '');
    const found = result.outcome === 'conflict' ? result.conflicts : [];
    expect(found.map(({ path, kind, related }) => [path, kind, related])).toEqual([
      ['old', 'rename-rename', ['one', 'two']],
      ['one', 'rename-rename', ['old', 'two']],
      ['two', 'rename-rename', ['old', 'one']],
    ]);
  });

  test('advice after the last message is not taken for another one', () => {
    const printed = Buffer.concat([
      bytes(TREE, ...stages('sub', '160000'), '', ...contents('sub')),
      Buffer.from(ADVICE),
    ]);
    const result = parseMergeTree(printed, 1, '');
    expect(result.outcome === 'conflict' && result.conflicts.map(({ kind }) => kind)).toEqual(['submodule']);
  });

  test('output that was cut off is an error, not half of the conflicts', () => {
    const whole = bytes(TREE, ...stages('a'), '', ...contents('a'));
    expect(() => parseMergeTree(whole.subarray(0, whole.length - 60), 1, '')).toThrow();
    expect(() => parseMergeTree(bytes(TREE, 'no entry', ''), 1, '')).toThrow('unknown entry');
  });
});

describe('many merges at once', () => {
  const conflict = ['0', TREE, ...stages('a'), '', ...contents('a'), ''];

  test('each answer belongs to its pair', () => {
    const results = parseMergeTreeBatch(bytes('1', OTHER, '', ...conflict, '1', TREE, ''), 3);
    expect(results.map(({ outcome }) => outcome)).toEqual(['clean', 'conflict', 'clean']);
    expect(results.map((result) => result.outcome !== 'refused' && result.tree)).toEqual([OTHER, TREE, TREE]);
  });

  test('advice inside of an answer does not spoil the answers after it', () => {
    const printed = Buffer.concat([
      bytes('0', TREE, ...stages('sub', '160000'), '', ...contents('sub')),
      Buffer.from(`${ADVICE}\0`),
      bytes('1', OTHER, ''),
    ]);
    expect(parseMergeTreeBatch(printed, 2)).toMatchObject([
      { outcome: 'conflict', tree: TREE, conflicts: [{ path: 'sub', kind: 'submodule' }] },
      { outcome: 'clean', tree: OTHER },
    ]);
  });

  test('fewer answers than pairs, or anything unknown, is an error', () => {
    expect(() => parseMergeTreeBatch(bytes('1', TREE, ''), 2)).toThrow();
    expect(() => parseMergeTreeBatch(bytes('NOISE', TREE, ''), 1)).toThrow('unknown record');
    expect(() => parseMergeTreeBatch(bytes('1', TREE, 'more'), 1)).toThrow();
  });
});
