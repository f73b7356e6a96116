import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countMarkerLines, countMarkers, takeSections } from './markers.ts';

const CONFLICT = 'one\n<<<<<<< main\nT\n||||||| abc\nB\n=======\nC\n>>>>>>> wt\ntwo\n';

test('a heading underlined by equals signs is no conflict', () => {
  expect(countMarkers('Title\n=======\ntext\n')).toBe(0);
  expect(countMarkers(CONFLICT)).toBe(1);
  expect(countMarkers(CONFLICT.replaceAll('\n', '\r\n'))).toBe(1);
});

test('a closing marker without an opening one before it does not count', () => {
  expect(countMarkers('>>>>>>> a\n<<<<<<< b\n')).toBe(0);
});

test('taking one side of each conflict keeps what is merged around it', () => {
  expect(takeSections(CONFLICT, 'target')).toBe('one\nT\ntwo\n');
  expect(takeSections(CONFLICT, 'base')).toBe('one\nB\ntwo\n');
  expect(takeSections(CONFLICT, 'change')).toBe('one\nC\ntwo\n');
});

test('markers that are not whole are never guessed at', () => {
  expect(takeSections('<<<<<<< main\nT\n=======\nC\n>>>>>>> wt\n', 'target')).toBeUndefined();
  expect(takeSections('<<<<<<< main\nT\n', 'target')).toBeUndefined();
});

test('half of a conflict that was taken out still counts by its lines', () => {
  expect(countMarkerLines(CONFLICT.replace('<<<<<<< main\n', ''))).toBe(3);
  expect(countMarkerLines('one\ntwo\n')).toBe(0);
});

const plain = fc.constantFrom('a', 'b', '', '  <<<<<<< x', '<<<<<<<x', '<<<<<<<<< x', '======');
const marker = fc.constantFrom('<<<<<<< x', '||||||| x', '|||||||', '=======', '>>>>>>> x');

/** A merge: what git wrote, and what each side of it is. */
function merge(line: fc.Arbitrary<string>) {
  const lines = fc.array(line, { maxLength: 3 });
  const part = fc.oneof(
    lines.map((merged) => ({ target: merged, base: merged, change: merged, written: merged, open: 0 })),
    fc.record({ target: lines, base: lines, change: lines }).map((sides) => ({
      ...sides,
      written: [
        ...['<<<<<<< main', ...sides.target, '||||||| 1234567', ...sides.base],
        ...['=======', ...sides.change, '>>>>>>> wt'],
      ],
      open: 1,
    })),
  );
  return fc
    .tuple(fc.array(part, { maxLength: 4 }), fc.constantFrom('\n', '\r\n'))
    .filter(([parts]) => parts.some(({ open }) => open > 0))
    .map(([parts, end]) => {
      const text = (all: readonly (readonly string[])[]): string =>
        all
          .flat()
          .map((one) => one + end)
          .join('');
      return {
        written: text(parts.map(({ written }) => written)),
        open: parts.reduce((sum, one) => sum + one.open, 0),
        target: text(parts.map(({ target }) => target)),
        base: text(parts.map(({ base }) => base)),
        change: text(parts.map(({ change }) => change)),
      };
    });
}

const SIDES = ['target', 'base', 'change'] as const;

test('each side of a merge is the merged lines with that side of every conflict, and nothing else', () => {
  fc.assert(
    fc.property(merge(plain), (one) => {
      expect(countMarkers(one.written)).toBe(one.open);
      for (const side of SIDES) expect(takeSections(one.written, side)).toBe(one[side]);
    }),
  );
});

test('content that looks like a marker gives the right side or none, never a mixture', () => {
  let refused = 0;
  fc.assert(
    fc.property(merge(fc.oneof({ arbitrary: plain, weight: 3 }, marker)), (one) => {
      for (const side of SIDES) {
        const taken = takeSections(one.written, side);
        if (taken === undefined) refused += 1;
        else expect(taken).toBe(one[side]);
      }
    }),
    { numRuns: 2000 },
  );
  expect(refused).toBeGreaterThan(0);
});

test('a text without conflicts has no sides to take: something else stopped its merge', () => {
  expect(takeSections('one\n=======\n>>>>>>> wt\n', 'target')).toBeUndefined();
  expect(takeSections('', 'change')).toBeUndefined();
});
