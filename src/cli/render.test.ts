import { describe, expect, it } from 'vitest';
import { newAnswer, RESULT_EXITS, type ResultWord } from '../model/answer.ts';
import { headlineOf } from './headline.ts';
import { renderAnswer } from './render.ts';
import { firstOf, renderTable } from './table.ts';
import { createStyle } from './terminal.ts';

const plain = createStyle(false);
const commit = 'a'.repeat(40);

describe('renderAnswer', () => {
  it('tells a landing with all that came with it', () => {
    const answer = newAnswer('land', 'landed', {
      commit,
      target: 'main',
      pushed: 'origin/main',
      sources: [
        { name: 'cart', kind: 'worktree', state: 'merged', snapshot: 'b'.repeat(40) },
        { name: 'search-and-find', kind: 'branch', state: 'dropped', snapshot: null },
      ],
      paths: [{ path: 'src/a.ts', rung: 'patch', reason: 'applied', ms: 12.4, source: 'cart' }],
      gates: [
        {
          name: 'root',
          command: 'npm test',
          outcome: 'passed',
          known: false,
          ms: 2500,
          code: 0,
          tail: 'ok',
          log: '/l',
        },
      ],
      findings: [
        { check: 'x_y', severity: 'warning', message: 'Something.', paths: ['p', 'q'], remedy: 'do this' },
      ],
      next: ['sennit undo'],
    });
    expect(
      renderAnswer(answer, plain),
    ).toBe(`Landed 1 source on main as aaaaaaaaaa without 1 source that turned the gate red and pushed to origin/main.

Sources
  cart             worktree  merged   bbbbbbbbbb
  search-and-find  branch    dropped

Joined paths
  src/a.ts  patch  applied 12 ms

Gates
  root  passed  2.5 s  npm test

Findings
  warning: Something.
    p, q
    to do: do this

Next
  sennit undo
`);
  });

  it('shows the end of what a red gate said', () => {
    const text = renderAnswer(
      newAnswer('land', 'gate_red', {
        target: 'main',
        gates: [
          {
            name: 'root',
            command: 'x',
            outcome: 'failed',
            known: false,
            ms: 5,
            code: 1,
            tail: 'one\ntwo\n',
            log: '/log',
          },
        ],
      }),
      plain,
    );
    expect(text).toContain('  | one\n  | two\n');
    expect(text).toContain('All of it: /log');
  });

  it('says where conflicts are resolved', () => {
    const text = renderAnswer(
      newAnswer('land', 'conflicts', {
        target: 'main',
        conflicts: [
          {
            path: 'a.ts',
            kind: 'content',
            sources: ['x', 'y'],
            symbols: ['f'],
            message: '',
            related: [],
            tried: [],
          },
        ],
        handover: { worktree: '/w', packet: '/p.json' },
        error: {
          code: 'conflict_pending',
          message: 'It stopped.',
          hint: 'Go on.',
          retryable: false,
          paths: [],
        },
      }),
      plain,
    );
    expect(text).toMatch(/^1 conflict to settle/);
    expect(text).toContain('Go on.');
    expect(text).toContain('  a.ts  content  x, y, in f\n');
    expect(text).toContain('/w');
    expect(text).toContain('/p.json');
  });

  it('tells a failure that has more to show', () => {
    const error = { code: 'git_failed', message: 'It broke.', hint: 'Mend it.', retryable: false, paths: [] };
    expect(renderAnswer(newAnswer('gc', 'failed', { note: 'One of two.', error }), plain)).toBe(
      'Failed.\nOne of two.\nIt broke.\nMend it.\n',
    );
  });

  it('cuts what nobody reads to its end, and says so', () => {
    const sources = Array.from({ length: 1000 }, (_, i) => ({
      name: `s${i}`,
      kind: 'branch',
      state: 'merged' as const,
      snapshot: null,
    }));
    const text = renderAnswer(newAnswer('land', 'landed', { target: 'main', sources }), plain);
    expect(text).toMatch(/^Landed 1000 sources/);
    expect(text.split('\n').length).toBeLessThan(40);
    expect(text).toContain('and 970 more (--json has all)');
  });

  it('prints a schema, a script and help as they are', () => {
    expect(renderAnswer(newAnswer('schema', 'printed', { schema: { a: 1 } }), plain)).toBe(
      '{\n  "a": 1\n}\n',
    );
    expect(renderAnswer(newAnswer('help', 'printed', { text: 'help' }), plain)).toBe('help\n');
  });

  it('shows a forecast with its collisions', () => {
    const text = renderAnswer(
      newAnswer('forecast', 'collisions', {
        forecast: {
          order: ['a', 'b'],
          pairs: 1,
          merged: 1,
          collisions: [{ sources: ['a', 'b'], paths: [{ path: 'p', kind: 'content', symbols: [] }] }],
        },
      }),
      plain,
    );
    expect(text).toContain('1 pair of 1 will collide.');
    expect(text).toContain('  a x b  p  content');
  });
});

it.each(Object.keys(RESULT_EXITS) as ResultWord[])('%s has a headline without holes', (result) => {
  for (const command of ['land', 'gc', 'log', 'conflicts', 'archive list', 'undo'] as const) {
    const answer = { ...newAnswer(command, 'failed'), result };
    expect(headlineOf(answer)).not.toMatch(/undefined|null|NaN/);
  }
});

describe('renderTable', () => {
  it('does not count colours and leaves no blanks at the end', () => {
    const red = createStyle(true).red('ab');
    expect(
      renderTable([
        [red, 'x'],
        ['abcd', ''],
        ['é', 'y'],
      ]),
    ).toEqual([`  ${red}    x`, '  abcd', '  é     y']);
  });
});

it('firstOf keeps short lists whole', () => {
  expect(firstOf(['a', 'b'], 2)).toEqual(['a', 'b']);
});
