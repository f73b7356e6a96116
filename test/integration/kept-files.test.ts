import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { moveBack, moveToKept } from '../../src/flow/kept-files.ts';
import type { GitPath } from '../../src/model/ids.ts';
import { readFiles } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';

/** A folder with files of every kind, in a given place. */
function fill(root: string): void {
  mkdirSync(join(root, 'data/deep'), { recursive: true });
  writeFileSync(join(root, 'data/deep/file'), 'deep\n');
  writeFileSync(join(root, '.env'), 'secret\n', { mode: 0o600 });
  symlinkSync('/nowhere/at/all', join(root, 'data/link'));
}

const PATHS = ['data/', '.env', 'absent'] as GitPath[];

test('kept files are moved and put back with mode, links and time', async () => {
  const place = sealedPlace();
  const root = place.at('root').dir;
  fill(root);
  const [before, time] = [readFiles(root), statSync(join(root, '.env')).mtimeMs];
  const kept = join(place.root, 'kept/op/a');
  await moveToKept(root, kept, PATHS);
  expect(readFiles(root)).toEqual({});
  expect(readFiles(kept)).toEqual(before);
  expect(await moveBack(kept, root)).toEqual([]);
  expect(readFiles(root)).toEqual(before);
  expect(statSync(join(root, '.env')).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, '.env')).mtimeMs).toBe(time);
});

test('across file systems nothing is lost either way', async (context) => {
  const place = sealedPlace();
  const root = place.at('root').dir;
  if (lstatSync('/dev/shm', { throwIfNoEntry: false }) === undefined)
    context.skip('there is no second file system');
  if (statSync('/dev/shm').dev === statSync(root).dev) context.skip('there is no second file system');
  const other = mkdtempSync('/dev/shm/sennit-test-');
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  fill(root);
  const before = readFiles(root);
  await moveToKept(root, join(other, 'kept'), PATHS);
  expect(readFiles(join(other, 'kept'))).toEqual(before);
  expect(readlinkSync(join(other, 'kept/data/link'))).toBe('/nowhere/at/all');
  // The original goes with the folder that it is in: until then it is a second copy.
  expect(readFiles(root)).toEqual(before);
  rmSync(root, { recursive: true });
  mkdirSync(root);
  expect(await moveBack(join(other, 'kept'), root)).toEqual([]);
  expect(readFiles(root)).toEqual(before);
  expect(readFiles(other)).toEqual({});
});

test('what is in the way is not overwritten, and what could not go back stays kept', async () => {
  const place = sealedPlace();
  const root = place.at('root').dir;
  fill(root);
  const kept = join(place.root, 'kept');
  await moveToKept(root, kept, PATHS);
  writeFileSync(join(root, '.env'), 'of somebody else\n');
  mkdirSync(join(root, 'data/deep'), { recursive: true });
  expect(await moveBack(kept, root)).toEqual(['.env']);
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('of somebody else\n');
  expect(readFileSync(join(kept, '.env'), 'utf8')).toBe('secret\n');
  expect(readFileSync(join(root, 'data/deep/file'), 'utf8')).toBe('deep\n');
});

test('a link that leads out of the workspace does not move files of others', async () => {
  const place = sealedPlace();
  const [root, others] = [place.at('root').dir, place.at('others').dir];
  writeFileSync(join(others, 'file'), 'of others\n');
  symlinkSync(others, join(root, 'data'));
  const moving = moveToKept(root, join(place.root, 'kept'), ['data/file' as GitPath]);
  await expect(moving).rejects.toMatchObject({ code: 'workspace_unproved' });
  expect(readFileSync(join(others, 'file'), 'utf8')).toBe('of others\n');
});
