// Taking back: only what nobody has built on or seen, the last first, and everything within reach afterwards.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreArchive } from '../../src/flow/archive.ts';
import { continueLanding } from '../../src/flow/pending-landing.ts';
import { undo } from '../../src/flow/undo.ts';
import { gc, landOn, openFlows, restore, takeBack, withObjects } from '../support/flows.ts';
import { buildProject, Repository, readFiles, readState, repositoryTemplate } from '../support/repo.ts';

const newProject = repositoryTemplate(buildProject);

function withRemote(repo: Repository): Repository {
  const remote = Repository.create(repo.place, 'remote', { bare: true });
  repo.git('remote', 'add', 'origin', remote.dir);
  repo.git('push', '-q', 'origin', 'main');
  repo.git('fetch', '-q');
  return remote;
}

test('a landing that was pushed is not taken back, by whom ever it was pushed', async () => {
  for (const push of [true, false]) {
    const repo = newProject();
    const remote = withRemote(repo);
    repo.worktree('a').write('new', 'new\n');
    const context = await openFlows(repo);
    const landed = await landOn(context, ['../a'], { push });
    if (!push) repo.git('push', '-q', 'origin', 'main');
    const before = readState(repo);
    await expect(takeBack(context)).rejects.toMatchObject({
      code: 'undo_blocked',
      next: [`git revert ${landed.commit}`],
    });
    expect(readState(repo)).toEqual(before);
    expect(remote.oid('main')).toBe(landed.commit);
  }
});

test('a landing that was not pushed is taken back although the branch has a remote', async () => {
  const repo = newProject();
  withRemote(repo);
  repo.worktree('a').write('new', 'new\n');
  const [main, context] = [repo.oid('main'), await openFlows(repo)];
  await landOn(context, ['../a']);
  await takeBack(context);
  expect(repo.oid('main')).toBe(main);
});

test('the last landing is the one that ended last, not the one that began last', async () => {
  const repo = newProject();
  const start = repo.oid('main');
  repo.commitTo('one', { 'README.md': 'one\n' });
  repo.commitTo('two', { 'README.md': 'two\n' });
  repo.worktree('quick').write('quick', 'quick\n');
  const context = await openFlows(repo);
  const slow = await landOn(context, ['one', 'two']);
  expect(slow.result).toBe('conflicts');
  await landOn(context, ['../quick']);
  const between = repo.oid('main');
  const scratch = new Repository(repo.place, slow.handover?.worktree ?? '');
  scratch.write('README.md', 'both\n');
  await withObjects(context, (objects) => continueLanding(context, objects, null));
  expect(repo.read('README.md')).toBe('both\n');
  expect((await takeBack(context)).undoes).toBe(slow.operation);
  expect(repo.oid('main')).toBe(between);
  await takeBack(context);
  expect(repo.oid('main')).toBe(start);
});

test('what is taken back outlives a git gc, and the landing can be made again', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  const context = await openFlows(repo);
  const landed = await landOn(context, ['../a']);
  await takeBack(context);
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '-q', '--prune=now');
  expect(repo.git('cat-file', '-t', landed.commit ?? '')).toBe('commit');
  expect(repo.refs('refs/sennit/landings/')).toEqual({});
  expect((await landOn(await openFlows(repo), ['../a'])).result).toBe('landed');
});

test('a branch that a landing made is not deleted while somebody works on it', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const context = await openFlows(repo);
  await landOn(context, ['../a'], { branch: 'wave' });
  repo.git('worktree', 'add', '-q', '../wave', 'wave');
  const before = readState(repo, { sennitRefs: true });
  await expect(takeBack(context)).rejects.toMatchObject({ code: 'undo_blocked' });
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
  repo.git('worktree', 'remove', '../wave');
  await takeBack(context);
  expect(repo.refs('refs/heads/')).not.toHaveProperty('refs/heads/wave');
});

