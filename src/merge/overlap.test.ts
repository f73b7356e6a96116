import { describe, expect, test } from 'vitest';
import type { GitPath, Oid } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';
import { movedDirectories, PathIndex } from './overlap.ts';

const path = (text: string): GitPath => text as GitPath;
const oid = (digit: string): Oid => digit.repeat(40) as Oid;
const entry = (digit: string) => ({ mode: '100644' as const, oid: oid(digit) });
const edit = (name: string): EntryChange => ({ path: path(name), before: entry('1'), after: entry('2') });
const add = (name: string, digit = '2'): EntryChange => ({
  path: path(name),
  before: null,
  after: entry(digit),
});
const remove = (name: string, digit = '1'): EntryChange => ({
  path: path(name),
  before: entry(digit),
  after: null,
});

/** Whom the first change meets, with the paths. */
function meet(mine: readonly EntryChange[], ...others: readonly (readonly EntryChange[])[]) {
  const index = new PathIndex();
  index.add(0, mine);
  for (const [i, other] of others.entries()) index.add(i + 1, other);
  return Object.fromEntries(index.meetings(0, mine));
}

describe('what may collide is asked of git', () => {
  test('changes of one path', () => {
    expect(meet([edit('a'), edit('b')], [edit('b')], [edit('c')])).toEqual({ 1: ['b'] });
  });

  test('a file where another change puts something below a directory of that name, either way round', () => {
    expect(meet([add('lib')], [add('lib/x/y')])).toEqual({ 1: ['lib'] });
    expect(meet([add('lib/x/y')], [add('lib')])).toEqual({ 1: ['lib/x/y'] });
    expect(meet([add('lib/x/y')], [add('lib/x')])).toEqual({ 1: ['lib/x/y'] });
  });

  test('but not neighbours, and not names that only begin alike', () => {
    expect(meet([edit('lib/a'), edit('lib-old/a')], [edit('lib/b')], [add('lib-')], [add('li')])).toEqual({});
  });

  test('a source does not meet itself', () => {
    expect(meet([remove('lib'), add('lib/a')])).toEqual({});
  });

  test('a path that many change is told to each of them', () => {
    expect(meet([edit('a')], [edit('a')], [edit('a')], [edit('a')])).toEqual({
      1: ['a'],
      2: ['a'],
      3: ['a'],
    });
  });
});

describe('files added to a directory that another source moves away', () => {
  const move = [remove('old/a', '1'), add('new/a', '1'), remove('old/b', '3'), add('new/b', '3')];

  test('are named, so that they are not left behind unseen', () => {
    expect(movedDirectories(move, [add('old/c'), edit('other')])).toEqual([
      { from: 'old', to: 'new', added: ['old/c'] },
    ]);
  });

  test('are no matter when something stays in the old directory', () => {
    expect(movedDirectories([...move, edit('old/stays')], [add('old/c')])).toEqual([]);
  });

  test('are no matter when files only went away', () => {
    expect(movedDirectories([remove('old/a', '1'), add('new/z', '9')], [add('old/c')])).toEqual([]);
  });
});
