import { expect, test } from 'vitest';
import type { GitPath } from '../model/ids.ts';
import { hidesWork } from './hidden-work.ts';
import { parseCheckIgnore } from './ignore-rules.ts';
import type { IndexFacts } from './index-file.ts';
import { parseUnreadable } from './read-status.ts';
import { isNeverSource, isReproducible } from './reproducible.ts';

const TRACKED: IndexFacts = {
  paths: ['src/app.ts', 'src/lib/util.ts', 'docs/guide.md', 'a+b.txt'] as GitPath[],
  directories: new Set(['src', 'src/lib', 'docs'] as GitPath[]),
  gitlinks: new Map(),
  assumedUnchanged: [],
  skipWorktree: [],
  unmerged: new Set(),
  partial: false,
};

test('rules that hide everything, or what tracked files are called, hide work', () => {
  for (const rule of [
    '*',
    '**',
    '/*',
    '*.*',
    '**/*',
    '/**/',
    '.*',
    '*.ts',
    'src',
    'src/',
    '/src/',
    '/src/*',
    'lib',
    '**/util.ts',
    'ut*.ts',
    'a+b.*',
    'gu?de.md',
    'gu[i]de.md',
  ]) {
    expect(hidesWork(rule, '', TRACKED), rule).toBe(true);
  }
  expect(hidesWork('lib/*', 'src', TRACKED)).toBe(true);
  expect(hidesWork('/util.ts', 'src/lib', TRACKED)).toBe(true);
});

test('rules for what has no tracked namesake do not', () => {
  for (const rule of [
    '/coverage/',
    'reports',
    '*.sqlite',
    '/docs/api/',
    'node_modules',
    'dist/',
    'build',
    'tmp/*',
    '/util.ts',
    'srcs',
    'a.b.txt',
  ]) {
    expect(hidesWork(rule, '', TRACKED), rule).toBe(false);
  }
  expect(hidesWork('/src/', 'docs', TRACKED)).toBe(false);
});

test('only what a program is known to make again is junk', () => {
  const junk = [
    'node_modules/',
    'a/node_modules/x',
    'dist/',
    'x/target/',
    '.venv/',
    'a.pyc',
    '.DS_Store',
    'lib/foo.egg-info/',
    'build/',
  ];
  const kept = [
    '.env',
    'notes.md',
    'data.sqlite',
    'id_rsa',
    'distribution/',
    'my.build',
    'a/.git/',
    'builds/',
  ];
  expect(junk.filter((path) => !isReproducible(path as GitPath))).toEqual([]);
  expect(kept.filter((path) => isReproducible(path as GitPath))).toEqual([]);
  // Names under which some projects keep sources are junk only where rules ignore them as such.
  expect(['dist/x', 'build/x', 'target/x', 'out/x'].filter((path) => isNeverSource(path as GitPath))).toEqual(
    [],
  );
});

test('a rule that takes a path out again does not ignore it', () => {
  const text = '.gitignore\x001\0*.log\0./a.log\0.gitignore\x002\0!keep.log\0./keep.log\0\0\0\0./:(top)x\0';
  expect([...parseCheckIgnore(Buffer.from(text))]).toEqual([
    ['a.log', { source: '.gitignore', pattern: '*.log' }],
  ]);
});

test('places that git could not look into are found in what it says, and harmless words are not', () => {
  const said = [
    "warning: could not open directory 'a b/': Permission denied",
    "warning: unable to access 'c/.gitignore': Permission denied",
    'd/e.ts: Permission denied',
    "warning: unable to access '/root/.config/git/ignore': Permission denied",
    "warning: unable to access 'f/.gitignore': Too many levels of symbolic links",
    'g/h: Too many levels of symbolic links',
    'hint: use something: Else',
    '',
  ];
  expect(parseUnreadable(said.join('\n'))).toEqual(['a b', 'c/.gitignore', 'd/e.ts']);
});
