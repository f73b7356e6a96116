import { describe, expect, it } from 'vitest';
import { asGitPath, asOid } from '../model/ids.ts';
import type { EntryChange, Mode, TreeEntry } from '../model/tree.ts';
import { findContest } from './contested.ts';

const entry = (digit: string, mode: Mode = '100644'): TreeEntry => ({ mode, oid: asOid(digit.repeat(40)) });
const change = (path: string, before: TreeEntry | null, after: TreeEntry | null): EntryChange => ({
  path: asGitPath(path),
  before,
  after,
});
const none = new Set<never>();

describe('findContest', () => {
  it('gives the versions of a file that several edit, equal ones once', () => {
    const { contested, rough } = findContest(
      [
        [change('a', entry('0'), entry('1')), change('own', entry('0'), null)],
        [change('a', entry('0'), entry('2'))],
        [change('a', entry('0'), entry('1'))],
      ],
      none,
    );
    expect(rough).toEqual(new Set());
    expect(contested).toEqual([
      {
        path: 'a',
        base: entry('0'),
        versions: [
          { owners: [0, 2], entry: entry('1') },
          { owners: [1], entry: entry('2') },
        ],
      },
    ]);
  });

  it.each([
    ['deletes', change('a', entry('0'), null)],
    ['changes the mode of', change('a', entry('0'), entry('2', '100755'))],
    ['makes a link of', change('a', entry('0'), entry('2', '120000'))],
  ])('leaves both to git when one edits what the other %s', (_, other) => {
    const { contested, rough } = findContest([[change('a', entry('0'), entry('1'))], [other]], none);
    expect(rough).toEqual(new Set([0, 1]));
    expect(contested).toEqual([]);
  });

  it('leaves two that add the same path to git', () => {
    const { rough } = findContest([[change('a', null, entry('1'))], [change('a', null, entry('1'))]], none);
    expect(rough).toEqual(new Set([0, 1]));
  });

  it('leaves a file and a folder of one name to git, whichever comes first', () => {
    const file = [change('x', null, entry('1'))];
    const folder = [change('x/y/z', null, entry('2'))];
    expect(findContest([file, folder], none).rough).toEqual(new Set([0, 1]));
    expect(findContest([folder, file], none).rough).toEqual(new Set([0, 1]));
  });

  it('does not take one change that makes a folder of a file for two', () => {
    const one = [change('x', entry('0'), null), change('x/y', null, entry('1'))];
    expect(findContest([one, [change('other', null, entry('2'))]], none).rough).toEqual(new Set());
  });

  it('leaves special paths to git', () => {
    const special = new Set([asGitPath('a')]);
    const edit = (digit: string): EntryChange[] => [change('a', entry('0'), entry(digit))];
    expect(findContest([edit('1'), edit('2')], special).rough).toEqual(new Set([0, 1]));
  });

  it('contests a path only among those that are not left to git', () => {
    const { contested, rough } = findContest(
      [
        [change('a', entry('0'), entry('1'))],
        [change('a', entry('0'), entry('2'))],
        [change('a', entry('0'), entry('3')), change('b', entry('0'), null)],
        [change('b', entry('0'), entry('4'))],
      ],
      none,
    );
    expect(rough).toEqual(new Set([2, 3]));
    expect(contested.map(({ versions }) => versions.flatMap(({ owners }) => owners))).toEqual([[0, 1]]);
  });
});
