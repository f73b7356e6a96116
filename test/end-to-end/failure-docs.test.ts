// docs/failure-modes.md holds every error code with its exit code, and every name of a finding that the source can give,
// and none that does not exist. Names are found in the syntax and the types of the sources; one that is computed in a way
// that this cannot follow fails the test.

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/model/errors.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs', 'failure-modes.md'), 'utf8');

const CODES = Object.keys(ERROR_CODES);

/** Properties called `check` that are no names of findings. */
const NO_FINDINGS = new Set(['src/cli/contract.ts']);

function visitAll(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
}

/** The texts that an expression can be, as its type says; undefined where that is any text. */
function textsOf(expression: ts.Expression, checker: ts.TypeChecker): string[] | undefined {
  if (ts.isTemplateExpression(expression)) {
    let texts = [expression.head.text];
    for (const { expression: part, literal } of expression.templateSpans) {
      const parts = textsOf(part, checker);
      if (parts === undefined) return undefined;
      texts = texts.flatMap((text) => parts.map((each) => `${text}${each}${literal.text}`));
    }
    return texts;
  }
  const type = checker.getTypeAtLocation(expression);
  const kinds = type.isUnion() ? type.types : [type];
  const texts = kinds.flatMap((kind) => (kind.isStringLiteral() ? [kind.value] : []));
  // An error that is told as a finding: the page has it among the errors.
  if (texts.length === CODES.length && CODES.every((code) => texts.includes(code))) return [];
  return texts.length === kinds.length ? texts : undefined;
}

/** The function around a node that has a parameter of this name, with the parameter's place. */
function findParameter(node: ts.Node, name: string): { fn: string; at: number } | undefined {
  for (let up: ts.Node = node; up.parent !== undefined; up = up.parent) {
    if (!ts.isFunctionDeclaration(up)) continue;
    const at = up.parameters.findIndex(({ name: own }) => ts.isIdentifier(own) && own.text === name);
    return at === -1 || up.name === undefined ? undefined : { fn: up.name.text, at };
  }
  return undefined;
}

/** Names of findings that one source gives; throws where one cannot be told. */
function checksOf(source: ts.SourceFile, checker: ts.TypeChecker): string[] {
  const found: string[] = [];
  const fail = (node: ts.Node): never => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    throw new Error(
      `${relative(ROOT, source.fileName)}:${line + 1}: the name of this finding cannot be told`,
    );
  };
  visitAll(source, (node) => {
    const isCheck =
      (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) &&
      ts.isIdentifier(node.name) &&
      node.name.text === 'check';
    if (!isCheck) return;
    const value = ts.isPropertyAssignment(node) ? node.initializer : node.name;
    if (ts.isFunctionLike(value)) return;
    const texts = textsOf(value, checker);
    if (texts !== undefined) {
      found.push(...texts);
      return;
    }
    // A helper that is told the name: then its callers say it.
    const parameter = ts.isIdentifier(value) ? findParameter(node, value.text) : undefined;
    if (parameter === undefined) return fail(node);
    let calls = 0;
    visitAll(source, (call) => {
      if (!ts.isCallExpression(call) || !ts.isIdentifier(call.expression)) return;
      if (call.expression.text !== parameter.fn) return;
      calls += 1;
      const argument = call.arguments[parameter.at];
      found.push(...((argument === undefined ? undefined : textsOf(argument, checker)) ?? fail(call)));
    });
    if (calls === 0) fail(node);
  });
  return found;
}

/** All names of findings in the sources. */
function readChecks(): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.build.json'), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  const sources = program
    .getSourceFiles()
    .filter(({ fileName }) => fileNames.includes(fileName) && !NO_FINDINGS.has(relative(ROOT, fileName)));
  return [...new Set(sources.flatMap((source) => checksOf(source, checker)))].sort();
}

test('every error code is on the page with its exit code, and no other', () => {
  const sections = [...PAGE.matchAll(/^### `([a-z_]+)` · exit (\d+)$/gm)].map(
    ([, code = '', exit]) => [code, Number(exit)] as const,
  );
  expect(new Set(sections.map(([code]) => code)).size).toBe(sections.length);
  expect(Object.fromEntries(sections)).toEqual(ERROR_CODES);
});

test('every error says what is seen, what is safe and what to do', () => {
  const [, ...sections] = PAGE.split(/^### (?=`[a-z_]+` · exit)/m);
  expect(sections.length).toBeGreaterThan(40);
  for (const section of sections) {
    const text = section.split(/^## /m)[0] ?? '';
    for (const part of ['Seen', 'Safe', 'Do']) expect(text).toMatch(new RegExp(`^- ${part}: \\S`, 'm'));
  }
});

test('every finding of the source is on the page, and no other', () => {
  const checks = readChecks();
  expect(checks.length).toBeGreaterThan(30);
  const rows = [...PAGE.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, check]) => check);
  expect([...rows].sort()).toEqual(checks);
});
