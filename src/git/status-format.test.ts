import { expect, test } from 'vitest';
import { parseStatus } from './status-format.ts';

const OID = 'd00491fd7e5bb6fa28c517a0bb32b8b506539d4d';

function parse(...records: string[]) {
  return parseStatus(Buffer.from(records.map((record) => `${record}\0`).join(''), 'latin1'));
}

test('a file that is only staged is no difference between index and disk', () => {
  expect(parse(`1 M. N... 100644 100644 100644 ${OID} ${OID} staged.ts`)).toEqual(parse());
});

test('changed, deleted, untracked, nested and ignored paths are kept apart, byte for byte', () => {
  const status = parse(
    `1 .M N... 100644 100644 100755 ${OID} ${OID} with space -> x`,
    `1 MD N... 100644 100644 000000 ${OID} ${OID} gone\nline`,
    `1 .A N... 000000 000000 100644 ${OID} ${OID} intended`,
    `1 .M SC.. 160000 160000 160000 ${OID} ${OID} sub`,
    `u UU N... 100644 100644 100644 100644 ${OID} ${OID} ${OID} both ways`,
    `u UD N... 100644 100644 000000 000000 ${OID} ${OID} ${OID} dropped`,
    '? new\xff',
    '? nested/',
    '! node_modules/',
    '! a.log',
  );
  expect(status).toEqual({
    changed: ['with space -> x', 'intended', 'sub', 'both ways'],
    deleted: ['gone\nline', 'dropped'],
    submodules: ['sub'],
    untracked: ['new\xff'],
    nested: ['nested'],
    ignored: ['node_modules/', 'a.log'],
  });
});

test('a record of an unknown kind is refused, not skipped', () => {
  expect(() => parse(`2 R. N... 100644 100644 100644 ${OID} ${OID} R100 a`)).toThrow(/unknown status record/);
});
