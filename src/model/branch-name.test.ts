import { expect, it } from 'vitest';
import { isBranchName } from './branch-name.ts';

it.each(['main', 'wt/wave/task', 'release/2.x', 'a.b', 'ünïcode', 'a@b', 'lock', 'x.lockx'])(
  '%s is one',
  (name) => {
    expect(isBranchName(name)).toBe(true);
  },
);

it.each([
  '',
  '-x',
  '@',
  'HEAD',
  'a b',
  'a..b',
  'a.lock',
  'a.lock/b',
  '.a',
  'a/.b',
  'a/',
  '/a',
  'a//b',
  'a.',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[',
  'a\\b',
  'a@{1}',
  'a\nb',
  'refs/heads/main',
])('%j is none', (name) => {
  expect(isBranchName(name)).toBe(false);
});
