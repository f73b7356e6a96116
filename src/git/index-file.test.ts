import { expect, test } from 'vitest';
import { parseIndex } from './index-file.ts';

interface Entry {
  readonly path: string;
  readonly mode?: number;
  readonly flags?: number;
  readonly extended?: number;
}

/** An index as git writes it, with a checksum of zeros. */
function indexBytes(
  version: 2 | 3 | 4,
  entries: readonly Entry[],
  extensions: readonly [string, Buffer][] = [],
): Buffer {
  const chunks: Buffer[] = [];
  const head = Buffer.alloc(12);
  head.write('DIRC');
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(entries.length, 8);
  chunks.push(head);
  let previous = '';
  for (const { path, mode = 0o100644, flags = 0, extended } of entries) {
    const fixed = Buffer.alloc(extended === undefined ? 62 : 64);
    fixed.writeUInt32BE(mode, 24);
    fixed.fill(0xab, 40, 60);
    fixed.writeUInt16BE(flags | Math.min(path.length, 0xfff) | (extended === undefined ? 0 : 0x4000), 60);
    if (extended !== undefined) fixed.writeUInt16BE(extended, 62);
    let name: Buffer;
    if (version === 4) {
      let same = 0;
      while (same < previous.length && previous[same] === path[same]) same += 1;
      const strip = previous.length - same;
      const varint = strip < 128 ? [strip] : [0x80 | ((strip >> 7) - 1), strip & 0x7f];
      name = Buffer.concat([Buffer.from(varint), Buffer.from(`${path.slice(same)}\0`, 'latin1')]);
    } else {
      const length = fixed.length + path.length;
      name = Buffer.alloc(path.length + 8 - (length % 8));
      name.write(path, 'latin1');
    }
    chunks.push(fixed, name);
    previous = path;
  }
  for (const [name, content] of extensions) {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(content.length);
    chunks.push(Buffer.from(name, 'latin1'), size, content);
  }
  chunks.push(Buffer.alloc(20));
  return Buffer.concat(chunks);
}

const LONG = `dir/${'x'.repeat(300)}`;

const ENTRIES: readonly Entry[] = [
  { path: 'a' },
  { path: 'dir/assumed', flags: 0x8000 },
  { path: 'dir/deep/er/\xff\n' },
  { path: 'dir/deep/er/skipped', extended: 0x4000 },
  { path: 'dir/intended', extended: 0x2000 },
  { path: LONG },
  { path: 'dir2/sub', mode: 0o160000 },
  { path: 'two', flags: 0x2000 },
  { path: 'two', flags: 0x3000 },
];

for (const version of [3, 4] as const) {
  test(`paths, bits, gitlinks and unmerged paths of version ${version} are read`, () => {
    const facts = parseIndex(indexBytes(version, ENTRIES, [['TREE', Buffer.from('anything')]]), 20);
    expect(facts?.paths).toEqual(ENTRIES.map(({ path }) => path));
    expect([...(facts?.directories ?? [])].sort()).toEqual(['dir', 'dir/deep', 'dir/deep/er', 'dir2']);
    expect(facts?.assumedUnchanged).toEqual(['dir/assumed']);
    expect(facts?.skipWorktree).toEqual(['dir/deep/er/skipped']);
    expect([...(facts?.unmerged ?? [])]).toEqual(['two']);
    expect([...(facts?.gitlinks ?? [])]).toEqual([['dir2/sub', 'ab'.repeat(20)]]);
    expect(facts?.partial).toBe(false);
  });
}

test('an index whose entries are elsewhere says so', () => {
  for (const name of ['link', 'sdir']) {
    expect(parseIndex(indexBytes(2, [{ path: 'a' }], [[name, Buffer.alloc(3)]]), 20)?.partial).toBe(true);
  }
});

test('an empty index has no entries', () => {
  expect(parseIndex(indexBytes(2, []), 20)?.paths).toEqual([]);
});

test('what is no index, is cut short or has an unknown version is not guessed at', () => {
  const good = indexBytes(2, ENTRIES.slice(0, 3));
  expect(parseIndex(good, 20)).toBeDefined();
  for (let length = 0; length < good.length; length += 1) {
    expect(parseIndex(good.subarray(0, length), 20), String(length)).toBeUndefined();
  }
  const other = Buffer.from(good);
  other.writeUInt32BE(5, 4);
  expect(parseIndex(other, 20)).toBeUndefined();
  expect(parseIndex(Buffer.from(`JUNK${'x'.repeat(100)}`), 20)).toBeUndefined();
});
