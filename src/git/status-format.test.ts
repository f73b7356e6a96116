import { expect, test } from 'vitest';
import { parseStatus } from './status-format.ts';

const OID = 'd00491fd7e5bb6fa28c517a0bb32b8b506539d4d';
const OTHER = 'c2658d7d1b31848c3b71960543cb0368e56cd4c7';
const NONE = '0'.repeat(40);

function parse(...records: string[]) {
  return parseStatus(Buffer.from(records.map((record) => `${record}\0`).join(''), 'latin1'));
}

test('a file that is only staged is no difference between index and disk', () => {
  const status = parse(
    `# branch.oid ${OTHER}`,
    '# branch.head (detached)',
    `1 M. N... 100644 100755 100755 ${OID} ${OTHER} staged.ts`,
    `1 A. N... 000000 100644 100644 ${NONE} ${OID} new`,
    `1 D. N... 100644 000000 000000 ${OID} ${NONE} dropped`,
  );
  expect(status.head).toBe(OTHER);
  expect([...status.changed, ...status.deleted]).toEqual([]);
  expect(status.staged).toEqual([
    { path: 'staged.ts', before: { mode: '100644', oid: OID }, after: { mode: '100755', oid: OTHER } },
    { path: 'new', before: null, after: { mode: '100644', oid: OID } },
    { path: 'dropped', before: { mode: '100644', oid: OID }, after: null },
  ]);
});

test('changed, deleted, untracked, nested and ignored paths are kept apart, byte for byte', () => {
  const status = parse(
    '# branch.oid (initial)',
    `1 .M N... 100644 100644 100755 ${OID} ${OID} with space -> x`,
    `1 MD N... 100644 100644 000000 ${OID} ${OTHER} gone\nline`,
    `1 .A N... 000000 000000 100644 ${NONE} ${NONE} intended`,
    `1 .M SC.. 160000 160000 160000 ${OID} ${OID} sub`,
    `u UU N... 100644 100644 100644 100644 ${OID} ${OID} ${OID} both  ways`,
    `u UD N... 100644 100644 000000 000000 ${OID} ${OID} ${OID} dropped`,
    '? new\xff',
    '? nested/',
    '! node_modules/',
    '! a.log',
  );
  expect(status).toEqual({
    head: null,
    staged: [
      {
        path: 'gone\nline',
        before: { mode: '100644', oid: OID },
        after: { mode: '100644', oid: OTHER },
      },
    ],
    changed: ['with space -> x', 'intended', 'sub', 'both  ways'],
    deleted: ['gone\nline', 'dropped'],
    untracked: ['new\xff'],
    nested: ['nested'],
    ignored: ['node_modules/', 'a.log'],
  });
});

test('a record of an unknown kind is refused, not skipped', () => {
  expect(() => parse(`2 R. N... 100644 100644 100644 ${OID} ${OID} R100 a`)).toThrow(/unknown status record/);
});
