// A process that is killed while workspaces go or come back: the next command puts back or finishes, and nothing that a
// workspace held is lost on the way. Each crash point has its turn.

import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JournalPoint } from '../../src/flow/context.ts';
import { crashAt, gc, landOn, openFlows, recoverIn, restore, takeBack } from '../support/flows.ts';
import { buildProject, type Repository, readFiles, readState, repositoryTemplate } from '../support/repo.ts';

const newProject = repositoryTemplate(buildProject);

/** A landed workspace with everything that could get lost: commits, loose and staged work, ignored files. */
async function fullWorkspace(repo: Repository): Promise<Repository> {
  const a = repo.worktree('a', { branch: 'agent' });
  a.commit('work', { committed: 'committed\n' });
  a.writeAll({ 'src/cart.ts': null, loose: 'loose\n' });
  await landOn(await openFlows(repo), ['../a']);
  a.write('notes.log', 'nothing can make this again\n');
  return a;
}

interface Held {
  readonly files: Record<string, string>;
  readonly status: readonly string[];
  readonly head: string;
  readonly branch: string;
}

function read(a: Repository): Held {
  return {
    files: readFiles(a.dir),
    status: a.status(),
    head: a.oid('HEAD'),
    branch: a.git('symbolic-ref', 'HEAD'),
  };
}

function leftBehind(repo: Repository): string[] {
  return readdirSync(repo.place.root).filter((name) => name.startsWith('.sennit-'));
}

async function requireSettled(repo: Repository): Promise<void> {
  expect(leftBehind(repo)).toEqual([]);
  const context = await openFlows(repo);
  expect(context.readLedger()?.listOperations({ states: ['running'] })).toEqual([]);
  const records = join(repo.commonDir(), 'worktrees');
  const names = existsSync(records) ? readdirSync(records) : [];
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(names.length + 1);
  expect(repo.git('worktree', 'list', '--porcelain')).not.toContain('prunable');
  repo.requireSound();
}

const REMOVAL_POINTS: readonly (readonly [JournalPoint, 'there' | 'gone'])[] = [
  ['removal-planned', 'there'],
  ['workspace-archived', 'there'],
  ['workspace-moved', 'there'],
  ['workspace-proved', 'there'],
  ['leftovers-kept', 'there'],
  ['record-forgotten', 'gone'],
  ['workspace-removed', 'gone'],
];

test.each(REMOVAL_POINTS)('killed in a clean-up at %s: the workspace is %s', async (point, outcome) => {
  const repo = newProject();
  const a = await fullWorkspace(repo);
  const held = read(a);
  const main = readState(repo);
  await crashAt(repo, point, 'gc', ['../a']);
  const recovered = await recoverIn(repo);
  expect(recovered.map(({ end }) => end)).toEqual([outcome === 'there' ? 'rolled-back' : 'finished']);
  await requireSettled(repo);
  expect(existsSync(a.dir)).toBe(outcome === 'there');
  expect(await recoverIn(repo)).toEqual([]);
  if (outcome === 'there') {
    expect(read(a)).toEqual(held);
    expect(repo.refs('refs/sennit/archive/')).toEqual({});
    expect((await gc(await openFlows(repo), ['../a'])).failure).toBeNull();
  }
  expect(existsSync(a.dir)).toBe(false);
  expect(readState(repo).refs).toEqual(main.refs);
  expect(readState(repo).files).toEqual(main.files);
  await takeBack(await openFlows(repo));
  expect(read(a)).toEqual(held);
  await requireSettled(repo);
});

const RESTORE_POINTS: readonly JournalPoint[] = [
  'restore-planned',
  'restore-filled',
  'restore-moved',
  'restore-attached',
  'restored',
];

test.each(RESTORE_POINTS)('killed while a workspace comes back at %s: it is there', async (point) => {
  const repo = newProject();
  const a = await fullWorkspace(repo);
  const held = read(a);
  const report = await gc(await openFlows(repo), ['../a']);
  await crashAt(repo, point, 'restore', [report.workspaces[0]?.archive ?? '']);
  expect((await recoverIn(repo)).map(({ end }) => end)).toEqual(['finished']);
  expect(read(a)).toEqual(held);
  await requireSettled(repo);
});

test.each(RESTORE_POINTS)('killed in the undo of a clean-up at %s: it is finished once', async (point) => {
  const repo = newProject();
  const a = await fullWorkspace(repo);
  const held = read(a);
  await gc(await openFlows(repo), ['../a']);
  await crashAt(repo, point, 'undo');
  expect((await recoverIn(repo)).map(({ end }) => end)).toEqual(['finished']);
  expect(read(a)).toEqual(held);
  await requireSettled(repo);
  // The clean-up counts as taken back: the next undo is that of the landing.
  expect((await takeBack(await openFlows(repo))).kind).toBe('land');
});

