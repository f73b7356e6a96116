import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findWriteFailure, readFreeSpace } from './disk.ts';

test('free space is that of the nearest folder that exists', () => {
  const here = readFreeSpace(tmpdir());
  expect(here.bytes).toBeGreaterThan(0);
  expect(here.inodes).toBeGreaterThan(0);
  const later = readFreeSpace(join(tmpdir(), 'sennit-not-yet', 'there'));
  expect(later.bytes).toBeGreaterThan(0);
});

test('a full disk and a place without rights are told apart; other faults are not guessed at', () => {
  const failing = (code: string): unknown =>
    findWriteFailure(Object.assign(new Error(code), { code }), '/x')?.code;
  expect(failing('ENOSPC')).toBe('disk_full');
  expect(failing('EDQUOT')).toBe('disk_full');
  expect(failing('EROFS')).toBe('repository_readonly');
  expect(failing('EACCES')).toBe('repository_readonly');
  expect(failing('EIO')).toBeUndefined();
  expect(findWriteFailure('text', '/x')).toBeUndefined();
});
