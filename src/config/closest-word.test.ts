import { expect, it } from 'vitest';
import { findClosestWord } from './closest-word.ts';

it.each([
  ['tiemout', 'timeout'],
  ['Timeout', 'timeout'],
  ['maxRuns', 'max_runs'],
  ['max-runs', 'max_runs'],
  ['outptu', 'output'],
  ['zebra', undefined],
  ['', undefined],
])('%s is meant as %s', (word, meant) => {
  expect(findClosestWord(word, ['timeout', 'output', 'max_runs', 'root'])).toBe(meant);
});