const UNDO_POINTS: readonly (readonly [JournalPoint, 'finished' | 'rolled-back'])[] = [
  ['undo-planned', 'rolled-back'],
  ['target-moved', 'finished'],
  ['checkout-advanced', 'finished'],
  ['undo-moved', 'finished'],
  ['undo-recorded', 'finished'],
];

test.each(UNDO_POINTS)('killed in the undo of a landing at %s: it is %s', async (point, end) => {
  const repo = newProject();
  const before = readState(repo);
  const a = repo.worktree('a');
  a.writeAll({ 'README.md': 'agent\n', 'new/file': 'new\n', 'src/login.ts': null });
  repo.write('untracked', 'mine\n');
  await landOn(await openFlows(repo), ['../a']);
  const landed = readState(repo);
  await crashAt(repo, point, 'undo');
  expect((await recoverIn(repo)).map((one) => one.end)).toEqual([end]);
  if (end === 'rolled-back') {
    expect(readState(repo)).toEqual(landed);
    await takeBack(await openFlows(repo));
  }
  expect(readState(repo).refs).toEqual(before.refs);
  expect(repo.git('status', '--porcelain')).toBe('?? untracked');
  expect(repo.read('README.md')).not.toBe('agent\n');
  await requireSettled(repo);
  await expect(takeBack(await openFlows(repo))).rejects.toMatchObject({ code: 'operation_none' });
  expect((await landOn(await openFlows(repo), ['../a'])).result).toBe('landed');
});

test('killed while a restored workspace goes again: it is there or gone, never half', async () => {
  for (const point of ['workspace-moved', 'record-forgotten'] as const) {
    const repo = newProject();
    const a = await fullWorkspace(repo);
    const held = read(a);
    const context = await openFlows(repo);
    const report = await gc(context, ['../a']);
    await restore(context, report.workspaces[0]?.archive ?? '');
    await crashAt(repo, point, 'undo');
    await recoverIn(repo);
    await requireSettled(repo);
    expect(existsSync(a.dir)).toBe(point === 'workspace-moved');
    if (point === 'workspace-moved') expect(read(a)).toEqual(held);
    else {
      await takeBack(context); // of the clean-up
      expect(a.read('loose')).toBe('loose\n');
      expect(readdirSync(join(repo.commonDir(), 'sennit/kept')).length).toBeGreaterThan(0);
    }
  }
});

test('a landing whose checkout could not follow is finished by the next command, not forgotten', async () => {
  const repo = newProject();
  repo.worktree('a').writeAll({ 'README.md': 'agent\n', 'src/cart.ts': 'agent\n' });
  const lock = join(repo.commonDir(), 'index.lock');
  const context = await openFlows(repo, (point) => {
    if (point === 'target-moved') writeFileSync(lock, '');
  });
  await expect(landOn(context, ['../a'])).rejects.toMatchObject({ code: 'git_failed' });
  expect(repo.blob('main', 'README.md')).toBe('agent\n');
  expect(repo.read('README.md')).not.toBe('agent\n');
  // A lock that was there before is somebody else's: it is not taken away, and nothing is given up.
  utimesSync(lock, new Date(0), new Date(0));
  expect((await recoverIn(repo)).map(({ end }) => end)).toEqual(['stuck']);
  expect(existsSync(lock)).toBe(true);
  rmSync(lock);
  expect((await recoverIn(repo)).map(({ end }) => end)).toEqual(['finished']);
  expect(repo.read('README.md')).toBe('agent\n');
  expect(repo.git('status', '--porcelain')).toBe('');
  await takeBack(await openFlows(repo));
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('the locks that a killed process left on the branch do not stop the one that ends its work', async () => {
  const repo = newProject();
  repo.worktree('a').write('README.md', 'agent\n');
  await landOn(await openFlows(repo), ['../a']);
  await crashAt(repo, 'target-moved', 'undo');
  const locks = ['index.lock', 'HEAD.lock', 'refs/heads/main.lock'].map((name) =>
    join(repo.commonDir(), name),
  );
  for (const lock of locks) writeFileSync(lock, '');
  expect((await recoverIn(repo)).map(({ end }) => end)).toEqual(['finished']);
  for (const lock of locks) expect(existsSync(lock)).toBe(false);
  expect(repo.git('status', '--porcelain')).toBe('');
});
