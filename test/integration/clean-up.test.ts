// Clean-up with real git: what it removes can always be brought back, and what it cannot prove stays.

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readArchives } from '../../src/flow/archive-entry.ts';
import { cleanUp } from '../../src/flow/clean-up.ts';
import { listOccupants } from '../../src/process/platform.ts';
import { gc, landOn, openFlows, restore, takeBack, withObjects } from '../support/flows.ts';
import { buildProject, Repository, readFiles, readState, repositoryTemplate } from '../support/repo.ts';

const newProject = repositoryTemplate(buildProject);

/** Folders that a removal or a restoring uses on its way. */
function leftBehind(repo: Repository): string[] {
  return readdirSync(repo.place.root).filter((name) => name.startsWith('.sennit-'));
}

async function landedWorkspace(repo: Repository, name = 'a'): Promise<Repository> {
  const wt = repo.worktree(name, { branch: `agent/${name}` });
  wt.commit('work', { [`${name}-committed`]: 'committed\n' });
  wt.write(`${name}-loose`, 'loose\n');
  await landOn(await openFlows(repo), [`../${name}`]);
  return wt;
}

test('a landed workspace comes back from its archive as it was', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  a.write('src/cart.ts', null);
  a.write('run.sh', { mode: '100755', content: '#!/bin/sh\n' });
  await landOn(await openFlows(repo), ['../a']);
  const [files, status, head] = [readFiles(a.dir), a.status(), a.oid('HEAD')];
  const context = await openFlows(repo);
  const report = await gc(context, ['../a']);
  expect(report.failure).toBeNull();
  expect(report.workspaces).toMatchObject([
    { state: 'contained', action: 'removed', reason: 'landed on main' },
  ]);
  expect(existsSync(a.dir)).toBe(false);

  await restore(context, report.workspaces[0]?.archive ?? '');
  expect(readFiles(a.dir)).toEqual(files);
  expect(a.status()).toEqual(status);
  expect(a.oid('HEAD')).toBe(head);
  expect(a.git('symbolic-ref', 'HEAD')).toBe('refs/heads/agent/a');
  expect(a.git('rev-parse', '--show-toplevel')).toBe(a.dir);
  expect(leftBehind(repo)).toEqual([]);
  repo.requireSound();
  // It counts as landed, as before.
  expect((await landOn(await openFlows(repo), ['../a'])).result).toBe('nothing_new');
});

test('ignored files that nothing can make again survive a clean-up, whatever their names', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const odd = Buffer.concat([
    Buffer.from(`${a.dir}/data/caf`),
    Buffer.from([0xe9, 0x0a]),
    Buffer.from('.log'),
  ]);
  mkdirSync(join(a.dir, 'data'));
  writeFileSync(odd, 'odd name\n');
  a.writeAll({ 'a.log': 'measured\n', 'deep/er/b.log': 'deep\n', 'node_modules/x/index.js': 'x\n' });
  const context = await openFlows(repo);
  const report = await gc(context, ['../a']);
  expect(report.failure).toBeNull();
  expect(existsSync(a.dir)).toBe(false);
  expect(report.findings.find(({ check }) => check === 'files_kept')?.paths).toHaveLength(3);

  await takeBack(context);
  expect(a.read('a.log')).toBe('measured\n');
  expect(a.read('deep/er/b.log')).toBe('deep\n');
  expect(readFileSync(odd, 'utf8')).toBe('odd name\n');
  expect(a.has('node_modules')).toBe(false);
  expect(
    readdirSync(join(repo.commonDir(), 'sennit/kept')).flatMap((op) =>
      readdirSync(join(repo.commonDir(), 'sennit/kept', op)),
    ),
  ).toEqual([]);
});

