import { describe, expect, test } from 'vitest';
import { customDrivers, flattenedAttributes, rootedPattern } from './attributes.ts';

const root = (text: string) => [{ directory: '', text }];

describe('patterns mean the same from the root', () => {
  test.each([
    ['', '*.txt', '*.txt'],
    ['src/', '*.txt', '/src/**/*.txt'],
    ['src/', '/*.txt', '/src/*.txt'],
    ['src/', 'a/b', '/src/a/b'],
    ['src/', '**/b', '/src/**/b'],
    ['src/', 'a/', '/src/**/a/'],
  ])('%s%s', (directory, pattern, rooted) => {
    expect(rootedPattern(directory, pattern)).toBe(rooted);
  });

  test('also below a directory whose name looks like a pattern', () => {
    expect(rootedPattern('app/[id]/a*?\\/', 'x')).toBe('/app/\\[id]/a\\*\\?\\\\/**/x');
  });
});

test('a deeper file wins over one further up, in whatever order they are read', () => {
  const files = [
    { directory: 'a/b/', text: 'x merge=union\n' },
    { directory: '', text: 'x -merge\n' },
    { directory: 'a/', text: 'x merge\n' },
  ];
  expect(flattenedAttributes(files)).toBe('x -merge\n/a/**/x merge\n/a/b/**/x merge=union\n');
});

test('only what matters to a merge is kept: no filter, no encoding, no line ends', () => {
  const text =
    '# comment\n*.bin binary filter=lfs\n*.txt text eol=crlf working-tree-encoding=UTF-16\n* ident\n';
  expect(flattenedAttributes(root(text))).toBe('*.bin binary\n');
});

test('conflict markers keep the size at which they are found again', () => {
  expect(flattenedAttributes(root('*.rst conflict-marker-size=30 merge=union\n'))).toBe(
    '*.rst merge=union\n',
  );
});

test('a line that git would drop as a whole is dropped as a whole', () => {
  expect(flattenedAttributes(root('* merge=union bad*name\n!x merge=union\n'))).toBe('\n');
});

test('names with blanks, quotes and line feeds stay one pattern', () => {
  expect(flattenedAttributes(root('"a b\\tc\\"\\303\\251" -merge\r\n'))).toBe(
    '"a b\\011c\\"\xc3\xa9" -merge\n',
  );
  expect(flattenedAttributes([{ directory: 'a\nb/', text: 'x -merge' }])).toBe('"/a\\012b/**/x" -merge\n');
});

test('a macro that forbids merging is followed, but only where git lets it be defined', () => {
  const text = '[attr]machine -merge linguist-generated\n*.lock machine\n';
  expect(flattenedAttributes(root(text))).toBe('[attr]machine -merge\n*.lock machine\n');
  expect(flattenedAttributes([{ directory: 'a/', text }])).toBe('\n');
});

describe('custom merge drivers', () => {
  test('are told, macros followed, so that no text merge stands in for them unseen', () => {
    const text = '[attr]po merge=gettext\n*.po po\n*.pot merge=gettext\n*.txt merge=union\n';
    expect(customDrivers(root(text))).toEqual([
      { pattern: '*.po', driver: 'gettext' },
      { pattern: '*.pot', driver: 'gettext' },
      { pattern: '*.txt', driver: 'union' },
    ]);
  });

  test('are not asked about where there are none', () => {
    expect(customDrivers(root('*.txt merge=union\n*.bin binary\n'))).toEqual([]);
  });
});
