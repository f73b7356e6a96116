import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineEndsOf, restoreLineEnds } from './line-ends.ts';

test('an edit saved with other line ends comes back as that edit alone', () => {
  expect(restoreLineEnds('a\nb\n', 'A\r\nb\r\n')).toBe('A\nb\n');
  expect(restoreLineEnds('a\r\nb\r\n', 'A\nb\n')).toBe('A\r\nb\r\n');
});

test('a change of nothing but line ends was the task and stays', () => {
  expect(restoreLineEnds('a\nb\n', 'a\r\nb\r\n')).toBeUndefined();
});

test('mixed line ends, binary content and unchanged line ends are left alone', () => {
  expect(restoreLineEnds('a\nb\n', 'A\r\nb\n')).toBeUndefined();
  expect(restoreLineEnds('a\0\n', 'b\0\r\n')).toBeUndefined();
  expect(restoreLineEnds('a\n', 'b\n')).toBeUndefined();
  expect(restoreLineEnds('a', 'b\r\n')).toBeUndefined();
});

test('whatever comes back has the line ends of before, the changed text in it, and needs nothing more', () => {
  const piece = fc.constantFrom('a', 'b', '\r\n', '\n', '\r', ' ', '\0');
  const text = fc.oneof(
    fc.string({ unit: piece, maxLength: 12 }),
    fc
      .tuple(fc.array(fc.constantFrom('a', 'b', '', 'a\r'), { maxLength: 5 }), fc.constantFrom('\n', '\r\n'))
      .map(([lines, end]) => lines.map((line) => line + end).join('')),
  );
  fc.assert(
    fc.property(text, text, (base, change) => {
      const restored = restoreLineEnds(base, change);
      if (restored === undefined) return;
      expect(lineEndsOf(restored)).toBe(lineEndsOf(base));
      expect(restored.replaceAll('\r\n', '\n')).toBe(change.replaceAll('\r\n', '\n'));
      expect(restoreLineEnds(base, restored)).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
});
