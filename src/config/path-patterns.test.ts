import { describe, expect, it } from 'vitest';
import { asGitPath, gitPathOfText } from '../model/ids.ts';
import { DEFAULT_SETTINGS, findRegenerateHint } from './defaults.ts';
import { findPatternProblem, matchGenerated, matchPaths } from './path-patterns.ts';

const matches = (pattern: string | string[], path: string): boolean =>
  matchPaths([pattern].flat())(gitPathOfText(path));

describe('matchPaths', () => {
  it.each([
    ['yarn.lock', 'yarn.lock'],
    ['yarn.lock', 'packages/a/yarn.lock'],
    ['*.min.js', 'public/.cache/x.min.js'],
    ['*', '.hidden'],
    ['dist', 'dist/a.js'],
    ['dist', 'packages/a/dist/b/c.js'],
    ['dist/', 'packages/a/dist/b/c.js'],
    ['/dist', 'dist/a.js'],
    ['src/gen', 'src/gen/deep/a.ts'],
    ['**/__generated__/**', '__generated__/a.ts'],
    ['**/__generated__/**', 'src/__generated__/a/b.ts'],
    ['{a,b}.txt', 'x/b.txt'],
    ['app/(shop)/page.tsx', 'app/(shop)/page.tsx'],
    ['app/\\(shop\\)/page.tsx', 'app/(shop)/page.tsx'],
    ['app/\\[slug\\]/*', 'app/[slug]/page.tsx'],
    ['\\!readme', '!readme'],
    ['caf?.ts', 'café.ts'],
    ['café/*', 'café/é.ts'],
    ['a/**', 'a/new\nline/b'],
    ['*.txt', 'new\nline.txt'],
    ['"q"', '"q"'],
    ['a|b', 'a|b'],
    ['c++', 'c++'],
    ['[!a]', 'b'],
  ])('%s matches %s', (pattern, path) => {
    expect(matches(pattern, path)).toBe(true);
  });

  it.each([
    ['yarn.lock', 'yarn.lock.bak'],
    ['yarn.lock', 'my-yarn.lock'],
    ['*.min.js', 'x.min.jsx'],
    ['dist/', 'dist'],
    ['/dist', 'packages/dist/a.js'],
    ['src/gen', 'lib/src/gen/a.ts'],
    ['src/*.ts', 'src/deep/a.ts'],
    ['app/(shop)/page.tsx', 'app/shop/page.tsx'],
    ['a+(b)', 'abb'],
    ['a|b', 'a'],
    ['[!a]', 'a'],
    ['Cargo.lock', 'cargo.lock'],
  ])('%s does not match %s', (pattern, path) => {
    expect(matches(pattern, path)).toBe(false);
  });

  it('lets the last pattern decide', () => {
    expect(matches(['*.min.js', '!vendor/own.min.js'], 'vendor/own.min.js')).toBe(false);
    expect(matches(['*.min.js', '!vendor/', '/vendor/x.min.js'], 'vendor/x.min.js')).toBe(true);
    expect(matches(['!a'], 'b')).toBe(false);
    expect(matches([], 'a')).toBe(false);
  });

  it('matches names that are not UTF-8 by their bytes', () => {
    const path = asGitPath('src/caf\xe9-\xff.lock');
    expect(matchPaths(['*.lock'])(path)).toBe(true);
    expect(matchPaths(['caf*'])(path)).toBe(true);
    expect(matchPaths(['café*'])(path)).toBe(false);
    expect(matchPaths(['é*'])(asGitPath('\xc3\xa9\xff'))).toBe(true);
  });
});

describe('findPatternProblem', () => {
  it.each(['', '/', '!', '!/', '//', 'a//b', '../a', './a', 'a/../b', 'a\0b'])('refuses %j', (pattern) => {
    expect(findPatternProblem(pattern)).toBeTypeOf('string');
  });

  it.each(['a', '!a', '/a/', '[', '{', '(', '**', 'a\\', '*'])('takes %j', (pattern) => {
    expect(findPatternProblem(pattern)).toBeUndefined();
  });
});

describe('matchGenerated', () => {
  it('takes the first rule that matches', () => {
    const find = matchGenerated([
      { paths: ['tools/yarn.lock'], by: 'make lock' },
      ...DEFAULT_SETTINGS.generated,
    ]);
    expect(find(gitPathOfText('tools/yarn.lock'))?.by).toBe('make lock');
    expect(find(gitPathOfText('web/yarn.lock'))?.by).toBeNull();
    expect(find(gitPathOfText('src/yarn.ts'))).toBeUndefined();
  });

  it.each([
    'package-lock.json',
    'a/b/Cargo.lock',
    'go.sum',
    'web/app.min.css',
    'src/__generated__/schema.ts',
    'api/v1/user.pb.go',
    'api/user_pb2.py',
    '.terraform.lock.hcl',
  ])('knows %s without any configuration', (path) => {
    expect(matchGenerated(DEFAULT_SETTINGS.generated)(gitPathOfText(path))).toBeDefined();
  });

  it.each(['package.json', 'src/lock.ts', 'src/a.test.ts.snap', 'src/generated.ts', 'flake.nix'])(
    'leaves %s to people',
    (path) => {
      expect(matchGenerated(DEFAULT_SETTINGS.generated)(gitPathOfText(path))).toBeUndefined();
    },
  );
});

describe('findRegenerateHint', () => {
  it('knows the usual command of a lock file in any folder', () => {
    expect(findRegenerateHint(gitPathOfText('apps/web/pnpm-lock.yaml'))).toBe('pnpm install --lockfile-only');
    expect(findRegenerateHint(gitPathOfText('src/toString'))).toBeUndefined();
    expect(findRegenerateHint(gitPathOfText('yarn.lock/readme'))).toBeUndefined();
  });
});
