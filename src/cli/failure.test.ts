import { describe, expect, it } from 'vitest';
import { SennitError } from '../model/errors.ts';
import { asSennitError, failureOutcome, renderFailure, renderStack } from './failure.ts';
import { createStyle } from './terminal.ts';

const errno = (code: string, path?: string): Error => Object.assign(new Error(`${code}: no`), { code, path });

describe('asSennitError', () => {
  it('leaves a SennitError as it is', () => {
    const error = new SennitError('gate_red', 'red');
    expect(asSennitError(error)).toBe(error);
  });

  it.each([
    ['ENOSPC', 'disk_full', true],
    ['EDQUOT', 'disk_full', true],
    ['EROFS', 'repository_readonly', false],
    ['EACCES', 'repository_readonly', false],
  ])('%s is %s', (code, expected, retryable) => {
    const error = asSennitError(errno(code, '/repo/.git/sennit'));
    expect(error).toMatchObject({ code: expected, retryable, paths: ['/repo/.git/sennit'] });
    expect(error.message).toContain('/repo/.git/sennit');
  });

  it.each([new TypeError('x is not a function\n  at y'), errno('ENOENT'), 'a text', undefined])(
    'anything else is a bug, in one line (%#)',
    (thrown) => {
      const error = asSennitError(thrown);
      expect(error).toMatchObject({ code: 'internal_bug', exitCode: 70 });
      expect(error.message).not.toContain('\n');
    },
  );
});

describe('failureOutcome', () => {
  it('gives every failure an error with a hint, and the word of its exit code', () => {
    const { answer, exitCode } = failureOutcome('land', new SennitError('target_moved', 'moved'), undefined);
    expect(exitCode).toBe(5);
    expect(answer).toMatchObject({ command: 'land', ok: false, result: 'busy' });
    expect(answer.error).toMatchObject({ code: 'target_moved', retryable: true, paths: [] });
    expect(answer.error?.hint).toMatch(/\S/);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends with %d whatever the command threw', (signal, code) => {
    const outcome = failureOutcome('land', new SennitError('git_failed', 'git died'), signal);
    expect(outcome.exitCode).toBe(code);
    expect(outcome.answer).toMatchObject({ result: 'interrupted', error: { code: 'interrupted' } });
  });
});

describe('renderFailure', () => {
  it('says what, where, the way out and the next command', () => {
    const error = new SennitError('snapshot_incomplete', 'Files cannot be read.', {
      hint: 'Make them readable.',
      paths: ['a', 'b'],
      next: ['sennit doctor'],
    });
    expect(renderFailure(failureOutcome('land', error, undefined), createStyle(false))).toBe(
      'error: Files cannot be read. [snapshot_incomplete]\n  a\n  b\nhint: Make them readable.\nnext: sennit doctor\n',
    );
  });

  it('does not list a thousand paths', () => {
    const paths = Array.from({ length: 1000 }, (_, i) => `file-${i}`);
    const error = new SennitError('target_dirty', 'In the way.', { paths });
    const text = renderFailure(failureOutcome('land', error, undefined), createStyle(false));
    expect(text.split('\n').length).toBeLessThan(30);
    expect(text).toContain('and 980 more');
  });
});

it('renderStack follows causes', () => {
  expect(renderStack(new Error('outer', { cause: new Error('inner') }))).toMatch(
    /outer[\s\S]*caused by[\s\S]*inner/,
  );
});
