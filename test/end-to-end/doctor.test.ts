import { expect, test } from 'vitest';
import { buildProject, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

test('doctor finds nothing wrong with a sound repository, and changes nothing', async () => {
  const repo = newProject();
  repo.worktree('a').write('f', 'f\n');
  const before = readState(repo, { sennitRefs: true });
  expect((await askSennit(['doctor'], 0, { cwd: repo })).result).toBe('healthy');
  expect((await askSennit(['doctor', '--fix'], 0, { cwd: repo })).result).toBe('healthy');
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});

test('doctor --fix puts core.bare right, also from a linked worktree, and says so (I08)', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  repo.git('config', 'core.bare', 'true');
  const sick = await askSennit(['doctor'], 1, { cwd: a });
  expect(sick).toMatchObject({ result: 'unhealthy', error: { code: 'repository_unhealthy' } });
  expect(sick.findings.find(({ check }) => check === 'config_bare')?.['remedy']).toMatch(/core\.bare false/);
  expect((await askSennit(['doctor', '--fix', '--dry-run'], 0, { cwd: a })).result).toBe('dry_run');
  expect(repo.git('config', 'core.bare')).toBe('true');
  const fixed = await askSennit(['doctor', '--fix'], 0, { cwd: a });
  expect(fixed.result).toBe('fixed');
  expect(fixed.findings.find(({ check }) => check === 'config_bare')?.['fixed']).toBe(true);
  expect(repo.git('status', '--porcelain')).toBe('');
});

test('doctor works where the settings of the branch are broken', async () => {
  const repo = newProject();
  repo.commit('settings', { 'sennit.yaml': 'gates: [\n' });
  const run = (await runSennit(['doctor'], { cwd: repo })).expectCode(0);
  expect(run.stdout).toMatch(/\S/);
});
