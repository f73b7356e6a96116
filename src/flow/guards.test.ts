import { expect, test } from 'vitest';
import type { GitPath } from '../model/ids.ts';
import { escapes } from './guards.ts';

const out = (path: string, target: string): boolean => escapes(path as GitPath, target);

test('a link that leads out of the repository is refused, however it is written', () => {
  expect(out('link', '..')).toBe(true);
  expect(out('link', '../secret')).toBe(true);
  expect(out('a/b/link', '../../../secret')).toBe(true);
  expect(out('a/link', 'b/../../../secret')).toBe(true);
  expect(out('a/link', './/.././../secret')).toBe(true);
});

test('a link that leads out and back in again means something else in every clone', () => {
  expect(out('a/link', '../../repo/a/file')).toBe(true);
});

test('an absolute link is refused, also one of another system', () => {
  expect(out('link', '/etc/passwd')).toBe(true);
  expect(out('a/b/link', '//host/share')).toBe(true);
  expect(out('link', 'C:\\Windows')).toBe(true);
  expect(out('link', 'c:/Windows')).toBe(true);
});

test('a link that goes down and up again can leave by way of another link, and one into a git dir is a way to run code', () => {
  expect(out('l', 'd/..')).toBe(true);
  expect(out('a/l', '../d/../x')).toBe(true);
  expect(out('g', '.git/hooks')).toBe(true);
  expect(out('a/g', '../.GIT')).toBe(true);
  expect(out('g', '.github/x')).toBe(false);
});

test('links inside the repository are left alone', () => {
  expect(out('link', 'file')).toBe(false);
  expect(out('link', '.')).toBe(false);
  expect(out('a/b/link', '../..')).toBe(false);
  expect(out('a/b/link', '../../c/./d//e')).toBe(false);
  expect(out('a/link', '..file/...')).toBe(false);
  expect(out('link', 'a:b')).toBe(false);
});