test('what somebody writes while the workspace goes is not lost: it stays', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  a.write('notes.log', 'ignored\n');
  const head = a.oid('HEAD');
  const context = await openFlows(repo, (point) => {
    if (point !== 'workspace-moved') return;
    const [trash = ''] = leftBehind(repo);
    writeFileSync(join(repo.place.root, trash, 'late'), 'late\n');
  });
  const report = await gc(context, ['../a']);
  expect(report.failure?.code).toBe('workspace_unproved');
  expect(report.workspaces).toMatchObject([{ action: 'keep', paths: ['late'] }]);
  expect(a.read('late')).toBe('late\n');
  expect(a.read('notes.log')).toBe('ignored\n');
  expect(a.oid('HEAD')).toBe(head);
  expect(a.status()).toContain('?? late');
  expect(leftBehind(repo)).toEqual([]);
  expect(repo.refs('refs/sennit/archive/')).toEqual({});
});

test('an ignored file that comes while the workspace goes is kept like the others', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  const context = await openFlows(repo, (point) => {
    if (point !== 'workspace-proved') return;
    const [trash = ''] = leftBehind(repo);
    writeFileSync(join(repo.place.root, trash, 'late.log'), 'late\n');
  });
  const report = await gc(context, ['../a']);
  expect(report.failure).toBeNull();
  await takeBack(context);
  expect(a.read('late.log')).toBe('late\n');
});

test('a process that works in the workspace keeps it from going', async () => {
  if (process.platform !== 'linux') return;
  const repo = newProject();
  const a = await landedWorkspace(repo);
  // Its parent is gone by the time: it is no process of the test's.
  const started = spawnSync('sh', ['-c', 'sleep 60 >/dev/null 2>&1 & echo $!'], { cwd: a.dir });
  const agent = Number(started.stdout.toString());
  const end = (): void => {
    try {
      process.kill(agent, 'SIGKILL');
    } catch {
      // it has ended
    }
  };
  onTestFinished(end);
  const report = await gc(await openFlows(repo), ['../a']);
  expect(report.failure?.message).toContain(String(agent));
  expect(a.read('a-loose')).toBe('loose\n');
  end();
  await vi.waitFor(() => expect(listOccupants(a.dir)).toEqual([]));
  expect((await gc(await openFlows(repo), ['../a'])).failure).toBeNull();
});

test('what is staged but neither committed nor on the disk comes back staged', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('README.md', 'staged\n');
  a.git('add', 'README.md');
  a.write('README.md', 'later\n');
  const [status, staged] = [a.status(), a.oid(':README.md')];
  const context = await openFlows(repo);
  await gc(context, ['../a'], true);
  expect(existsSync(a.dir)).toBe(false);
  repo.git('gc', '-q', '--prune=now');
  await takeBack(context);
  expect(a.status()).toEqual(status);
  expect(a.oid(':README.md')).toBe(staged);
  expect(a.read('README.md')).toBe('later\n');
});

test('commits that only the reflog or a private ref of the workspace names stay within reach', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const privately = repo.commitTo('private', { p: 'p\n' });
  a.git('update-ref', 'refs/worktree/mine', privately);
  repo.git('branch', '-q', '-D', 'private');
  const [lost] = [a.commit('thrown away by mistake', { f: '1\n' }), a.commit('more', { g: '1\n' })];
  const more = a.oid('HEAD');
  a.git('reset', '-q', '--hard', 'main');
  expect((await gc(await openFlows(repo), ['../a'])).failure).toBeNull();
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  for (const commit of [lost, more, privately])
    expect(repo.git('cat-file', '-t', commit ?? '')).toBe('commit');
});

test('unlanded work goes only when asked, and only into the archive', async () => {
  const repo = newProject();
  const a = repo.worktree('a', { branch: 'agent' });
  a.commit('committed', { one: '1\n' });
  a.write('two', '2\n');
  const before = readState(repo, { sennitRefs: true });
  const kept = await gc(await openFlows(repo), ['../a']);
  expect(kept.result).toBe('none');
  expect(kept.failure).toMatchObject({ code: 'workspace_unproved', paths: ['one', 'two'] });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);

  const context = await openFlows(repo);
  const report = await gc(context, ['../a'], true);
  expect(report.failure).toBeNull();
  expect(existsSync(a.dir)).toBe(false);
  const archive = report.workspaces[0]?.archive ?? '';
  expect(repo.files(`refs/sennit/archive/${archive}`)).toEqual(expect.arrayContaining(['one', 'two']));
  // It is archived now: its like may go without asking again.
  await restore(context, archive);
  expect(await gc(context, ['../a'])).toMatchObject({ failure: null, workspaces: [{ state: 'contained' }] });
});

