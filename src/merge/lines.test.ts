import { expect, test } from 'vitest';
import { checkLines } from './lines.ts';

/** Texts of one-character lines. */
const text = (lines: string): string => [...lines].map((line) => `${line}\n`).join('');
const check = (base: string, target: string, change: string, result: string) =>
  checkLines(text(base), text(target), text(change), text(result));

test('a merge that holds what both sides did passes', () => {
  expect(check('abc', 'abcT', 'Cabc', 'CabcT')).toEqual({ ok: true });
  expect(check('abc', 'ac', 'abcC', 'acC')).toEqual({ ok: true });
  expect(check('', '', '', '')).toEqual({ ok: true });
});

test('a line that one side added and the result lacks is named, whichever side it was', () => {
  expect(check('abc', 'abcT', 'Cabc', 'Cabc')).toEqual({ ok: false, problem: 'line-lost', line: 'T' });
  expect(check('abc', 'abcT', 'Cabc', 'abcT')).toEqual({ ok: false, problem: 'line-lost', line: 'C' });
});

test('a line that nobody deleted and the result lacks is named', () => {
  expect(check('abc', 'abcT', 'Cabc', 'CacT')).toEqual({ ok: false, problem: 'line-lost', line: 'b' });
});

test('a line that one side deleted and that is back is named', () => {
  expect(check('abc', 'ac', 'abcC', 'abcC')).toEqual({ ok: false, problem: 'line-back', line: 'b' });
});

test('a line that one side added and that is there twice is named', () => {
  expect(check('abc', 'abcT', 'abc', 'abcTT')).toEqual({ ok: false, problem: 'line-doubled', line: 'T' });
});

test('a line that no side ever had is named', () => {
  expect(check('abc', 'abcT', 'Cabc', 'CabcTx').ok).toBe(false);
});

test('both sides adding the same line may give it once or twice', () => {
  expect(check('abc', 'abcX', 'abcX', 'abcX')).toEqual({ ok: true });
  expect(check('abc', 'Xabc', 'abcX', 'XabcX')).toEqual({ ok: true });
  expect(check('abc', 'Xabc', 'abcX', 'abc').ok).toBe(false);
  expect(check('abc', 'Xabc', 'abcX', 'XXabcX').ok).toBe(false);
});

test('both sides deleting the same line deletes it once', () => {
  expect(check('abbc', 'abc', 'abc', 'abc')).toEqual({ ok: true });
  expect(check('abc', 'ac', 'ac', 'ac')).toEqual({ ok: true });
  expect(check('abc', 'ac', 'ac', 'abc').ok).toBe(false);
});

test('a line that one side moved while the other edits elsewhere is no loss', () => {
  expect(check('abcdef', 'acdefb', 'abcdefC', 'acdefbC')).toEqual({ ok: true });
});

test('a lost last line is seen although the file does not end with a line feed', () => {
  expect(checkLines('a\nb', 'a\nb', 'a\nb\nc', 'a\nb')).toEqual({
    ok: false,
    problem: 'line-lost',
    line: 'c',
  });
});

test('lines that differ only in their line end are different lines', () => {
  expect(checkLines('a\nb\n', 'a\r\nb\n', 'a\nb\nc\n', 'a\nb\nc\n').ok).toBe(false);
});

test('an empty first line that only one side deleted is not taken for one that all have', () => {
  expect(checkLines('\na\n', 'a\n', '\na\nb\n', '\na\nb\n')).toEqual({
    ok: false,
    problem: 'line-back',
    line: '',
  });
  expect(checkLines('\na\n', 'a\n', '\na\nb\n', 'a\nb\n')).toEqual({ ok: true });
});
