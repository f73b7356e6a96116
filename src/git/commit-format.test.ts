import { expect, test } from 'vitest';
import type { Oid } from '../model/ids.ts';
import type { CommitInput } from '../ports/git.ts';
import { parseCommit, renderCommit } from './commit-format.ts';

const oid = (digit: string): Oid => digit.repeat(40) as Oid;
const PERSON = { name: 'Ä Person', email: 'p@test.invalid', date: '1700000000 +0530' };

function render(input: Partial<CommitInput>, date = 7): string {
  return renderCommit({ tree: oid('1'), parents: [], message: 'm', ...input }, date).toString('utf8');
}

test('a commit says who made it when, and Sennit signs only what nobody else did', () => {
  expect(render({ parents: [oid('2'), oid('3')], author: PERSON, committer: PERSON })).toBe(
    `tree ${oid('1')}\nparent ${oid('2')}\nparent ${oid('3')}\n` +
      'author Ä Person <p@test.invalid> 1700000000 +0530\n' +
      'committer Ä Person <p@test.invalid> 1700000000 +0530\n\nm\n',
  );
  expect(render({})).toBe(
    `tree ${oid('1')}\nauthor Sennit <sennit@localhost> 7 +0000\ncommitter Sennit <sennit@localhost> 7 +0000\n\nm\n`,
  );
});

test('a name cannot forge a line of the commit', () => {
  const forged = { ...PERSON, name: `x> 1 +0000\nparent ${oid('9')}\n<y`, email: 'a>\nb<c' };
  const [, author, committer, empty] = render({ author: forged, committer: PERSON }).split('\n');
  expect(author).toMatch(/^author [^<>]* <[^<>]*> 1700000000 \+0530$/);
  expect(committer).toMatch(/^committer /);
  expect(empty).toBe('');
});

test('a parent is written once: a commit that is its own second parent is no merge', () => {
  expect(render({ parents: [oid('2'), oid('2')] }).match(/^parent /gm)).toHaveLength(1);
});

test('what was written is read back', () => {
  const message = 'Subject\n\ntree of life\nparent or not\n';
  const bytes = Buffer.from(render({ parents: [oid('2')], author: PERSON, committer: PERSON, message }));
  expect(parseCommit(oid('4'), bytes)).toEqual({
    oid: oid('4'),
    tree: oid('1'),
    parents: [oid('2')],
    committed: 1_700_000_000,
    author: 'Ä Person <p@test.invalid> 1700000000 +0530',
    message,
  });
});

test('headers of other tools are not taken for parents: signatures and merged tags span lines', () => {
  const content = [
    `tree ${oid('1')}`,
    `parent ${oid('2')}`,
    'author A <a@test.invalid> 1 +0000',
    'committer C <c@test.invalid> 2 -0130',
    `mergetag object ${oid('3')}`,
    ` parent ${oid('4')}`,
    ' committer X <x@test.invalid> 9 +0000',
    'gpgsig -----BEGIN PGP SIGNATURE-----',
    ' ',
    ` parent ${oid('5')}`,
    ' -----END PGP SIGNATURE-----',
    '',
    `parent ${oid('6')}`,
  ].join('\n');
  expect(parseCommit(oid('7'), Buffer.from(content))).toMatchObject({
    parents: [oid('2')],
    committed: 2,
    message: `parent ${oid('6')}`,
  });
});

test('a commit without a message is read too', () => {
  const head = `tree ${oid('1')}\nauthor A <a@test.invalid> 1 +0000\ncommitter A <a@test.invalid> 1 +0000\n`;
  expect(parseCommit(oid('2'), Buffer.from(`${head}\n`)).message).toBe('');
  expect(parseCommit(oid('2'), Buffer.from(head)).message).toBe('');
  expect(() => parseCommit(oid('2'), Buffer.from('author A <a@b> 1 +0000\n\n'))).toThrow(TypeError);
});
