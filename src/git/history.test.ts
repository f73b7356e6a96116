import { expect, test } from 'vitest';
import type { Oid } from '../model/ids.ts';
import { historiesOf, parseParents } from './history.ts';

const oid = (letter: string): Oid => letter.repeat(40) as Oid;

/** Histories of tips, given `commit: parents` by letters; what is not listed is known. */
function histories(tips: string, listed: Readonly<Record<string, string>>) {
  const text = Object.entries(listed)
    .map(([commit, parents]) => [commit, ...parents].map(oid).join(' '))
    .join('\n');
  const found = historiesOf([...tips].map(oid), parseParents(`${text}\n`));
  const letters = (ids: readonly Oid[]): string =>
    ids
      .map((id) => id[0] ?? '')
      .sort()
      .join('');
  return found.map(({ commits, frontier, shared }) => ({
    commits: letters(commits),
    frontier: letters(frontier),
    shared,
  }));
}

test('a tip that is known has nothing new and leaves known history at itself', () => {
  expect(histories('a', {})).toEqual([{ commits: '', frontier: 'a', shared: false }]);
});

test('a branch leaves known history where it forked', () => {
  expect(histories('c', { c: 'b', b: 'a' })).toEqual([{ commits: 'bc', frontier: 'a', shared: false }]);
});

test('a branch that merged other history in leaves known history in two places', () => {
  expect(histories('d', { d: 'ce', c: 'a' })).toEqual([{ commits: 'cd', frontier: 'ae', shared: false }]);
});

test('sources that build on each other are seen: their merge base is not the common one', () => {
  const listed = { b: 'a', c: 'b', d: 'b', e: 'a' };
  expect(histories('cde', listed)).toEqual([
    { commits: 'bc', frontier: 'a', shared: true },
    { commits: 'bd', frontier: 'a', shared: true },
    { commits: 'e', frontier: 'a', shared: false },
  ]);
  expect(histories('bc', { b: 'a', c: 'b' }).map(({ shared }) => shared)).toEqual([true, true]);
});

test('sources that only fork at the same known commit share nothing', () => {
  expect(histories('bc', { b: 'a', c: 'a' }).map(({ shared }) => shared)).toEqual([false, false]);
});

test('history without a common root has no frontier: it is unrelated', () => {
  expect(histories('b', { b: 'a', a: '' })).toEqual([{ commits: 'ab', frontier: '', shared: false }]);
});

test('the same source twice, and history that meets again, are walked once', () => {
  expect(histories('bb', { b: 'a' })).toEqual([
    { commits: 'b', frontier: 'a', shared: true },
    { commits: 'b', frontier: 'a', shared: true },
  ]);
  expect(histories('e', { e: 'cd', c: 'b', d: 'b', b: 'a' })).toEqual([
    { commits: 'bcde', frontier: 'a', shared: false },
  ]);
});
