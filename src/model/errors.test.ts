import { expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode, EXIT, SennitError } from './errors.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

test('only what can succeed later without a change is retryable, so that programs do not retry for ever', () => {
  for (const code of codes)
    expect(new SennitError(code, 'x').retryable, code).toBe(ERROR_CODES[code] === EXIT.busy);
  expect(new SennitError('disk_full', 'x', { retryable: true }).retryable).toBe(true);
  expect(new SennitError('repository_busy', 'x', { retryable: false }).retryable).toBe(false);
});

test('no failure ever exits like success, and only a bug exits like one', () => {
  for (const code of codes) {
    const { exitCode } = new SennitError(code, 'x');
    expect(exitCode, code).not.toBe(EXIT.done);
    expect(exitCode === EXIT.bug, code).toBe(code === 'internal_bug');
  }
});

test('codes that programs rely on are whole words in one form', () => {
  for (const code of codes) expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
});

test('the cause of a failure is kept for --debug', () => {
  const cause = new Error('below');
  expect(new SennitError('git_failed', 'above', { cause }).cause).toBe(cause);
  expect('cause' in new SennitError('git_failed', 'above')).toBe(false);
});
