// Results that look clean and are wrong: something reverted, dropped, duplicated or left with conflict markers.
// A wrong merge is far worse than a conflict, so where no rung is sure the command stops and says so.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';
import { askSennit, expectRefusal, runSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { x: '1\n', y: '1\n' });
});

test('a later landing does not revert what was landed since its base (M01)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const b = repo.worktree('b');
  a.write('x', 'A\n');
  b.write('y', 'B\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  const before = repo.oid('main');
  await askSennit(['land', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'x')).toBe('A\n');
  expect(repo.blob('main', 'y')).toBe('B\n');
  expect(repo.changed(before, 'main')).toEqual(['y']);
});

test('two workspaces in one landing each change only their own paths (M01)', async () => {
  const repo = newRepo();
  const stale = repo.worktree('stale');
  repo.commit('main goes on', { x: '2\n', z: 'new on main\n' });
  const fresh = repo.worktree('fresh');
  stale.write('y', 'stale\n');
  fresh.write('w', 'fresh\n');
  const before = repo.oid('main');
  await askSennit(['land', '../stale', '../fresh', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.changed(before, 'main')).toEqual(['w', 'y']);
  expect(repo.blob('main', 'x')).toBe('2\n');
  expect(repo.blob('main', 'z')).toBe('new on main\n');
});

test('work from a workspace that was cut from origin/HEAD does not take the feature branch back (M04)', async () => {
  const repo = newRepo();
  const origin = Repository.create(repo.place, 'origin', { bare: true });
  repo.git('remote', 'add', 'origin', origin.dir);
  repo.git('push', '-q', 'origin', 'main');
  repo.git('remote', 'set-head', 'origin', 'main');
  repo.git('checkout', '-q', '-b', 'feat');
  repo.commit('feature work', { x: '2\n', g: 'n\n' });
  const a = repo.worktree('a', { at: 'origin/HEAD' });
  a.write('h', 'work\n');
  repo.write('x', 'dirty in the root\n');
  const before = repo.oid('feat');

  const answer = await askSennit(['land', '../a', '--into', 'feat', '--no-gate'], 0, { cwd: repo });
  expect(repo.changed(before, 'feat')).toEqual(['h']);
  expect(repo.blob('feat', 'g')).toBe('n\n');
  // The root's uncommitted work is left out, left alone, and named.
  expect(repo.read('x')).toBe('dirty in the root\n');
  expect(JSON.stringify(answer.findings)).toContain('"x"');
});

test('conflict markers do not reach the target when the resolver gives up (M07)', async () => {
  const repo = newRepo();
  repo.commitTo('s', { x: 's\n' });
  repo.commit('m', { x: 'm\n' });
  const before = readState(repo);
  const stopped = await askSennit(['land', 's', '--into', 'main', '--no-gate'], 3, { cwd: repo });
  expect(stopped.conflicts.map((conflict) => conflict.path)).toEqual(['x']);

  const scratch = new Repository(repo.place, stopped.handover?.worktree ?? '');
  expect(scratch.read('x')).toContain('<<<<<<<');
  await askSennit(['continue'], 3, { cwd: repo });
  // Staged or even committed, a marker is a marker.
  scratch.tryGit(['add', '-A']);
  await askSennit(['continue'], 3, { cwd: repo });
  scratch.tryGit(['commit', '-q', '--no-verify', '-m', 'giving up']);
  await askSennit(['continue'], 3, { cwd: repo });
  expect(readState(repo).refs).toEqual(before.refs);
  expect(repo.blob('main', 'x')).toBe('m\n');

  // Half a resolution is none.
  scratch.write('x', scratch.read('x').replace(/^<<<<<<<.*\n/m, ''));
  await askSennit(['continue'], 3, { cwd: repo });
  expect(repo.blob('main', 'x')).toBe('m\n');
  scratch.write('x', 'both\n');
  await askSennit(['continue'], 0, { cwd: repo });
  expect(repo.blob('main', 'x')).toBe('both\n');
});

test('a source that holds conflict markers is not landed (M07)', async () => {
  const repo = newRepo();
  repo.commitTo('half', { x: '<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n' });
  const before = readState(repo);
  const run = await runSennit(['land', 'half', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  expect(run.code, run.story()).not.toBe(0);
  expect(run.json().error?.code, run.story()).toBe('source_markers');
  expect(run.stdout).toContain('"x"');
  expect(readState(repo)).toEqual(before);
});

test('a text that merely looks like a marker, and was there before, is no reason to stop', async () => {
  const repo = newRepo();
  repo.commit('a guide about conflicts', { 'guide.md': 'Title\n=======\n\n<<<<<<< is a marker\n' });
  repo.commitTo('t', {
    'guide.md': 'Title\n=======\n\n<<<<<<< is a marker\nmore\n',
    'new.md': 'New\n=======\n',
  });
  await askSennit(['land', 't', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'new.md')).toBe('New\n=======\n');
});

test('conflict, unknown revision and unrelated history are three different answers (M08)', async () => {
  const repo = newRepo();
  repo.commitTo('x', { x: '2\n' });
  repo.commitTo('unrelated', { z: 'z\n' }, { from: null });
  repo.commit('m', { x: '3\n' });
  const before = readState(repo);

  await expectRefusal(
    ['land', 'nosuch', '--into', 'main', '--no-gate'],
    { exit: 2, code: 'source_unknown', says: /nosuch/ },
    { cwd: repo },
  );
  await expectRefusal(
    ['land', 'unrelated', '--into', 'main', '--no-gate'],
    { exit: 1, code: 'source_unrelated', says: /unrelated/ },
    { cwd: repo },
  );
  expect(readState(repo)).toEqual(before);

  const conflict = await askSennit(['land', 'x', '--into', 'main', '--no-gate'], 3, { cwd: repo });
  expect(conflict.result).toBe('conflicts');
  expect(conflict.conflicts.length).toBeGreaterThan(0);
  expect(readState(repo).refs).toEqual(before.refs);
});

test('a lock file that two sources changed is never silently merged as text (M10)', async () => {
  const repo = newRepo();
  const block = (name: string): string => `  ${name}@1:\n    r: ${name}\n\n`;
  const lock = (...names: string[]): string => `packages:\n\n${names.map(block).join('')}`;
  repo.commit('lock', { 'pnpm-lock.yaml': lock('a', 'b', 'm', 'z') });
  repo.commitTo('A', { 'pnpm-lock.yaml': lock('a', 'ctx', 'b', 'm', 'z'), one: '1\n' });
  repo.commitTo('B', { 'pnpm-lock.yaml': lock('a', 'b', 'm', 'ctx', 'z'), two: '2\n' });
  const before = repo.refs('refs/heads/');

  const run = await runSennit(['land', 'A', 'B', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  run.expectCode(3);
  expect(run.stdout).toContain('pnpm-lock.yaml');
  expect(run.json().conflicts.every((conflict) => conflict.kind === 'generated')).toBe(true);
  expect(repo.refs('refs/heads/')).toEqual(before);

  const forecast = await runSennit(['forecast', 'A', 'B', '--into', 'main', '--json'], { cwd: repo });
  expect(forecast.stdout, forecast.story()).toContain('pnpm-lock.yaml');
});

test('a lock file that one source changed lands as it is (M10)', async () => {
  const repo = newRepo();
  repo.commit('lock', { 'pnpm-lock.yaml': 'packages: {}\n' });
  repo.commitTo('A', { 'pnpm-lock.yaml': 'packages: {a: 1}\n' });
  repo.commitTo('B', { two: '2\n' });
  await askSennit(['land', 'A', 'B', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'pnpm-lock.yaml')).toBe('packages: {a: 1}\n');
});

test('a merge driver does not get to discard one side, and is not run (M12)', async () => {
  const repo = newRepo();
  repo.commit('docs', { '.gitattributes': 'gen.md merge=regen\n', 'gen.md': 'a\n\n\n\nc\n' });
  const ran = join(repo.place.root, 'driver-ran');
  repo.git('config', 'merge.regen.driver', `touch '${ran}'; cp %B %A`);
  repo.commitTo('t', { 'gen.md': 'A\n\n\n\nc\n' });
  repo.commit('m', { 'gen.md': 'a\n\n\n\nC\n' });
  const before = repo.oid('main');

  const run = await runSennit(['land', 't', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  expect(existsSync(ran)).toBe(false);
  if (run.code === 0) {
    expect(repo.blob('main', 'gen.md'), run.story()).toBe('A\n\n\n\nC\n');
  } else {
    run.expectCode(3);
    expect(run.json().conflicts.map((conflict) => [conflict.path, conflict.kind])).toEqual([
      ['gen.md', 'driver'],
    ]);
    expect(repo.oid('main')).toBe(before);
  }
});

test('a broken merge driver does not break the merge (M12)', async () => {
  const repo = newRepo();
  repo.commit('docs', { '.gitattributes': '*.md merge=regen\n', 'gen.md': 'a\n\n\n\nc\n' });
  repo.git('config', 'merge.regen.driver', '');
  repo.commitTo('t', { 'gen.md': 'A\n\n\n\nc\n', 'other.txt': 'o\n' });
  await askSennit(['land', 't', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'gen.md')).toBe('A\n\n\n\nc\n');
});

test('a rewrite of all line ends does not turn one edit into a whole-file change (M19)', async () => {
  const repo = newRepo();
  const text = 'l1\nl2\nl3\nl4\nl5\nl6\nl7\n';
  repo.commit('lines', { l: text });
  const a = repo.worktree('a');
  a.write('l', text.replace('l1', 'L1').replaceAll('\n', '\r\n'));
  const b = repo.worktree('b');
  b.write('l', text.replace('l7', 'L7'));
  await askSennit(['land', '../a', '../b', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'l')).toBe(text.replace('l1', 'L1').replace('l7', 'L7'));
});

test('a rewrite of all line ends lands as the edit that it holds, and is told (M19)', async () => {
  const repo = newRepo();
  const text = 'l1\nl2\nl3\nl4\nl5\nl6\nl7\n';
  repo.commit('lines', { l: text });
  const a = repo.worktree('a');
  a.write('l', text.replace('l1', 'L1').replaceAll('\n', '\r\n'));
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'l')).toBe(text.replace('l1', 'L1'));
  expect(JSON.stringify(answer.findings)).toContain('"l"');
});

test('line ends that somebody committed, where nothing else meets them, are landed as recorded', async () => {
  const repo = newRepo();
  repo.commit('script', { 'make.bat': 'l1\nl2\nl3\n' });
  repo.commitTo('a', { 'make.bat': 'l1\r\nL2\r\nl3\r\n' });
  await askSennit(['land', 'a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'make.bat')).toBe('l1\r\nL2\r\nl3\r\n');
});

test('a file with CRLF in the repository keeps it', async () => {
  const repo = newRepo();
  const text = 'l1\r\nl2\r\nl3\r\n';
  repo.commit('lines', { l: text });
  repo.worktree('a').write('l', text.replace('l2', 'L2'));
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'l')).toBe('l1\r\nL2\r\nl3\r\n');
});

test('a file that one source deletes and another edits is neither lost nor silently revived', async () => {
  const repo = newRepo();
  repo.commitTo('deletes', { x: null });
  repo.commitTo('edits', { x: 'edited\n' });
  const before = repo.oid('main');
  const answer = await askSennit(['land', 'deletes', 'edits', '--into', 'main', '--no-gate'], 3, {
    cwd: repo,
  });
  expect(answer.conflicts.map((conflict) => [conflict.path, conflict.kind])).toEqual([
    ['x', 'modify-delete'],
  ]);
  expect(repo.oid('main')).toBe(before);
});

test('a file moved into a renamed folder is not silently deleted by an old git', async () => {
  const place = sealedPlace();
  const repo = Repository.create(place);
  const text = (name: string): string => Array.from({ length: 12 }, (_, i) => `${name} ${i}\n`).join('');
  repo.commit('start', {
    'source/bar': text('bar'),
    'source/subdir/foo': text('foo'),
    'source/baz': text('baz'),
  });
  repo.commitTo('A', {
    'source/subdir/foo': null,
    'source/foo': text('foo'),
    'source/bar': `${text('bar')}more bar\n`,
  });
  repo.commitTo('B', {
    'source/bar': null,
    'source/subdir/bar': text('bar'),
    'source/baz': `${text('baz')}more baz\n`,
  });
  const run = await runSennit(['land', 'A', 'B', '--into', 'main', '--no-gate', '--json'], { cwd: repo });
  if (run.code === 0) {
    expect(repo.files('main'), run.story()).toEqual(['source/baz', 'source/foo', 'source/subdir/bar']);
    expect(repo.blob('main', 'source/subdir/bar')).toBe(`${text('bar')}more bar\n`);
  } else {
    run.expectCode(3);
    expect(run.json().conflicts.length).toBeGreaterThan(0);
  }
});
