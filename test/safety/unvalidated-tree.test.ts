// Gates that did not see what lands: run too early, in the wrong place, or on a tree that lacks the work.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    f: 'ok\n',
    'check.sh': '! grep -q BAD f\n',
    'm.js': 'exports.sum = (a, b) => a + b;\n',
    'use.js': 'console.log(require("./m").sum(1, 2));\n',
    'test.sh': 'for file in use*.js; do node "$file" || exit 1; done\n',
  });
});

test('two changes that are green alone and red together do not reach the target (M15)', async () => {
  const repo = newRepo();
  repo.commitTo('A', {
    'm.js': 'exports.add = (a, b) => a + b;\n',
    'use.js': 'console.log(require("./m").add(1, 2));\n',
  });
  repo.commitTo('B', { 'use2.js': 'console.log(require("./m").sum(3, 4));\n' });
  const before = readState(repo);

  const gate = ['--gate', 'sh test.sh'];
  const answer = await askSennit(['land', 'A', 'B', '--into', 'main', ...gate], 4, { cwd: repo });
  expect(answer.result).toBe('gate_red');
  expect(JSON.stringify(answer)).toMatch(/red together[^"]*A, B/);
  expect(readState(repo)).toEqual(before);

  await askSennit(['land', 'A', '--into', 'main', ...gate], 0, { cwd: repo });
  await askSennit(['land', 'B', '--into', 'main', ...gate], 4, { cwd: repo });
  expect(repo.files('main')).not.toContain('use2.js');
  expect(repo.oid('B')).toBe(before.refs['refs/heads/B']);
});

test('the gate runs on the merged work and not on the root, whatever is checked out where (M26)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a', { branch: 'task' });
  a.commit('work', { f: 'BAD\n' });
  const before = readState(repo);
  const answer = await askSennit(['land', 'task', '--into', 'main', '--gate', 'sh check.sh'], 4, {
    cwd: repo,
  });
  expect(answer.result).toBe('gate_red');
  expect(readState(repo)).toEqual(before);
});

test('the gate sees uncommitted and untracked work too (M26)', async () => {
  const repo = newRepo();
  repo.worktree('a').write('f', 'BAD\n');
  await askSennit(['land', '../a', '--into', 'main', '--gate', 'sh check.sh'], 4, { cwd: repo });
  repo.worktree('b').write('g', 'BAD\n');
  const gate = 'test ! -e g';
  await askSennit(['land', '../b', '--into', 'main', '--gate', gate], 4, { cwd: repo });
  expect(repo.parents('main')).toEqual([]);
});

test('what lands is the very tree that the gate saw, and not what the gate made of it (M26)', async () => {
  const repo = newRepo();
  repo.worktree('a').writeAll({ f: 'fine\n', 'src/new': 'new\n' });
  repo.commitTo('b', { g: 'g\n' });
  const seen = join(repo.place.root, 'seen');
  const gate = `(pwd; git rev-parse 'HEAD^{tree}'; git status --porcelain; cat f g src/new) > '${seen}'; echo changed by the gate > f; touch made-by-the-gate`;
  const answer = await askSennit(['land', '../a', 'b', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  const [where, tree, ...rest] = readFileSync(seen, 'utf8').trim().split('\n');
  expect(tree).toBe(repo.tree('main'));
  expect(answer.tree).toBe(tree);
  expect(rest).toEqual(['fine', 'g', 'new']);
  expect(where).not.toBe(repo.dir);
  expect(where).not.toBe(join(repo.place.root, 'a'));
  expect(existsSync(where ?? '')).toBe(false);
  expect(repo.blob('main', 'f')).toBe('fine\n');
  expect(repo.files('main')).not.toContain('made-by-the-gate');
});

test('a generated file that merges clean is not landed stale (M18)', async () => {
  const repo = newRepo();
  repo.commit('generated', {
    'src/a': '1\n',
    'COUNT.gen': '1\n',
    'sennit.yaml': 'generated:\n  - paths: ["*.gen"]\n    by: ls src | wc -l | tr -d " " > COUNT.gen\n',
  });
  repo.commitTo('A', { 'src/b': '1\n', 'COUNT.gen': '2\n' });
  repo.commitTo('B', { 'src/c': '1\n', 'COUNT.gen': '2\n' });
  const gate = 'test "$(cat COUNT.gen)" = "$(ls src | wc -l | tr -d " ")"';
  await askSennit(['land', 'A', 'B', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expect(repo.blob('main', 'COUNT.gen')).toBe('3\n');
});

test('worktrees for gates are added while another git holds the config lock, and name no branch (G01)', async () => {
  const repo = newRepo();
  repo.commitTo('A', { one: '1\n' });
  const lock = join(repo.commonDir(), 'config.lock');
  writeFileSync(lock, '');
  const before = readState(repo);
  const gate = 'test -e one && ! git symbolic-ref -q HEAD';
  await askSennit(['land', 'A', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  const after = readState(repo);
  expect(repo.blob('main', 'one')).toBe('1\n');
  expect(existsSync(lock)).toBe(true);
  expect(after.config).toBe(before.config);
  expect(Object.keys(after.refs)).toEqual(Object.keys(before.refs));
  expect(Object.keys(after.worktrees)).toEqual(Object.keys(before.worktrees));
});

test('landings at the same time do not race for their gate worktrees (G01)', async () => {
  const repo = newRepo();
  const names = ['A', 'B', 'C'];
  for (const name of names) {
    repo.commitTo(name, { [name]: `${name}\n` });
    repo.git('branch', `into-${name}`, 'main');
  }
  await Promise.all(
    names.map((name) =>
      askSennit(['land', name, '--into', `into-${name}`, '--gate', `test -e ${name}`], 0, { cwd: repo }),
    ),
  );
  for (const name of names) expect(repo.blob(`into-${name}`, name)).toBe(`${name}\n`);
  expect(Object.keys(readState(repo).worktrees)).toEqual(['']);
});
