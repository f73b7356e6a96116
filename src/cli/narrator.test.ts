import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { canRewriteLine, createNarrator } from './narrator.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function listen(options: { live?: boolean; silent?: boolean; columns?: number } = {}) {
  const said: string[] = [];
  const start = Date.now();
  const narrator = createNarrator({
    write: (text) => said.push(text),
    live: options.live ?? false,
    silent: options.silent ?? false,
    columns: () => options.columns ?? 80,
    elapsed: () => Date.now() - start,
  });
  return { narrator, said };
}

describe('createNarrator', () => {
  it('says nothing in the first second', () => {
    const { narrator, said } = listen();
    narrator.step('reading');
    vi.advanceTimersByTime(999);
    narrator.done();
    vi.advanceTimersByTime(5000);
    expect(said).toEqual([]);
  });

  it('says the newest step when the second is over', () => {
    const { narrator, said } = listen();
    narrator.step('reading');
    vi.advanceTimersByTime(500);
    narrator.step('merging');
    vi.advanceTimersByTime(500);
    expect(said).toEqual(['sennit: merging\n']);
  });

  it('does not flood a log', () => {
    const { narrator, said } = listen();
    for (let i = 0; i < 100; i += 1) {
      narrator.step(`merging ${i}`);
      vi.advanceTimersByTime(100);
    }
    expect(said.length).toBeLessThanOrEqual(4);
    expect(said.length).toBeGreaterThanOrEqual(3);
  });

  it('rewrites one line on a terminal and takes it away at the end', () => {
    const { narrator, said } = listen({ live: true, columns: 20 });
    vi.advanceTimersByTime(1500);
    narrator.step('a step that is longer than the terminal');
    narrator.done();
    narrator.done();
    expect(said).toEqual(['\r\u001b[2Ka step that is l… …', '\r\u001b[2K']);
  });

  it('lets no name of an agent reach the terminal as it is', () => {
    const { narrator, said } = listen();
    vi.advanceTimersByTime(1500);
    narrator.step('gate x: \u001b[2J\nsennit: all is well');
    expect(said).toEqual(['sennit: gate x: \\u001b[2J sennit: all is well\n']);
  });

  it('is silent for programs', () => {
    const { narrator, said } = listen({ silent: true });
    vi.advanceTimersByTime(1500);
    narrator.step('merging');
    vi.advanceTimersByTime(5000);
    narrator.done();
    expect(said).toEqual([]);
  });
});

describe('canRewriteLine', () => {
  it.each([
    [true, {}, true],
    [true, { CI: 'false' }, true],
    [true, { CI: 'true' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
  ])('%s %j: %s', (isTerminal, env, live) => {
    expect(canRewriteLine(isTerminal, env)).toBe(live);
  });
});
