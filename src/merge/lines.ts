// Counts lines, independently of how any merge aligned them. For each distinct line: what the result must hold at
// least and at most, given how often it stands in the base and how often each side inserted and deleted it. Where the
// plain sum `target + change - base` is met for every line nothing needs aligning; else both sides are aligned with the
// base by Myers' algorithm and moves and agreements are allowed for. A line that a side added and that is missing, or
// that a side deleted and that is back, is named.

import { diffArrays } from 'diff/lib/diff/array.js';

export type LineVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly problem: 'line-lost' | 'line-back' | 'line-doubled';
      readonly line: string;
    };

/** Splits text at line feeds; a carriage return stays with its line. An empty last piece is dropped. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

interface Gross {
  readonly added: Map<string, number>;
  readonly deleted: Map<string, number>;
}

/** How often each line is inserted and deleted on the way from `before` to `after`. */
function grossChanges(before: readonly string[], after: readonly string[]): Gross {
  const added = new Map<string, number>();
  const deleted = new Map<string, number>();
  for (const part of diffArrays([...before], [...after])) {
    const into = part.added ? added : part.removed ? deleted : undefined;
    if (into === undefined) continue;
    for (const line of part.value) into.set(line, (into.get(line) ?? 0) + 1);
  }
  return { added, deleted };
}

/** How many characters all four texts have in common at their start, up to the end of a line. */
function commonHead(a: string, b: string, c: string, d: string): number {
  const most = Math.min(a.length, b.length, c.length, d.length);
  let at = 0;
  while (at < most) {
    const code = a.charCodeAt(at);
    if (b.charCodeAt(at) !== code || c.charCodeAt(at) !== code || d.charCodeAt(at) !== code) break;
    at += 1;
  }
  return at === 0 ? 0 : a.lastIndexOf('\n', at - 1) + 1;
}

/** True when every line stands in the result as often as `target + change - base` says. */
function addsUp(base: string, target: string, change: string, result: string): boolean {
  // Lines before the first difference are in all four texts alike.
  const head = commonHead(base, target, change, result);
  const net = new Map<string, number>();
  const count = (text: string, step: number): void => {
    let from = head;
    for (let end = text.indexOf('\n', from); end !== -1; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end);
      net.set(line, (net.get(line) ?? 0) + step);
      from = end + 1;
    }
    if (from === text.length) return;
    const last = text.slice(from);
    net.set(last, (net.get(last) ?? 0) + step);
  };
  count(result, 1);
  count(base, 1);
  count(target, -1);
  count(change, -1);
  for (const left of net.values()) if (left !== 0) return false;
  return true;
}

/** Checks that a merged text holds what both sides did, by its lines. Texts are byte strings or UTF-8 alike. */
export function checkLines(base: string, target: string, change: string, result: string): LineVerdict {
  if (addsUp(base, target, change, result)) return { ok: true };
  const texts = { b: splitLines(base), t: splitLines(target), c: splitLines(change), r: splitLines(result) };
  const b = countLines(texts.b);
  const t = countLines(texts.t);
  const c = countLines(texts.c);
  const r = countLines(texts.r);
  const all = new Set([...b.keys(), ...t.keys(), ...c.keys(), ...r.keys()]);
  const odd: string[] = [];
  for (const line of all) {
    const sum = (t.get(line) ?? 0) + (c.get(line) ?? 0) - (b.get(line) ?? 0);
    if ((r.get(line) ?? 0) !== sum) odd.push(line);
  }
  if (odd.length === 0) return { ok: true };
  const ofTarget = grossChanges(texts.b, texts.t);
  const ofChange = grossChanges(texts.b, texts.c);
  for (const line of odd) {
    const addT = ofTarget.added.get(line) ?? 0;
    const addC = ofChange.added.get(line) ?? 0;
    const delT = ofTarget.deleted.get(line) ?? 0;
    const delC = ofChange.deleted.get(line) ?? 0;
    const was = b.get(line) ?? 0;
    const is = r.get(line) ?? 0;
    const least = Math.max(0, was + Math.max(addT, addC) - delT - delC);
    const most = was + addT + addC - Math.max(delT, delC);
    if (is < least) return { ok: false, problem: 'line-lost', line };
    if (is > most) return { ok: false, problem: addT + addC > 0 ? 'line-doubled' : 'line-back', line };
  }
  return { ok: true };
}