test('a landing that somebody took back by hand is told, and an older one is not taken in its place', async () => {
  const repo = newProject();
  for (const name of ['a', 'b']) {
    repo.worktree(name).write(name, `${name}\n`);
    await landOn(await openFlows(repo), [`../${name}`]);
  }
  repo.git('reset', '-q', '--hard', 'HEAD~1');
  const context = await openFlows(repo);
  const tip = repo.oid('main');
  await expect(takeBack(context)).rejects.toMatchObject({ code: 'undo_blocked', message: /any more/ });
  expect(repo.oid('main')).toBe(tip);
  // Named, it is.
  const [, older] = context.readLedger()?.listOperations({ kinds: ['land'] }) ?? [];
  await withObjects(context, (objects) =>
    undo(context, objects, { operation: older?.id ?? '', dryRun: false }),
  );
  expect(repo.files('main')).not.toContain('a');
});

test('an unknown operation, and one that cannot be taken back, are refused', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const context = await openFlows(repo);
  await landOn(context, ['../a']);
  const undone = await takeBack(context);
  const ask = (operation: string): Promise<unknown> =>
    withObjects(context, (objects) => undo(context, objects, { operation, dryRun: false }));
  await expect(ask('20260101-000000-aaaa')).rejects.toMatchObject({ code: 'operation_unknown' });
  await expect(ask('nonsense')).rejects.toMatchObject({ code: 'operation_unknown' });
  await expect(ask(undone.undoes)).rejects.toMatchObject({ code: 'undo_blocked' });
});

test('a clean-up is not taken back over something that took the place of its workspace', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const context = await openFlows(repo);
  await gc(context, ['../a']);
  a.write('of/somebody', 'else\n');
  const files = readFiles(a.dir);
  await expect(takeBack(context)).rejects.toMatchObject({ code: 'restore_blocked' });
  expect(readFiles(a.dir)).toEqual(files);
  rmSync(a.dir, { recursive: true });
  await takeBack(context);
  expect(a.git('rev-parse', '--show-toplevel')).toBe(a.dir);
});

test('a restored workspace goes again, unless it was worked in', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  a.write('loose', 'loose\n');
  const context = await openFlows(repo);
  const report = await gc(context, ['../a'], true);
  const archive = report.workspaces[0]?.archive ?? '';
  const elsewhere = join(repo.place.root, 'elsewhere');
  await restore(context, archive, elsewhere);
  const there = new Repository(repo.place, elsewhere);
  expect(there.read('loose')).toBe('loose\n');
  there.write('more', 'more\n');
  await expect(takeBack(context)).rejects.toMatchObject({ code: 'undo_blocked' });
  expect(there.read('more')).toBe('more\n');
  there.write('more', null);
  expect((await takeBack(context)).removed).toEqual([elsewhere]);
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(1);
  await takeBack(context); // of the clean-up
  expect(a.read('loose')).toBe('loose\n');
});

test('an archive restored as a branch goes again with undo, unless the branch moved on', async () => {
  const repo = newProject();
  repo.worktree('a').write('loose', 'loose\n');
  const context = await openFlows(repo);
  const report = await gc(context, ['../a'], true);
  const name = report.workspaces[0]?.archive ?? '';
  const asBranch = (branch: string): Promise<unknown> =>
    withObjects(context, (objects) =>
      restoreArchive(context, objects, { name, path: null, branch, dryRun: false }),
    );
  await asBranch('back');
  expect(repo.blob('back', 'loose')).toBe('loose\n');
  await expect(asBranch('back')).rejects.toMatchObject({ code: 'target_exists' });
  await takeBack(context);
  expect(repo.refs('refs/heads/')).not.toHaveProperty('refs/heads/back');
  await asBranch('again');
  const tip = repo.commitTo('again', { on: 'on\n' });
  await expect(takeBack(context)).rejects.toMatchObject({ code: 'undo_blocked' });
  expect(repo.oid('again')).toBe(tip);
});
