import { expect, test } from 'vitest';
import type { Conflict } from '../model/conflict.ts';
import { gitPathOf, gitPathOfText, type Oid, type OperationId, parseDisplayPath } from '../model/ids.ts';
import type { LandData, OpenMerge } from './land-data.ts';
import { commandsFor, renderPacket, shellWord } from './packet.ts';

const OPERATION = '20261130-142501-k3f9' as OperationId;
const entry = (digit: string) => ({ mode: '100644' as const, oid: digit.repeat(40) as Oid });

function conflict(path: string, more: Partial<Conflict> = {}): Conflict {
  return {
    path: gitPathOfText(path),
    kind: 'content',
    sides: { base: entry('1'), target: entry('2'), change: entry('3') },
    message: 'Merge conflict in it',
    related: [],
    leftover: entry('4'),
    sources: ['a', 'b'],
    tried: [{ rung: 'text', reason: 'two\nlines' }],
    ...more,
  };
}

function render(conflicts: readonly Conflict[]) {
  const open: OpenMerge = { source: 'b', tree: entry('5').oid, conflicts, resolved: [] };
  const data: Pick<LandData, 'target' | 'merge'> = {
    target: 'refs/heads/main',
    merge: {
      tip: entry('6').oid,
      accumulated: entry('7').oid,
      tree: entry('8').oid,
      merged: ['a'],
      waiting: ['c'],
      paths: [],
      regenerate: [],
      open,
    },
  };
  return renderPacket(OPERATION, data as LandData, open, { worktree: '/scratch/worktree' });
}

/** The words that a POSIX shell makes of a line of plain and single-quoted words. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const match of line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g))
    words.push(match[0].replace(/'([^']*)'|\\(')/g, (_, quoted, escaped) => quoted ?? escaped));
  return words;
}

test('the packet says all that is needed to decide: kind, versions, sources, what was tried, what to run', () => {
  const { json, markdown } = render([conflict('src/a.ts')]);
  expect(json).toMatchObject({
    contract_version: 1,
    operation: OPERATION,
    target: 'main',
    source: 'b',
    merged: ['a'],
    waiting: ['c'],
  });
  expect(json.conflicts).toEqual([
    {
      path: 'src/a.ts',
      kind: 'content',
      message: 'Merge conflict in it',
      related: [],
      sources: ['a', 'b'],
      versions: { base: entry('1'), target: entry('2'), change: entry('3') },
      tried: [{ rung: 'text', reason: 'two\nlines' }],
      commands: [
        'sennit resolve src/a.ts --take target',
        'sennit resolve src/a.ts --take change',
        'sennit resolve src/a.ts --take base',
      ],
    },
  ]);
  for (const said of ['/scratch/worktree', 'main with a', '- tried text: two lines', 'sennit continue'])
    expect(markdown).toContain(said);
});

test('a side that does not have the file can be taken: that deletes it; a base that never was cannot', () => {
  const deleted = conflict('a', { sides: { base: entry('1'), target: null, change: entry('3') } });
  expect(commandsFor(deleted)).toContain('sennit resolve a --take target');
  const added = conflict('a', { sides: { base: null, target: entry('2'), change: entry('3') } });
  expect(commandsFor(added)).not.toContain('sennit resolve a --take base');
});

test('each proposed command names its path whatever it is called, when a shell has read it', () => {
  const names = [
    "it's a file",
    'a;rm -rf x',
    '$(touch x)',
    'a\nb',
    '"quoted"',
    'b\\c',
    '`x`',
    '~',
    '*',
    'é',
    '#x',
  ];
  const paths = [...names.map(gitPathOfText), gitPathOf(Buffer.from([0x66, 0xff, 0x27]))];
  for (const path of paths) {
    for (const command of commandsFor(conflict('', { path }))) {
      expect(command).not.toContain('\n');
      const [, , word = ''] = shellWords(command);
      expect(parseDisplayPath(word)).toBe(path);
    }
  }
});

// The command line takes it for an option.
test('a path that begins with a dash is not proposed as an option', () => {
  for (const command of commandsFor(conflict('-x'))) {
    const words = shellWords(command);
    expect(words).toContain('--');
    expect(words.indexOf('-x')).toBeGreaterThan(words.indexOf('--'));
  }
});

test('only words that every shell takes as they are stay unquoted', () => {
  expect(shellWord('src/a-b_c.d@1,2:3+4=5%6')).toBe('src/a-b_c.d@1,2:3+4=5%6');
  for (const text of [
    '',
    ' ',
    '~',
    '*',
    '?',
    '!',
    '#',
    '&',
    '|',
    '<',
    '>',
    '(',
    '{',
    '[',
    '$',
    '`',
    '\\',
    ';',
  ])
    expect(shellWord(text)).toBe(`'${text}'`);
});