test('a branch that moved on is not checked out again, and not moved', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  const head = a.oid('HEAD');
  const context = await openFlows(repo);
  await gc(context, ['../a']);
  const tip = repo.commitTo('agent/a', { on: 'on\n' });
  const report = await takeBack(context);
  expect(report.findings.map(({ check }) => check)).toContain('branch_not_attached');
  expect(a.oid('HEAD')).toBe(head);
  expect(a.tryGit(['symbolic-ref', '-q', 'HEAD']).code).toBe(1);
  expect(repo.oid('agent/a')).toBe(tip);
});

test('an unfinished merge, a submodule and a worktree inside keep a workspace from going', async () => {
  const repo = newProject();
  const merging = repo.worktree('merging', { branch: 'merging' });
  merging.commit('one side', { 'README.md': 'one\n' });
  const other = repo.commitTo('other', { 'README.md': 'other\n' });
  merging.tryGit(['merge', '-q', other]);
  const outer = repo.worktree('outer');
  repo.git('worktree', 'add', '-q', '--detach', join(outer.dir, 'inner'));
  const library = Repository.create(repo.place, 'library');
  library.commit('library', { l: 'l\n' });
  const module = repo.worktree('module');
  module.git('submodule', '--quiet', 'add', library.dir, 'sub');
  new Repository(repo.place, module.path('sub')).commit('only here', { l: 'changed\n' });
  const report = await gc(await openFlows(repo), ['../merging', '../outer', '../module'], true);
  expect(report.workspaces.map(({ action }) => action)).toEqual(['keep', 'keep', 'keep']);
  const reasons = report.workspaces.map(({ reason }) => reason);
  expect(reasons[0]).toContain('a merge is not finished');
  expect(reasons[1]).toContain('inner');
  expect(reasons[2]).toContain('sub');
  for (const wt of [merging, outer, module]) expect(existsSync(wt.dir)).toBe(true);
});

test('a workspace whose landing waits for its conflicts stays', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('README.md', 'a\n');
  repo.commitTo('b', { 'README.md': 'b\n' });
  expect((await landOn(await openFlows(repo), ['b', '../a'])).result).toBe('conflicts');
  const report = await gc(await openFlows(repo), ['../a'], true);
  expect(report.failure?.message).toMatch(/waits/);
  expect(a.read('README.md')).toBe('a\n');
});

test('a worktree that is not named is only reported', async () => {
  const repo = newProject();
  await landedWorkspace(repo, 'done');
  repo.worktree('open').write('open', 'open\n');
  repo.worktree('held');
  repo.git('worktree', 'lock', '../held');
  const report = await cleanUp(await openFlows(repo), { names: [], apply: false, archive: false });
  expect(report.workspaces.map(({ path, state, action }) => [path.split('/').at(-1), state, action])).toEqual(
    [
      ['done', 'contained', 'keep'],
      ['held', 'refused', 'keep'],
      ['open', 'unlanded', 'keep'],
    ],
  );
});

test('the work of a landing that was taken back counts as unlanded again', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  await takeBack(await openFlows(repo));
  const report = await gc(await openFlows(repo), ['../a']);
  expect(report.workspaces).toMatchObject([{ state: 'unlanded', action: 'keep' }]);
  expect(a.read('a-loose')).toBe('loose\n');
});

