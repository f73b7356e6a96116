import { expect, test } from 'vitest';
import { atLeast, featuresOf, GIT_FLOOR, parseGitVersion } from './version.ts';

test('versions of all vendors are read, and anything else is not guessed at', () => {
  expect(parseGitVersion('git version 2.39.5\n')).toEqual([2, 39, 5]);
  expect(parseGitVersion('git version 2.39.5 (Apple Git-154)\n')).toEqual([2, 39, 5]);
  expect(parseGitVersion('git version 2.47.1.windows.2\n')).toEqual([2, 47, 1]);
  expect(parseGitVersion('git version 2.55.GIT\n')).toEqual([2, 55, 0]);
  expect(parseGitVersion('git version 2.51.0-rc1\n')).toEqual([2, 51, 0]);
  expect(parseGitVersion('hub version 2.14.2\n')).toBeUndefined();
  expect(parseGitVersion('')).toBeUndefined();
});

test('versions are compared by number, not as text', () => {
  expect(atLeast([2, 100, 0], [2, 39, 0])).toBe(true);
  expect(atLeast([3, 0, 0], [2, 39, 5])).toBe(true);
  expect(atLeast([2, 39, 0], GIT_FLOOR)).toBe(true);
  expect(atLeast([2, 38, 9], GIT_FLOOR)).toBe(false);
  expect(atLeast([1, 99, 99], GIT_FLOOR)).toBe(false);
});

test('a feature is not used before the version that has it whole', () => {
  expect(featuresOf([2, 48, 9]).mergeTreeFlush).toBe(false);
  expect(featuresOf([2, 49, 0]).mergeTreeFlush).toBe(true);
  expect(featuresOf([2, 42, 9]).attrSource).toBe(false);
  expect(featuresOf([2, 51, 0]).renameToSelfFixed).toBe(false);
  expect(featuresOf([2, 51, 1]).renameToSelfFixed).toBe(true);
});
