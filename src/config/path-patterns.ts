// Patterns of settings against git paths, which are bytes. They mean what they mean in `.gitignore`: without a
// slash a pattern matches a name at any depth, a leading slash binds it to the root, a matched folder means all
// below it, and a later `!` pattern takes a path out again. Braces (`{a,b}`) work besides; parentheses are plain
// characters, as in the names of route folders. Where a path is UTF-8, `?` and `[é]` count characters; elsewhere
// they count bytes. Nothing here reads the disk.

import { createRequire } from 'node:module';
import type { default as Picomatch } from 'picomatch';
import { type GitPath, gitPathOfText, pathBytes } from '../model/ids.ts';
import type { GeneratedRule } from '../model/settings.ts';

/** Loaded at the first pattern: most runs of the command ask for none. */
let loaded: typeof Picomatch | undefined;
function picomatch(): typeof Picomatch {
  loaded ??= createRequire(import.meta.url)('picomatch') as typeof Picomatch;
  return loaded;
}

/** Slashes are `/` on every system, `*` matches names that begin with a dot, and `.` matches line ends too. */
const OPTIONS = {
  dot: true,
  windows: false,
  noextglob: true,
  nonegate: true,
  strictSlashes: true,
  keepQuotes: true,
  regex: false,
  flags: 's',
} as const;

interface Rule {
  readonly keeps: boolean;
  readonly text: readonly RegExp[];
  readonly bytes: readonly RegExp[];
}

const NOT_ASCII = /[\u0080-\u00ff]/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parentheses and bars are plain characters, and `[!a]` is the class that git writes so. */
function asGitReads(pattern: string): string {
  return pattern.replace(/\\.|\[!|[()|]/gs, (found) => {
    if (found === '[!') return '[^';
    return found.length === 1 ? `\\${found}` : found;
  });
}

/** Names and endings without any special character, as most patterns are. */
const PLAIN = /^\*?[A-Za-z0-9._-]+$/;

/** The same pattern bound to the root, as the expressions of which one must match. */
function expressionsOf(pattern: string): RegExp[] {
  if (PLAIN.test(pattern)) return [plainExpression(pattern)];
  const folderOnly = pattern.endsWith('/');
  const body = pattern.replace(/^\/+|\/+$/g, '');
  const anchored = pattern.startsWith('/') || body.includes('/');
  const rooted = asGitReads(anchored ? body : `**/${body}`);
  const below = `${rooted}${folderOnly && rooted.endsWith('**') ? '/*' : ''}/**/*`;
  return (folderOnly ? [below] : [rooted, below]).map((glob) => picomatch().makeRe(glob, OPTIONS));
}

/** What is made below of a plain pattern, without the cost of it. */
function plainExpression(pattern: string): RegExp {
  const body = pattern.replace(/^\*/, '').replaceAll('.', '\\.');
  const before = pattern.startsWith('*') ? '[^/]*' : '';
  return new RegExp(`(?:^|/)${before}${body}(?:/|$)`, 's');
}

function ruleOf(pattern: string): Rule {
  const keeps = !pattern.startsWith('!');
  // A pattern for a name that begins with `!` is written with a backslash before it.
  const body = keeps ? pattern : pattern.slice(1);
  const text = expressionsOf(body);
  return {
    keeps,
    text,
    bytes: NOT_ASCII.test(gitPathOfText(body)) ? expressionsOf(gitPathOfText(body)) : text,
  };
}

function textOf(path: GitPath): string | undefined {
  if (!NOT_ASCII.test(path)) return path;
  try {
    return decoder.decode(pathBytes(path));
  } catch {
    return undefined;
  }
}

/** What is wrong with a pattern, as the end of a sentence; undefined when it can be used. */
export function findPatternProblem(pattern: string): string | undefined {
  const body = pattern.replace(/^!/, '').replace(/^\/+|\/+$/g, '');
  if (body === '') return 'matches nothing';
  if (pattern.includes('\0')) return 'holds a NUL character';
  if (body.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    return 'has an empty, `.` or `..` part; patterns start at the root of the repository';
  }
  try {
    expressionsOf(body);
    return undefined;
  } catch {
    return 'is not a pattern';
  }
}

/** A predicate that is true for paths that the patterns match: the last pattern that matches decides. */
export function matchPaths(patterns: readonly string[]): (path: GitPath) => boolean {
  let rules: Rule[] | undefined;
  return (path) => {
    rules ??= patterns.map(ruleOf).reverse();
    const text = textOf(path);
    const last = rules.find((rule) =>
      text === undefined
        ? rule.bytes.some((expression) => expression.test(path))
        : rule.text.some((expression) => expression.test(text)),
    );
    return last?.keeps ?? false;
  };
}

/** The first rule that says a path is generated; undefined for a path that people write. */
export function matchGenerated(
  rules: readonly GeneratedRule[],
): (path: GitPath) => GeneratedRule | undefined {
  const matchers = rules.map((rule) => ({ rule, matches: matchPaths(rule.paths) }));
  return (path) => matchers.find(({ matches }) => matches(path))?.rule;
}