test('a folder that a program made unreadable to itself is deleted all the same', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  a.write('node_modules/cache/file', 'x\n');
  chmodSync(a.path('node_modules/cache'), 0o555);
  const report = await gc(await openFlows(repo), ['../a']);
  expect(report.failure).toBeNull();
  expect(leftBehind(repo)).toEqual([]);
});

test('snapshots are let go only when their source is gone and their landing is in the branch', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo, 'a');
  await landedWorkspace(repo, 'b');
  const snapshots = (): string[] =>
    Object.keys(repo.refs('refs/sennit/')).filter((ref) => /^refs\/sennit\/\d{8}-/.test(ref));
  expect(snapshots()).toHaveLength(2);
  await gc(await openFlows(repo), []);
  expect(snapshots()).toHaveLength(2);
  await gc(await openFlows(repo), ['../a']);
  const report = await gc(await openFlows(repo), []);
  expect(report.leavings.filter(({ what }) => what === 'ref')).toHaveLength(1);
  expect(snapshots()).toHaveLength(1);
  expect(snapshots()[0]).toMatch(/\/b$/);
  // The archive holds what a later landing of the restored workspace needs.
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  const context = await openFlows(repo);
  const [entry] = await withObjects(context, (objects) => readArchives(context, objects));
  await restore(context, entry?.id ?? '');
  expect(a.read('a-loose')).toBe('loose\n');
  a.write('new', 'new\n');
  const before = repo.oid('main');
  expect((await landOn(await openFlows(repo), ['../a'])).result).toBe('landed');
  expect(repo.changed(before, 'main')).toEqual(['new']);
});

test('scratch of ended operations goes, that of a waiting landing stays', async () => {
  const repo = newProject();
  repo.worktree('a').write('README.md', 'a\n');
  repo.commitTo('b', { 'README.md': 'b\n' });
  const waiting = await landOn(await openFlows(repo), ['b', '../a']);
  await landedWorkspace(repo, 'c');
  const state = join(repo.commonDir(), 'sennit');
  mkdirSync(join(state, 'tmp/999999999+dead+1+1/objects-x'), { recursive: true });
  const report = await gc(await openFlows(repo), []);
  expect(report.leavings.some(({ name }) => name.includes('999999999'))).toBe(true);
  expect(readdirSync(join(state, 'operations'))).toEqual([waiting.operation]);
  expect(existsSync(waiting.handover?.worktree ?? '')).toBe(true);
  expect(readdirSync(join(state, 'tmp')).some((name) => name.startsWith('999999999'))).toBe(false);
});

test('what took the place of a workspace meanwhile is not overwritten by putting it back', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  const context = await openFlows(repo, (point) => {
    if (point !== 'workspace-moved') return;
    const [trash = ''] = leftBehind(repo);
    appendFileSync(join(repo.place.root, trash, 'a-loose'), 'late\n');
    mkdirSync(a.dir);
    writeFileSync(a.path('new'), 'of somebody else\n');
  });
  await expect(gc(context, ['../a'])).rejects.toMatchObject({ code: 'restore_blocked' });
  expect(a.read('new')).toBe('of somebody else\n');
  const [trash = ''] = leftBehind(repo);
  expect(readFileSync(join(repo.place.root, trash, 'a-loose'), 'utf8')).toBe('loose\nlate\n');
  rmSync(a.dir, { recursive: true });
  renameSync(join(repo.place.root, trash), a.dir);
  expect(a.status()).toContain('?? a-loose');
});

test('a name that is no workspace is refused before anything goes', async () => {
  const repo = newProject();
  const a = await landedWorkspace(repo);
  for (const name of ['../nosuch', '..', '']) {
    await expect(gc(await openFlows(repo), ['../a', name])).rejects.toMatchObject({ exitCode: 2 });
  }
  expect(existsSync(a.dir)).toBe(true);
  // A branch names the worktree that has it checked out; a glob names those that match.
  expect((await gc(await openFlows(repo), ['agent/a'])).failure).toBeNull();
  expect(existsSync(dirname(a.dir))).toBe(true);
  expect(existsSync(a.dir)).toBe(false);
});
