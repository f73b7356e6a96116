// An answer as text for people: what came of it in one sentence, then the parts that the answer holds, then what to run
// next. Culprits are told by their findings. Everything printed here is in the JSON too. Long lists are cut, and it is
// said that they are.

import type {
  Answer,
  AnswerConflict,
  AnswerFinding,
  AnswerForecast,
  AnswerGate,
  ResultWord,
} from '../model/answer.ts';
import { countOf, headlineOf, shortId } from './headline.ts';
import { firstOf, renderTable } from './table.ts';
import type { Style } from './terminal.ts';
import { findUnnamedPaths } from './unnamed-paths.ts';

/** Rows of one list that are printed. */
const MOST_ROWS = 30;
/** Paths that a finding prints when its message does not name them. */
const MOST_PATHS = 5;
/** Letters of a setting's value. */
const MOST_LETTERS = 60;

/** The text of an answer for standard output, made safe for terminals by the caller. Ends with a line end. */
export function renderAnswer(answer: Answer, style: Style): string {
  if (answer.text !== undefined) return answer.text.endsWith('\n') ? answer.text : `${answer.text}\n`;
  if (answer.schema !== undefined) return `${JSON.stringify(answer.schema, null, 2)}\n`;
  const headline = headlineOf(answer);
  const paint = answer.ok ? style.bold : style.red;
  const opening = [headline === '' ? '' : paint(headline), answer.note ?? '', ...errorLines(answer)];
  const blocks = [
    opening.filter((line) => line !== ''),
    ...sections(answer, style),
    nextLines(answer, style),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

/** Results whose headline and lists say what the error says. */
const TOLD: readonly ResultWord[] = ['conflicts', 'gate_red', 'parked'];

function errorLines({ error, result }: Answer): string[] {
  if (error === null) return [];
  return TOLD.includes(result) ? [error.hint] : [error.message, error.hint];
}

function sections(answer: Answer, style: Style): string[][] {
  return [
    list(style, 'Settings', answer.settings, ({ key, value, where }) => [
      key,
      valueText(value),
      style.dim(where),
    ]),
    answer.forecast === undefined ? [] : forecastLines(answer.forecast, style),
    list(style, 'Operations', answer.operations, (operation) => [
      operation.id,
      operation.kind,
      operation.state,
      operation.target ?? '',
      operation.commit === null ? '' : shortId(operation.commit),
      namesOf(operation.sources),
    ]),
    list(style, 'Sources', answer.sources, ({ name, kind, state, snapshot }) => [
      name,
      kind,
      state.replaceAll('_', ' '),
      style.dim(snapshot === null ? '' : shortId(snapshot)),
    ]),
    conflictLines(answer, style),
    list(style, 'Joined paths', answer.paths, ({ path, rung, reason, ms }) => [
      path,
      rung,
      `${reason} ${style.dim(millis(ms))}`,
    ]),
    gateLines(answer.gates, style),
    list(style, 'Workspaces', answer.workspaces, ({ path, action, reason, ignored }) => [
      path,
      action,
      ignored.length === 0 ? reason : `${reason}; not reproducible: ${namesOf(ignored)}`,
    ]),
    list(style, 'Archives', answer.archives, ({ id, commit, created, subject }) => [
      id,
      shortId(commit),
      created,
      subject,
    ]),
    ...(answer.archives ?? []).map(({ id, paths }) => list(style, `Paths of ${id}`, paths, (path) => [path])),
    list(style, 'Refs', answer.refs, ({ ref, from, to }) => [
      ref,
      from === null ? 'none' : shortId(from),
      '->',
      to === null ? 'none' : shortId(to),
    ]),
    findingLines(answer.findings, style),
    answer.pull_request == null
      ? []
      : [`Pull request ${answer.pull_request.created ? 'opened' : 'updated'}: ${answer.pull_request.url}`],
  ];
}

function valueText(value: unknown): string {
  const text = value === null ? 'none' : JSON.stringify(value);
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
}

function list<T>(
  style: Style,
  title: string,
  items: readonly T[] | undefined,
  cells: (item: T) => readonly string[],
): string[] {
  if (items === undefined || items.length === 0) return [];
  return [style.bold(title), ...firstOf(renderTable(items.map(cells)), MOST_ROWS)];
}

/** At most five of some names. */
function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_PATHS;
  return `${names.slice(0, MOST_PATHS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function millis(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function conflictLines({ conflicts, handover }: Answer, style: Style): string[] {
  const row = (conflict: AnswerConflict): string[] => [
    conflict.path,
    conflict.kind,
    [...conflict.sources, ...conflict.symbols.map((symbol) => `in ${symbol}`)].join(', '),
  ];
  const lines = list(style, 'Conflicts', conflicts, row);
  if (handover == null) return lines;
  return [...lines, `Resolve them in ${handover.worktree}`, `Described in   ${handover.packet}`];
}

function gateLines(gates: readonly AnswerGate[], style: Style): string[] {
  const rows = gates.map(({ name, command, outcome, known, ms }) => [
    name,
    outcome === 'passed' ? style.green(outcome) : style.red(outcome),
    known ? 'known for this tree' : millis(ms),
    style.dim(command.split('\n')[0] ?? ''),
  ]);
  const lines = rows.length === 0 ? [] : [style.bold('Gates'), ...renderTable(rows)];
  for (const { name, outcome, tail, log } of gates) {
    if (outcome === 'passed') continue;
    const said = tail.trimEnd();
    if (said !== '')
      lines.push(`The end of what ${name} said:`, ...said.split('\n').map((line) => `  | ${line}`));
    if (log !== null) lines.push(`All of it: ${log}`);
  }
  return lines;
}

function forecastLines({ order, pairs, merged, collisions }: AnswerForecast, style: Style): string[] {
  const lines = [
    style.dim(`${countOf(pairs, 'pair')} looked at, ${merged} of them merged`),
    `Best order: ${order.slice(0, MOST_ROWS).join(', ')}${order.length > MOST_ROWS ? ' …' : ''}`,
  ];
  const rows = collisions.flatMap(({ sources, paths }) =>
    paths.map(({ path, kind, symbols }) => [
      sources.join(' x '),
      path,
      symbols.length === 0 ? kind : `${kind} in ${symbols.join(', ')}`,
    ]),
  );
  if (rows.length > 0) lines.push('', style.bold('Collisions'), ...firstOf(renderTable(rows), MOST_ROWS));
  return lines;
}

function findingLines(findings: readonly AnswerFinding[], style: Style): string[] {
  const mark = { error: style.red('error'), warning: style.yellow('warning'), info: style.dim('info') };
  const lines = findings.flatMap((finding) => {
    const { severity, message, remedy, fixed } = finding;
    const about = [`  ${mark[severity]}: ${message}${fixed === true ? style.green(' (put right)') : ''}`];
    const unsaid = findUnnamedPaths(message, finding.paths ?? []);
    if (unsaid.length > 0) about.push(`    ${namesOf(unsaid)}`);
    if (remedy !== undefined && fixed !== true) about.push(`    ${style.dim('to do:')} ${remedy}`);
    return about;
  });
  return lines.length === 0 ? [] : [style.bold('Findings'), ...firstOf(lines, 3 * MOST_ROWS)];
}

function nextLines({ next }: Answer, style: Style): string[] {
  return next.length === 0 ? [] : [style.bold('Next'), ...next.map((command) => `  ${command}`)];
}
