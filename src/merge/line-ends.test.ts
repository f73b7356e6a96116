import { expect, test } from 'vitest';
import { restoreLineEnds } from './line-ends.ts';

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
