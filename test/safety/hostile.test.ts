// What an agent leaves in its workspace is hostile input: repositories inside it, a replaced .git, configuration,
// hooks, filters, drivers, settings, file names. None of it may run code with the rights of whoever lands the work,
// cleans up after it, or settles its conflicts.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectNothingSprung, laySceneOf, PAYLOADS } from '../support/hostile.ts';
import { Repository, repositoryTemplate } from '../support/repo.ts';
import { askSennit } from '../support/sennit.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    f: '1\n2\n3\n4\n5\n',
    'a.x': '1\n2\n3\n4\n5\n',
    '.gitattributes': '*.x diff=evil merge=evil\n',
  });
});

for (const payload of PAYLOADS) {
  test(`no code of a workspace runs: ${payload.name}`, async () => {
    const repo = newRepo();
    const wt = repo.worktree('wt');
    wt.write('f', '1\n2\n3\n4\nwork\n');
    const peer = repo.commitTo('peer', { 'a.x': 'P\n2\n3\n4\n5\n' });
    const { canary } = laySceneOf(payload, repo, wt);
    await expectNothingSprung(canary, repo, [
      ['forecast', '../wt', 'peer', '--into', 'main'],
      ['land', '../wt', 'peer', '--into', 'main', '--gate', 'true', '--dry-run'],
      ['land', '../wt', 'peer', '--into', 'main', '--gate', 'true'],
      ['status'],
      ['gc', '../wt'],
      ['gc', '../wt', '--apply'],
      ['undo'],
      ['doctor'],
    ]);
    expect(readdirSync(repo.place.root)).not.toContain('x');
    expect(repo.oid('peer')).toBe(peer);
    const outside = join(repo.place.root, 'outside');
    if (existsSync(outside)) expect(readdirSync(outside)).toEqual([]);
  });

  if (payload.springs === undefined) continue;
  const { springs } = payload;
  test(`that payload is live, so that the test before shows something: ${payload.name}`, () => {
    const repo = newRepo();
    const wt = repo.worktree('wt');
    wt.write('f', '1\n2\n3\n4\nwork\n');
    const scene = laySceneOf(payload, repo, wt);
    springs(scene);
    expect(existsSync(scene.canary)).toBe(true);
  });
}

for (const payload of PAYLOADS.filter(({ anywhere }) => anywhere)) {
  test(`no code runs that was left where conflicts are resolved: ${payload.name}`, async () => {
    const repo = newRepo();
    repo.commitTo('a', { f: 'a\n', g: 'a\n' });
    repo.commitTo('b', { f: 'b\n', g: 'b\n' });
    const stopped = await askSennit(['land', 'a', 'b', '--into', 'main', '--gate', 'true'], 3, { cwd: repo });
    const { canary } = laySceneOf(
      payload,
      repo,
      new Repository(repo.place, stopped.handover?.worktree ?? ''),
    );
    await expectNothingSprung(canary, repo, [
      ['conflicts'],
      ['resolve', 'f', '--take', 'change'],
      ['resolve', 'g', '--take', 'change'],
      ['continue'],
      ['status'],
      ['abort'],
    ]);
  });
}
