import { describe, expect, it } from 'vitest';
import { createStyle, safeText, safeValue, wantsColor } from './terminal.ts';

describe('safeText', () => {
  it('lets no name of an agent rewrite the terminal', () => {
    expect(safeText('a\u001b[2Jb\u0007\u009b31m\u202e\rc')).toBe(
      'a\\u001b[2Jb\\u0007\\u009b31m\\u202e\\u000dc',
    );
  });

  it('keeps lines, tabs and letters of every script', () => {
    expect(safeText('a\tb\nc\r\nd é 漢 👩‍👧')).toBe('a\tb\nc\nd é 漢 👩‍👧');
  });

  it('reaches every text of an answer', () => {
    expect(safeValue({ a: ['\u001b', 1, null, { '\u0007': '\u0000' }] })).toEqual({
      a: ['\\u001b', 1, null, { '\\u0007': '\\u0000' }],
    });
  });
});

describe('wantsColor', () => {
  const env = { TERM: 'xterm-256color' };

  it('is for terminals alone', () => {
    expect(wantsColor({ isTerminal: true, refused: false, env })).toBe(true);
    expect(wantsColor({ isTerminal: false, refused: false, env })).toBe(false);
  });

  it.each([
    [true, env],
    [false, { ...env, NO_COLOR: '1' }],
    [false, { TERM: 'dumb' }],
  ])('can be refused (%#)', (refused, given) => {
    expect(wantsColor({ isTerminal: true, refused, env: given })).toBe(false);
  });

  it('does not take an empty NO_COLOR for a wish', () => {
    expect(wantsColor({ isTerminal: true, refused: false, env: { ...env, NO_COLOR: '' } })).toBe(true);
  });
});

it('a style without colour changes nothing', () => {
  expect(createStyle(false).bold('x')).toBe('x');
  expect(createStyle(true).bold('x')).toBe('\u001b[1mx\u001b[22m');
});
