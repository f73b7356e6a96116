import { expect, it } from 'vitest';
import { parseSize, renderSize } from './sizes.ts';

it.each([
  ['10MB', 10_000_000],
  ['500kb', 500_000],
  ['1.5 GiB', 1_610_612_736],
  ['7B', 7],
  [1234, 1234],
  ['10', undefined],
  ['10M', undefined],
  ['-1MB', undefined],
  ['1e3MB', undefined],
])('%s is %s bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

it.each([1, 999, 1000, 1024, 1500, 10_000_000, 1_610_612_736, 123_456_789])(
  '%d bytes read back the same',
  (bytes) => {
    expect(parseSize(renderSize(bytes))).toBe(bytes);
  },
);
