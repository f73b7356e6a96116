// Joined files, checked line by line: what git merges cleanly must pass, and nothing that was taken out of such a
// result or put back into it may. Texts are merged by git, never by the code under test.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLines } from '../../src/merge/lines.ts';
import { countMarkers, takeSections } from '../../src/merge/markers.ts';
import { cases } from '../support/random.ts';
import { writeCommits } from '../support/random-history.ts';
import { Repository } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';

interface Three {
  readonly base: readonly string[];
  readonly target: readonly string[];
  readonly change: readonly string[];
}

type Edit = { readonly at: number; readonly cut: number; readonly put: readonly string[] };
type Move = { readonly from: number; readonly count: number; readonly to: number };

function edited(lines: readonly string[], edits: readonly (Edit | Move)[]): string[] {
  const out = [...lines];
  for (const edit of edits) {
    if ('put' in edit) out.splice(edit.at % (out.length + 1), edit.cut, ...edit.put);
    else {
      const taken = out.splice(edit.from % (out.length + 1), edit.count);
      out.splice(edit.to % (out.length + 1), 0, ...taken);
    }
  }
  return out;
}

/** The last line of every text: none ends with an empty one. */
const LAST = 'the end';

const where = fc.nat(40);

/** Two edited versions of a text, some of the edits made by both. */
function three(line: fc.Arbitrary<string>, moves: boolean): fc.Arbitrary<Three> {
  const edit = fc.record({ at: where, cut: fc.nat(3), put: fc.array(line, { maxLength: 3 }) });
  const move = fc.record({ from: where, count: fc.integer({ min: 1, max: 4 }), to: where });
  const edits = fc.array(moves ? fc.oneof({ arbitrary: edit, weight: 3 }, move) : edit, { maxLength: 3 });
  return fc
    .tuple(fc.array(line, { minLength: 3, maxLength: 40 }), edits, edits, fc.array(edit, { maxLength: 1 }))
    .map(([base, ofTarget, ofChange, ofBoth]) => ({
      base: [...base, LAST],
      target: [...edited(base, [...ofBoth, ...ofTarget]), LAST],
      change: [...edited(base, [...ofBoth, ...ofChange]), LAST],
    }));
}

/** Lines of which no two are alike. */
const unique = fc.nat(2 ** 31 - 1).map((n) => `line ${n}`);
/** Lines as code has them: some of them again and again. */
const usual = fc.oneof(
  fc.constantFrom('', '}', '  }', '  return;', 'end'),
  fc.nat(40).map((n) => `  call(${n});`),
);

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
/** Lines of a text; one line feed more at its end does no harm, since no text ends with an empty line. */
const linesOf = (content: string): string[] => content.replace(/\n+$/, '').split('\n');
const check = ({ base, target, change }: Three, result: readonly string[]) =>
  checkLines(text(base), text(target), text(change), text(result));

/** Merges all of them by one merge of two commits with a file each, as a landing does; undefined for a conflict. */
function mergeAll(all: readonly Three[]): (string[] | undefined)[] {
  const repo = Repository.create(sealedPlace(), 'repo', { bare: true });
  const sides = (['base', 'target', 'change'] as const).map((side) => ({
    branch: side,
    parents: side === 'base' ? [] : ['base'],
    tree: new Map(
      all.map((one, i) => [`f${i}`, { mode: '100644' as const, content: text(one[side]) }] as const),
    ),
  }));
  writeCommits(repo, sides);
  const run = repo.tryGit([
    'merge-tree',
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    'target',
    'change',
  ]);
  const [tree = '', ...conflicts] = run.stdout.split('\0');
  expect(tree, run.stderr).toMatch(/^[0-9a-f]{40}$/);
  const open = new Set(conflicts);
  const contents = repo.gitWith(
    { input: all.map((_, i) => `${tree}:f${i}\n`).join('') },
    'cat-file',
    '--batch=@@@',
  );
  return contents
    .split(/^@@@\n/m)
    .slice(1)
    .map((content, i) => (open.has(`f${i}`) ? undefined : linesOf(content)));
}

