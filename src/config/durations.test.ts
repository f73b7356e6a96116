import { expect, it } from 'vitest';
import { parseDuration, renderDuration } from './durations.ts';

it.each([
  [30, 1_800_000],
  [0.5, 30_000],
  ['90s', 90_000],
  ['1.5h', 5_400_000],
  [' 2 m ', 120_000],
  ['30', undefined],
  ['1d', undefined],
  ['-1s', undefined],
])('%j is %s ms', (duration, ms) => {
  expect(parseDuration(duration)).toBe(ms);
});

it.each([1000, 60_000, 90_000, 5_400_000, 1500])('%d ms read back the same', (ms) => {
  expect(parseDuration(renderDuration(ms))).toBe(ms);
});
