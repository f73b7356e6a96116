import { expect, test } from 'vitest';
import { parsePathList, parseRawDiff, parseTreeObject } from './tree-format.ts';

const oid = (digit: string): string => digit.repeat(40);
const ZEROS = oid('0');

test('a tree object is read by its bytes, whatever is in the ids and the names', () => {
  // Ids that hold NUL, space and line feed; a name that is no UTF-8.
  const id = Buffer.from('00200a'.padEnd(40, '7'), 'hex');
  const bytes = Buffer.concat([
    Buffer.from('100644 a b\xff\0', 'latin1'),
    id,
    Buffer.from('40000 dir\0', 'latin1'),
    id,
  ]);
  expect(parseTreeObject(bytes, 20)).toEqual([
    { mode: '100644', name: 'a b\xff', oid: id.toString('hex') },
    { mode: '40000', name: 'dir', oid: id.toString('hex') },
  ]);
  expect(parseTreeObject(Buffer.alloc(0), 20)).toEqual([]);
});

test('a tree of a SHA-256 repository is not read as one of a SHA-1 repository', () => {
  const bytes = Buffer.concat([
    Buffer.from('120000 link\0'),
    Buffer.alloc(32, 0xab),
    Buffer.from('100755 run\0'),
    Buffer.alloc(32, 0xcd),
  ]);
  expect(parseTreeObject(bytes, 32).map(({ name, oid: id }) => [name, id])).toEqual([
    ['link', 'ab'.repeat(32)],
    ['run', 'cd'.repeat(32)],
  ]);
});

test('additions, deletions, modes and types are read from a raw diff; names keep their bytes', () => {
  const diff = [
    `:000000 100755 ${ZEROS} ${oid('1')} A\0new\0`,
    `:100644 000000 ${oid('2')} ${ZEROS} D\0gone\n\t:\xff\0`,
    `:100644 120000 ${oid('3')} ${oid('4')} T\0link\0`,
    `:100644 100755 ${oid('5')} ${oid('5')} M\0run\0`,
    `:160000 160000 ${oid('6')} ${oid('7')} M\0sub\0`,
  ];
  expect(parseRawDiff(Buffer.from(diff.join(''), 'latin1'))).toEqual([
    { path: 'new', before: null, after: { mode: '100755', oid: oid('1') } },
    { path: 'gone\n\t:\xff', before: { mode: '100644', oid: oid('2') }, after: null },
    {
      path: 'link',
      before: { mode: '100644', oid: oid('3') },
      after: { mode: '120000', oid: oid('4') },
    },
    {
      path: 'run',
      before: { mode: '100644', oid: oid('5') },
      after: { mode: '100755', oid: oid('5') },
    },
    {
      path: 'sub',
      before: { mode: '160000', oid: oid('6') },
      after: { mode: '160000', oid: oid('7') },
    },
  ]);
});

test('a diff that was cut off is an error, not fewer changes', () => {
  const diff = `:000000 100644 ${ZEROS} ${oid('1')} A\0new\0`;
  for (const length of [1, 50, diff.length - 1])
    expect(() => parseRawDiff(Buffer.from(diff.slice(0, length), 'latin1'))).toThrow();
  expect(() => parseRawDiff(Buffer.from(`x${diff}`, 'latin1'))).toThrow();
  expect(parseRawDiff(Buffer.alloc(0))).toEqual([]);
});

test('lists of paths may hold line feeds, and may be empty', () => {
  expect(parsePathList(Buffer.from('a\nb\0c\xff\0', 'latin1'))).toEqual(['a\nb', 'c\xff']);
  expect(parsePathList(Buffer.alloc(0))).toEqual([]);
});
