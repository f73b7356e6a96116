// The root gate: what runs, on what, how often, and what a red one leads to.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProject, type Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

/** A gate that notes each of its runs, then runs `command`; and how often it ran. */
function counted(repo: Repository, command: string): { gate: string; runs: () => number } {
  const file = join(repo.place.root, 'gate-runs');
  return {
    gate: `echo x >> '${file}'; ${command}`,
    runs: () => (existsSync(file) ? readFileSync(file, 'utf8').length / 2 : 0),
  };
}

test('a green gate lets the landing through, and is told by name', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'gates:\n  root: test -e new\n' });
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(answer.gates).toHaveLength(1);
  expect(JSON.stringify(answer.gates)).toContain('test -e new');
  expect(answer.gates[0]).toMatchObject({ outcome: 'passed' });
});

test('a red gate keeps the landing out, exits 4 and shows what the gate said', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  const gate = 'echo the reason is here; exit 7';
  const answer = await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 4, { cwd: repo });
  expect(answer.result).toBe('gate_red');
  expect(answer.gates[0]).toMatchObject({ outcome: 'failed', code: 7 });
  expect(JSON.stringify(answer.gates)).toContain('the reason is here');
  expect(answer.next.length).toBeGreaterThan(0);
  expect(readState(repo)).toEqual(before);
  const run = await runSennit(['land', '../a', '--into', 'main', '--gate', gate], { cwd: repo });
  run.expectCode(4);
  expect(run.stdout + run.stderr).toContain('the reason is here');
  // Nothing is left that has to be cleaned up by hand.
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(2);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
});

test('several gates run in their order, by name, and stop at the first red one', async () => {
  const repo = newProject();
  const log = join(repo.place.root, 'order');
  repo.commit('settings', {
    'sennit.yaml': `gates:\n  root:\n    one: echo one >> '${log}'\n    two: echo two >> '${log}'; exit 1\n    three: echo three >> '${log}'\n`,
  });
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main'], 4, { cwd: repo });
  expect(readFileSync(log, 'utf8').split('\n').slice(0, 2)).toEqual(['one', 'two']);
  expect(readFileSync(log, 'utf8')).not.toContain('three');
  expect(answer.gates.map((gate) => [gate['name'], gate['outcome']])).toEqual([
    ['one', 'passed'],
    ['two', 'failed'],
  ]);
});

test('--gate adds to the configured gates for this landing', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'gates:\n  root: test -e new\n' });
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main', '--gate', 'test -e README.md'], 0, {
    cwd: repo,
  });
  expect(answer.gates).toHaveLength(2);
  repo.worktree('b').write('other', 'other\n');
  await askSennit(['land', '../b', '--into', 'main', '--gate', 'false'], 4, { cwd: repo });
});

test('--no-gate lands without, and says so', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'gates:\n  root: "false"\n' });
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(answer.gates).toEqual([]);
  expect(JSON.stringify(answer.findings)).toMatch(/gate/i);
});

test('no gate at all is said plainly', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main'], 0, { cwd: repo });
  expect(answer.gates).toEqual([]);
  expect(JSON.stringify(answer.findings)).toMatch(/gate/i);
});

test('gates of a workspace do not count: settings are those of the target', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'gates:\n  root: "false"\n' });
  repo.worktree('a').writeAll({ new: 'new\n', 'sennit.yaml': 'gates:\n  root: "true"\n' });
  await askSennit(['land', '../a', '--into', 'main'], 4, { cwd: repo });
});

test('an unchanged tree is not validated twice, a changed one is', async () => {
  const repo = newProject();
  const { gate, runs } = counted(repo, 'true');
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expect(runs()).toBe(1);
  await askSennit(['undo'], 0, { cwd: repo });
  const again = await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expect(runs()).toBe(1);
  expect(again.gates).toHaveLength(1);
  await askSennit(['undo'], 0, { cwd: repo });
  a.write('new', 'newer\n');
  await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expect(runs()).toBe(2);
  // Another command is another verdict.
  await askSennit(['undo'], 0, { cwd: repo });
  await askSennit(['land', '../a', '--into', 'main', '--gate', `${gate};`], 0, { cwd: repo });
  expect(runs()).toBe(3);
});

test('a red verdict does not stick to a tree: a flaky gate may turn green', async () => {
  const repo = newProject();
  const flag = join(repo.place.root, 'green-now');
  repo.worktree('a').write('new', 'new\n');
  const args = ['land', '../a', '--into', 'main', '--gate', `test -e '${flag}'`];
  await askSennit(args, 4, { cwd: repo });
  repo.place.at('green-now');
  await askSennit(args, 0, { cwd: repo });
});

