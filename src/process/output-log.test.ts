import { Buffer } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OutputLog, renderTail } from './output-log.ts';

const tailOf = (text: string): string => renderTail(Buffer.from(text));

describe('renderTail', () => {
  test('what a terminal would obey is not handed on', () => {
    expect(tailOf('\u001b[1;31mred\u001b[0m \u001b[38:2::1:2:3mx\u001b[m')).toBe('red x');
    expect(tailOf('\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\b')).toBe('alinkb');
    expect(tailOf('\u001bPq#0~\u001b\\a\u001b(Bb\u001b7c\u001bMd')).toBe('abcd');
    expect(tailOf('\u009b31mred \u009d0;t\u009cx')).toBe('red x');
    expect(tailOf('a\u0007b\u0008c\u0000d\u007fe')).toBe('abcde');
    expect(tailOf('safe \u202egnp.exe')).toBe('safe gnp.exe');
    expect(tailOf('cut off\u001b[38;5')).toBe('cut off');
    expect(tailOf('cut off\u001b]0;tit')).toBe('cut off');
  });

  test('tabs, lines and letters of all languages stay', () => {
    expect(tailOf('a\tb\r\n  caf\u00e9 \u65e5\u672c \u{1f600}\n')).toBe(
      'a\tb\n  caf\u00e9 \u65e5\u672c \u{1f600}',
    );
  });

  test('of a progress bar the last drawing is kept', () => {
    expect(tailOf('10%\r50%\r100%\ndone\r')).toBe('100%\ndone');
  });

  test('bytes that are no UTF-8 are shown as such and lose nothing around them', () => {
    expect(renderTail(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xc3]))).toBe('a\ufffd\ufffdb\ufffd');
  });

  test('is cut at a line, or inside the only line at a whole character', () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n');
    const tail = tailOf(lines);
    expect(tail.length).toBeLessThanOrEqual(4000);
    expect(tail).toMatch(/^line \d+\n/);
    expect(tail.endsWith('line 999')).toBe(true);
    const faces = tailOf(`x${'\u{1f600}'.repeat(3000)}y`);
    expect(faces.length).toBeLessThanOrEqual(4000);
    expect(faces).toMatch(/^\u{1f600}+y$/u);
    expect(renderTail(Buffer.from('alf a line\nwhole'), true)).toBe('whole');
  });

  test('a sequence without an end hides no other line', () => {
    expect(tailOf('a\u001b]0;title\nFAIL\n\u001bPq\nreason\u001b[1\nend')).toBe('a\nFAIL\n\nreason\nend');
  });

  test('a flood of beginnings comes to an end', () => {
    expect(tailOf('\u001b['.repeat(40_000))).toBe('');
    expect(tailOf('\u001b]'.repeat(40_000))).toBe('');
    expect(tailOf(`\u001b]${'a'.repeat(60_000)}`)).toBe('');
    expect(tailOf(`\u001b[${'1;'.repeat(60_000)}`)).toBe('');
  });
});

test('the log keeps the first bytes unchanged and the tail the last, whatever the chunks', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sennit-log-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const log = new OutputLog(join(dir, 'new', 'gate.log'), 11);
  for (let i = 0; i < 20_000; i += 1) log.add(Buffer.from(`\u001b[0m${i} caf\u00e9\n`));
  expect(log.truncated).toBe(true);
  expect(log.tail().split('\n').slice(-2)).toEqual(['19998 caf\u00e9', '19999 caf\u00e9']);
  log.close();
  log.close();
  log.add(Buffer.from('late'));
  expect(readFileSync(join(dir, 'new', 'gate.log'), 'latin1')).toBe('\u001b[0m0 caf\u00c3\u00a9');
});
