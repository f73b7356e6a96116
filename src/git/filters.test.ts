import { expect, test } from 'vitest';
import { SennitError } from '../model/errors.ts';
import { type ConfigEntry, findConfig, isConfigTrue, parseConfigList } from './config-list.ts';
import { decideFilters, type FilterSurroundings, isLfsPointer, parseFilterAttributes } from './filters.ts';

const AROUND: FilterSurroundings = {
  allowed: [],
  hasLfs: true,
  isInWorkspace: (word) => word.startsWith('tools/'),
};

function config(settings: Readonly<Record<string, string>>): ConfigEntry[] {
  return Object.entries(settings).map(([key, value]) => ({ key, value }));
}

const LFS = {
  'filter.lfs.clean': 'git-lfs clean -- %f',
  'filter.lfs.smudge': 'git-lfs smudge -- %f',
  'filter.lfs.process': 'git-lfs filter-process',
  'filter.lfs.required': 'true',
};

test('git-lfs with its own commands runs, and must succeed', () => {
  const decision = decideFilters(config(LFS), AROUND);
  expect([...decision.running]).toEqual(['lfs']);
  expect(decision.config).toEqual([['filter.lfs.required', 'true']]);
});

test('git-lfs with any other command, with extensions, or not installed does not run', () => {
  const others: readonly [Record<string, string>, Partial<FilterSurroundings>][] = [
    [{ ...LFS, 'filter.lfs.clean': 'git-lfs clean -- %f; evil' }, {}],
    [{ ...LFS, 'filter.lfs.process': './git-lfs filter-process' }, {}],
    [{ ...LFS, 'filter.lfs.smudge': 'evil' }, {}],
    [{ ...LFS, 'lfs.extension.x.clean': 'evil' }, {}],
    [LFS, { hasLfs: false }],
    [{ 'filter.lfs.required': 'true' }, {}],
  ];
  for (const [settings, around] of others) {
    const decision = decideFilters(config(settings), { ...AROUND, ...around });
    expect([...decision.running], JSON.stringify(settings)).toEqual([]);
    expect(decision.config).toEqual([
      ['filter.lfs.clean', ''],
      ['filter.lfs.smudge', ''],
      ['filter.lfs.process', ''],
      ['filter.lfs.required', 'false'],
    ]);
    expect(decision.refused.get('lfs')).toMatch(/\S/);
  }
});

test('a later definition of a filter counts, so a private configuration cannot hide behind a good one', () => {
  const entries = [...config(LFS), ...config({ 'filter.lfs.clean': 'evil' })];
  expect([...decideFilters(entries, AROUND).running]).toEqual([]);
});

test('every other filter is switched off, whatever its name, unless settings name it', () => {
  const settings = config({
    'filter.a.b=c\n.clean': 'x',
    'filter.Upper.process': 'y',
    'filter.only.smudge': 'z',
  });
  const decision = decideFilters(settings, AROUND);
  expect([...decision.refused.keys()]).toEqual(['a.b=c\n', 'Upper', 'only']);
  expect(decision.config).toContainEqual(['filter.a.b=c\n.clean', '']);
  expect([...decideFilters(settings, { ...AROUND, allowed: ['Upper'] }).running]).toEqual(['Upper']);
});

test('a named filter does not run a file of the workspace', () => {
  for (const command of [
    'tools/clean.sh',
    'sh tools/clean.sh %f',
    "node 'tools/x.js'",
    'cat <tools/x',
    'A=tools/x env',
  ]) {
    const decision = decideFilters(config({ 'filter.own.clean': command }), { ...AROUND, allowed: ['own'] });
    expect([...decision.running], command).toEqual([]);
    expect(decision.refused.get('own')).toContain('tools/');
  }
});

test('a filter whose name cannot be passed on is refused', () => {
  const entries = parseConfigList(Buffer.from('filter.\xff.clean\nx\0', 'latin1'));
  expect(() => decideFilters(entries, AROUND)).toThrow(SennitError);
});

test('attributes of paths: only filters by name count', () => {
  const text =
    'a\0filter\0lfs\0b\nc\0filter\0unspecified\0d\0filter\0unset\0e\0filter\0set\0\xff\0filter\0x\0';
  expect([...parseFilterAttributes(Buffer.from(text, 'latin1'))]).toEqual([
    ['a', 'lfs'],
    ['\xff', 'x'],
  ]);
});

test('only what git-lfs itself takes for a pointer is one', () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;
  expect(isLfsPointer(Buffer.from(pointer))).toBe(true);
  expect(isLfsPointer(Buffer.from(''))).toBe(true);
  expect(
    isLfsPointer(Buffer.from(pointer.replace('\noid', `\next-0-foo sha256:${'b'.repeat(64)}\noid`))),
  ).toBe(true);
  for (const other of [
    `${pointer}more`,
    pointer.slice(0, -1),
    `x${pointer}`,
    pointer.replace('12', 'x'),
    'text\n',
  ]) {
    expect(isLfsPointer(Buffer.from(other)), other).toBe(false);
  }
  expect(isLfsPointer(Buffer.from(pointer + ' '.repeat(2000)))).toBe(false);
});

test('the last value of a key counts, a key alone is true, and line ends belong to values', () => {
  const entries = parseConfigList(
    Buffer.from('core.a\nfalse\0core.b\0core.a\nyes\0x.y\ntwo\nlines\0core.n\n0\0core.k\n1k\0'),
  );
  expect(findConfig(entries, 'core.a')).toBe('yes');
  expect(findConfig(entries, 'x.y')).toBe('two\nlines');
  expect(
    ['core.a', 'core.b', 'core.n', 'core.k', 'core.none'].map((key) => isConfigTrue(entries, key)),
  ).toEqual([true, true, false, true, false]);
});
