import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLog } from '../../src/flow/log.ts';
import { readStatus } from '../../src/flow/status.ts';
import { crashAt, gc, landOn, openFlows, recoverIn, takeBack } from '../support/flows.ts';
import { buildProject, readState, repositoryTemplate } from '../support/repo.ts';

const newProject = repositoryTemplate(buildProject);

test('a repository that Sennit has never seen: nothing is made by looking', async () => {
  const repo = newProject();
  repo.worktree('a').write('f', 'f\n');
  const context = await openFlows(repo);
  const report = await readStatus(context);
  expect(report).toMatchObject({ result: 'idle', branch: 'main', operations: [], lastLanding: null });
  expect(report.worktrees.map(({ path, state, primary }) => [path, state, primary])).toEqual([
    [repo.dir, 'present', true],
    [join(repo.place.root, 'a'), 'present', false],
  ]);
  expect(readLog(context, { limit: 10 })).toEqual([]);
  expect(readState(repo, { sennitRefs: true }).refs).toEqual(repo.refs());
});

test('a landing that waits is shown with what to do next', async () => {
  const repo = newProject();
  repo.commitTo('one', { 'README.md': 'one\n' });
  repo.commitTo('two', { 'README.md': 'two\n' });
  const landed = await landOn(await openFlows(repo), ['one', 'two']);
  const report = await readStatus(await openFlows(repo));
  expect(report.result).toBe('waiting');
  expect(report.operations).toMatchObject([{ id: landed.operation, phase: 'waiting', conflicts: 1 }]);
  expect(report.operations[0]?.handover?.worktree).toBe(landed.handover?.worktree);
  expect(report.next).toContain(`sennit continue --operation ${landed.operation}`);
  // Its scratch worktree is none of the user's.
  expect(report.worktrees).toHaveLength(1);
});

test('what was landed, moved or lost its folder is told apart', async () => {
  const repo = newProject();
  const [a, b, c] = [repo.worktree('a', { branch: 'a' }), repo.worktree('b'), repo.worktree('c')];
  a.commit('work', { a: 'a\n' });
  const landed = await landOn(await openFlows(repo), ['../a']);
  rmSync(b.dir, { recursive: true });
  rmSync(c.path('.git'));
  const { worktrees, lastLanding } = await readStatus(await openFlows(repo));
  const states = worktrees.map(({ path, state, landed: by }) => [path.split('/').at(-1), state, by]);
  expect(states).toEqual([
    ['repo', 'present', null],
    ['a', 'present', landed.operation],
    ['b', 'missing', null],
    ['c', 'unlinked', null],
  ]);
  expect(lastLanding).toMatchObject({ id: landed.operation, commit: landed.commit, sources: ['a'] });
});

test('an interrupted operation is shown as such, and the log tells how it ended', async () => {
  const repo = newProject();
  repo.worktree('a');
  await crashAt(repo, 'workspace-moved', 'gc', ['../a']);
  const report = await readStatus(await openFlows(repo));
  expect(report.operations).toMatchObject([{ kind: 'gc', phase: 'interrupted' }]);
  await recoverIn(repo);
  const context = await openFlows(repo);
  expect((await readStatus(context)).operations).toEqual([]);
  expect(readLog(context, { limit: 10 })).toMatchObject([{ kind: 'gc', state: 'failed' }]);
});

test('the log has everything, newest first', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  const context = await openFlows(repo);
  const landed = await landOn(context, ['../a']);
  await gc(context, ['../a']);
  await takeBack(context);
  const log = readLog(context, { limit: 10 });
  expect(log.map(({ kind, state, workspaces }) => [kind, state, workspaces])).toEqual([
    ['undo', 'done', [a.dir]],
    ['gc', 'undone', [a.dir]],
    ['land', 'done', []],
  ]);
  expect(log[2]).toMatchObject({ target: 'main', commit: landed.commit, sources: ['a'] });
  expect(log[0]?.undoes).toBe(log[1]?.id);
  expect(readLog(context, { limit: 1 })).toHaveLength(1);
});