test('a gate that does not end is ended at its time limit, with all that it started', async () => {
  const repo = newProject();
  const pids = join(repo.place.root, 'pids');
  repo.commit('settings', {
    'sennit.yaml': `gates:\n  timeout: 0.05\n  root: sleep 300 & echo $! >> '${pids}'; setsid sleep 300 & echo $! >> '${pids}'; sleep 300\n`,
  });
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main'], 4, { cwd: repo });
  expect(JSON.stringify(answer.gates)).toMatch(/timed.out/);
  expectEnded(pids);
});

test('what a green gate leaves running is ended too', async () => {
  const repo = newProject();
  const pids = join(repo.place.root, 'pids');
  repo.worktree('a').write('new', 'new\n');
  const gate = `sleep 300 & echo $! >> '${pids}'; setsid sleep 300 & echo $! >> '${pids}'; true`;
  await askSennit(['land', '../a', '--into', 'main', '--gate', gate], 0, { cwd: repo });
  expectEnded(pids);
});

function expectEnded(file: string): void {
  const pids = readFileSync(file, 'utf8').trim().split('\n');
  expect(pids.length).toBeGreaterThanOrEqual(2);
  for (const pid of pids) {
    expect(isRunning(Number(pid)), `process ${pid} of the gate still runs`).toBe(false);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie has ended; its parent has not asked for it yet.
  const stat = `/proc/${pid}/stat`;
  return !(existsSync(stat) && /\) Z /.test(readFileSync(stat, 'utf8')));
}

test('a gate that says very much does not fill memory or disk', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const gate =
    'yes "a long line of output that nobody will ever read to its end" | head -c 40000000; echo the last line';
  const run = await runSennit(['land', '../a', '--into', 'main', '--gate', gate, '--json'], { cwd: repo });
  run.expectCode(0);
  expect(repo.blob('main', 'new')).toBe('new\n');
  expect(run.stdout.length).toBeLessThan(100_000);
  const used = Number(spawnSync('du', ['-sk', repo.commonDir()]).stdout.toString().split('\t')[0]);
  expect(used).toBeLessThan(20_000);
});

test('the culprit is found: red with it, green without', async () => {
  const repo = newProject();
  for (const name of ['good-1', 'good-2', 'good-3']) repo.commitTo(name, { [name]: 'fine\n' });
  repo.commitTo('bad', { bad: 'bad\n' });
  const before = readState(repo);
  const { gate, runs } = counted(repo, 'test ! -e bad');
  const args = ['land', 'good-1', 'bad', 'good-2', 'good-3', '--into', 'main', '--gate', gate];
  const answer = await askSennit(args, 4, { cwd: repo });
  expect(JSON.stringify(answer)).toMatch(/red without bad is green/);
  expect(runs()).toBeLessThanOrEqual(8);
  expect(readState(repo)).toEqual(before);
});

test('culprits that are red only together are named together', async () => {
  const repo = newProject();
  for (const name of ['x', 'y', 'z', 'w']) repo.commitTo(name, { [name]: 'fine\n' });
  const gate = '! { test -e x && test -e z; }';
  const answer = await askSennit(['land', 'x', 'y', 'z', 'w', '--into', 'main', '--gate', gate], 4, {
    cwd: repo,
  });
  expect(JSON.stringify(answer)).toMatch(/red together: x, z/);
});

test('a gate that is red without any source does not accuse one', async () => {
  const repo = newProject();
  for (const name of ['x', 'y']) repo.commitTo(name, { [name]: 'fine\n' });
  const answer = await askSennit(['land', 'x', 'y', '--into', 'main', '--gate', 'false'], 4, { cwd: repo });
  expect(JSON.stringify(answer)).not.toMatch(/red without (x|y) is green|red together/);
  expect(JSON.stringify([answer.findings, answer.error ?? null])).toContain('main');
});

test('--drop-culprits lands the rest and archives what was dropped', async () => {
  const repo = newProject();
  for (const name of ['good-1', 'good-2']) repo.commitTo(name, { [name]: 'fine\n' });
  const bad = repo.worktree('bad');
  bad.write('bad', 'only here\n');
  const args = [
    'land',
    'good-1',
    '../bad',
    'good-2',
    '--into',
    'main',
    '--gate',
    'test ! -e bad',
    '--drop-culprits',
  ];
  const answer = await askSennit(args, 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(repo.files('main')).toEqual(expect.arrayContaining(['good-1', 'good-2']));
  expect(repo.files('main')).not.toContain('bad');
  expect(repo.trailers('main', 'Sennit-Source').join(' ')).not.toContain('bad');
  expect(JSON.stringify(answer)).toContain('bad');
  const archived = Object.keys(repo.refs('refs/sennit/archive/'));
  expect(archived.some((ref) => repo.blob(ref, 'bad') === 'only here\n')).toBe(true);
  expect(bad.read('bad')).toBe('only here\n');
  // It can land later, once it is mended.
  await askSennit(['land', '../bad', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(repo.blob('main', 'bad')).toBe('only here\n');
});