/** Cases with what git made of them, those without a conflict. */
function mergedCases(kind: fc.Arbitrary<Three>, runs: number): { one: Three; result: string[] }[] {
  const all = fc.sample(kind, cases(runs));
  const results = mergeAll(all);
  const merged = all.flatMap((one, i) => {
    const result = results[i];
    return result === undefined ? [] : [{ one, result }];
  });
  expect(merged.length).toBeGreaterThan(runs / 4);
  return merged;
}

const story = (one: Three, result: readonly string[]): string => JSON.stringify({ ...one, result });

test('what git merges from edits passes: no merge is handed over without a reason', () => {
  for (const { one, result } of mergedCases(three(unique, false), 1000))
    expect(check(one, result), story(one, result)).toEqual({ ok: true });
});

test('lines that are alike and lines that were moved hardly ever raise a false alarm', () => {
  // There is none that no doubt could be raised about: a side moves a line that the other deletes, and git keeps it.
  const merged = mergedCases(three(usual, true), 1000);
  const alarms = merged.filter(({ one, result }) => !check(one, result).ok);
  expect(alarms.length / merged.length).toBeLessThan(0.005);
});

test('a line taken out of a result, put back into it or doubled in it is named', () => {
  let planted = 0;
  for (const [i, { one, result }] of mergedCases(three(unique, false), 400).entries()) {
    const { base, target, change } = one;
    const without = (line: string): string[] => result.filter((other) => other !== line);
    const plant = (line: string, wrong: readonly string[]): void => {
      const verdict = check(one, wrong);
      expect(verdict, story(one, wrong)).toMatchObject({ ok: false, line });
      planted += 1;
    };
    const added = result.filter((line) => !base.includes(line));
    const gone = base.filter((line) => !target.includes(line) || !change.includes(line));
    for (const line of added) {
      plant(line, without(line));
      plant(line, [...result, line, line]);
    }
    for (const line of gone) plant(line, [...result.slice(0, i % 7), line, ...result.slice(i % 7)]);
    for (const line of result.slice(0, 3)) plant(line, without(line));
  }
  expect(planted).toBeGreaterThan(1000);
});

test('a line that only one side has is missed also where other lines are alike', () => {
  let planted = 0;
  for (const { one, result } of mergedCases(three(usual, true), 400)) {
    const count = (lines: readonly string[], line: string): number =>
      lines.filter((other) => other === line).length;
    for (const line of new Set(result)) {
      const [inBase, inTarget, inChange] = [one.base, one.target, one.change].map((lines) =>
        count(lines, line),
      );
      if (inBase !== 0 || (inTarget !== 0 && inChange !== 0)) continue;
      const at = result.indexOf(line);
      expect(
        check(
          one,
          result.filter((_, i) => i !== at),
        ).ok,
        story(one, result),
      ).toBe(false);
      planted += 1;
    }
  }
  expect(planted).toBeGreaterThan(100);
});

/** `git merge-file` on three versions, which aligns lines in another way than a merge of trees does. */
function fileMerger(): (one: Three, ...how: string[]) => string {
  const repo = Repository.create(sealedPlace());
  return (one, ...how) => {
    for (const side of ['base', 'target', 'change'] as const) repo.write(side, text(one[side]));
    return repo.tryGit(['merge-file', '-p', '--diff3', ...how, 'target', 'base', 'change']).stdout;
  };
}

test('what git merge-file merges passes too', () => {
  const merge = fileMerger();
  let merged = 0;
  fc.assert(
    fc.property(three(unique, false), (one) => {
      const result = merge(one);
      if (countMarkers(result) > 0) return;
      merged += 1;
      expect(check(one, linesOf(result)), story(one, linesOf(result))).toEqual({ ok: true });
    }),
    cases(60),
  );
  expect(merged).toBeGreaterThan(20);
});

test('taking one side of each conflict gives what git gives when that side wins', () => {
  const merge = fileMerger();
  let conflicts = 0;
  fc.assert(
    fc.property(three(usual, true), (one) => {
      const marked = merge(one);
      if (countMarkers(marked) === 0) return;
      conflicts += 1;
      expect(takeSections(marked, 'target')).toBe(merge(one, '--ours'));
      expect(takeSections(marked, 'change')).toBe(merge(one, '--theirs'));
    }),
    cases(40),
  );
  expect(conflicts).toBeGreaterThan(10);
});
