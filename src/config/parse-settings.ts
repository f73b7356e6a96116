// Reads the text of `sennit.yaml`. All problems are collected and told at once, each with line, column and key, so
// that nobody mends a file in ten rounds. Nothing is guessed: an unknown key, a value of another kind, a YAML tag or
// a key given twice is a problem, and a file with a problem gives no settings at all.

import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { findClosestWord } from './closest-word.ts';
import { findKnownKeys, type SettingsFileContent, settingsFileSchema } from './schema.ts';

/** One thing wrong with a settings file. Line and column count from 1; `key` is dotted (`gates.timeout`). */
export interface SettingsProblem {
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly message: string;
}

export type ParsedSettings =
  | { readonly outcome: 'valid'; readonly content: SettingsFileContent }
  | { readonly outcome: 'invalid'; readonly problems: readonly SettingsProblem[] };

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** Settings that people look for in the wrong section are found by their last word. */
const ALL_KEYS: readonly string[] = ['', 'gates', 'snapshot', 'guards', 'push'].flatMap((section) =>
  (findKnownKeys(section === '' ? [] : [section]) ?? []).map((key) =>
    section === '' ? key : `${section}.${key}`,
  ),
);

/** `gates.root` or `generated[0].by`. */
function keyText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function kindText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return `the text "${value.length > 40 ? `${value.slice(0, 40)}…` : value}"`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a section with keys';
  return String(value);
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with keys',
  record: 'a section with keys',
};

function kindProblem(expected: string, value: unknown): string {
  const advice =
    expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')
      ? '; put it in quotes'
      : '';
  return `must be ${EXPECTED[expected] ?? expected}, not ${kindText(value)}${advice}`;
}

function unknownKeyProblem(path: Path, key: string): string {
  const known = findKnownKeys(path) ?? [];
  const here = findClosestWord(key, known);
  const plain = (text: string): string => text.toLowerCase().replace(/[-_]/g, '');
  const elsewhere = ALL_KEYS.find((each) => plain(each.split('.').at(-1) ?? '') === plain(key));
  const meant = here === undefined ? elsewhere : keyText([...path, here]);
  return `is not a setting${meant === undefined ? `; known here: ${known.join(', ')}` : `; did you mean ${meant}?`}`;
}

/** The issues of the branch of a union that fits best: the one whose first problem is deepest in the value. */
function bestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const depth = (issues: readonly Issue[]): number =>
    Math.max(0, ...issues.map((issue) => issue.path.length));
  // A branch of the right kind complains about the content, not about the kind.
  const fits = branches.filter((issues) =>
    issues.every((issue) => issue.code !== 'invalid_type' || issue.path.length > 0),
  );
  return fits.sort((a, b) => depth(b) - depth(a))[0];
}

interface Told {
  readonly path: Path;
  /** The place that is marked is this key itself, not its value. */
  readonly atKey: boolean;
  readonly message: string;
}

function tellIssue(issue: Issue, above: Path, valueAt: (path: Path) => unknown): Told[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        atKey: true,
        message: unknownKeyProblem(path, key),
      }));
    case 'invalid_type':
      return [{ path, atKey: false, message: kindProblem(issue.expected, valueAt(path)) }];
    case 'invalid_value': {
      const value = valueAt(path);
      const words = issue.values.map(String);
      const meant = typeof value === 'string' ? findClosestWord(value, words) : undefined;
      const question = meant === undefined ? '' : `; did you mean ${meant}?`;
      return [
        {
          path,
          atKey: false,
          message: `must be one of ${words.join(', ')}, not ${kindText(value)}${question}`,
        },
      ];
    }
    case 'invalid_key':
      return issue.issues.map((each) => ({ path, atKey: true, message: each.message }));
    case 'invalid_union': {
      const best = bestBranch(issue.errors);
      return best === undefined
        ? [{ path, atKey: false, message: `${issue.message}, not ${kindText(valueAt(path))}` }]
        : best.flatMap((each) => tellIssue(each, path, valueAt));
    }
    default:
      return [{ path, atKey: false, message: issue.message }];
  }
}

/** Where a key, or the value at a path, begins; the nearest thing above it that is in the text otherwise. */
function offsetOf(root: unknown, { path, atKey }: Told): number {
  let node: unknown = root;
  let offset = isNode(root) ? (root.range?.[0] ?? 0) : 0;
  for (const [depth, step] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      const key = pair?.key;
      if (isNode(key)) offset = key.range?.[0] ?? offset;
      if (atKey && depth === path.length - 1) return offset;
      node = pair?.value;
      // A value that is missing has a place too, but the key is easier to find.
      if (isScalar(node) && node.value === null) return offset;
    } else {
      node = (node as { items?: readonly unknown[] } | undefined)?.items?.[Number(step)];
    }
    if (isNode(node)) offset = (node as Node).range?.[0] ?? offset;
  }
  return offset;
}

/** The settings in a YAML text, or everything that is wrong with it. An empty text is valid and sets nothing. */
export function parseSettings(text: string): ParsedSettings {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    merge: false,
  });
  const place = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: SettingsProblem[] = [...document.errors, ...document.warnings].map((error) => {
    const twice = error.code === 'DUPLICATE_KEY' ? /^[\w.-]*/.exec(text.slice(error.pos[0]))?.[0] : undefined;
    return {
      ...place(error.pos[0]),
      key: twice ?? '',
      message: twice === undefined ? `this is not YAML: ${error.message}` : 'is given twice',
    };
  });
  const readable = document.errors.every((error) => error.code === 'DUPLICATE_KEY');
  let value: unknown = null;
  if (readable) {
    try {
      value = document.toJS();
    } catch (error) {
      problems.push({
        line: 1,
        column: 1,
        key: '',
        message: `this is not YAML: ${(error as Error).message}`,
      });
    }
  }
  if (value === null) {
    return problems.length === 0 ? { outcome: 'valid', content: {} } : { outcome: 'invalid', problems };
  }
  const checked = settingsFileSchema.safeParse(value);
  if (checked.success && problems.length === 0) return { outcome: 'valid', content: checked.data };
  const valueAt = (path: Path): unknown =>
    path.reduce<unknown>(
      (at, step) => (at as Record<PropertyKey, unknown> | null | undefined)?.[step],
      value,
    );
  for (const told of (checked.error?.issues ?? []).flatMap((issue) => tellIssue(issue, [], valueAt))) {
    const { path, message } = told;
    problems.push({ ...place(offsetOf(document.contents, told)), key: keyText(path), message });
  }
  return {
    outcome: 'invalid',
    problems: problems.sort((a, b) => a.line - b.line || a.column - b.column),
  };
}
