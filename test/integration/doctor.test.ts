// What doctor finds in a repository that is out of order, and what it puts right without losing anything.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type DoctorFinding, type DoctorReport, examine } from '../../src/flow/doctor.ts';
import { landOn, openFlows } from '../support/flows.ts';
import { buildProject, readState, repositoryTemplate } from '../support/repo.ts';
import type { Located } from '../support/sealed.ts';

const newProject = repositoryTemplate(buildProject);

async function examineIn(cwd: Located, fix = false): Promise<DoctorReport> {
  return examine(await openFlows(cwd), { fix, dryRun: false });
}

function find({ findings }: DoctorReport, check: string): DoctorFinding | undefined {
  return findings.find((finding) => finding.check === check);
}

function makeOld(path: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
}

test('a repository in order has nothing to put right, and looking changes nothing', async () => {
  const repo = newProject();
  repo.worktree('a').write('f', 'f\n');
  const before = readState(repo, { sennitRefs: true });
  const report = await examineIn(repo, true);
  expect(report.result, JSON.stringify(report.findings)).toBe('healthy');
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(readState(repo, { sennitRefs: true })).toEqual(before);
});

test('core.bare in a repository with a work tree is found from anywhere and put right (I08)', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  repo.git('config', 'core.bare', 'true');
  expect(repo.tryGit(['status']).code).not.toBe(0);
  for (const cwd of [repo, a]) {
    const report = await examineIn(cwd);
    expect(report.result).toBe('unhealthy');
    expect(find(report, 'config_bare')).toMatchObject({ fixable: true, fixed: false });
  }
  expect((await examineIn(a, true)).result).toBe('fixed');
  expect(repo.git('status', '--porcelain')).toBe('');
  expect((await examineIn(repo)).result).toBe('healthy');
});

test('a bare repository with worktrees is no corruption', async () => {
  const repo = newProject();
  const bare = repo.place.at('hub');
  repo.git('clone', '-q', '--bare', repo.dir, join(bare.dir, '.git'));
  const report = await examineIn(bare, true);
  expect(find(report, 'config_bare')).toBeUndefined();
  expect(report.result).toBe('healthy');
});

test('core.worktree that leads to a worktree or nowhere is put right, one that is meant is only told', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const config = join(repo.commonDir(), 'config');
  for (const path of [a.dir, '/no-such-folder']) {
    repo.git('config', '--file', config, 'core.worktree', path);
    expect(find(await examineIn(a), 'config_worktree')).toMatchObject({ severity: 'error', fixable: true });
    await examineIn(a, true);
    expect(repo.tryGit(['config', '--file', config, 'core.worktree']).code).toBe(1);
  }
  repo.git('config', '--file', config, 'core.worktree', repo.place.at('elsewhere').dir);
  const told = find(await examineIn(a, true), 'config_worktree');
  expect(told).toMatchObject({ severity: 'warning', fixable: false });
});

test('a core.worktree with which git does not even start is told with the command that helps', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const config = join(repo.commonDir(), 'config');
  repo.git('config', '--file', config, 'core.worktree', '/no/such/folder');
  for (const cwd of [repo, a]) {
    await expect(openFlows(cwd)).rejects.toMatchObject({
      code: 'repository_missing',
      hint: expect.stringContaining(`git config --file '${config}' --unset-all core.worktree`),
    });
  }
});

test('a lock that a dead git left is taken away when it is old, a young one never', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  const common = repo.commonDir();
  mkdirSync(join(common, 'refs/heads/wt'), { recursive: true });
  const old = [
    join(common, 'index.lock'),
    join(common, 'config.lock'),
    join(common, 'refs/heads/wt/x.lock'),
    join(a.gitDir(), 'index.lock'),
  ];
  for (const lock of old) writeFileSync(lock, '');
  const young = join(a.gitDir(), 'HEAD.lock');
  writeFileSync(young, '');
  const fresh = await examineIn(repo, true);
  expect(fresh.findings.filter(({ check }) => check === 'lock_held')).toHaveLength(5);
  for (const lock of [...old, young]) expect(existsSync(lock)).toBe(true);
  for (const lock of old) makeOld(lock);
  const report = await examineIn(repo, true);
  if (process.platform !== 'linux') return; // holders cannot be seen: nothing is taken away
  expect(report.findings.filter(({ check, fixed }) => check === 'lock_stale' && fixed)).toHaveLength(4);
  for (const lock of old) expect(existsSync(lock)).toBe(false);
  expect(existsSync(young)).toBe(true);
});

test('an old lock is left alone while a git is at work', async () => {
  if (process.platform !== 'linux') return;
  const repo = newProject();
  const lock = join(repo.commonDir(), 'index.lock');
  writeFileSync(lock, '');
  makeOld(lock);
  const context = await openFlows(repo);
  const occupied = {
    ...context,
    system: {
      ...context.system,
      listOccupants: (path: string) => (path === repo.dir ? [{ pid: 4242, name: 'git' }] : []),
    },
  };
  const report = await examine(occupied, { fix: true, dryRun: false });
  expect(find(report, 'lock_held')).toMatchObject({ fixed: false });
  expect(existsSync(lock)).toBe(true);
});

test('a half-made record that stops git is moved aside when no work can be in it', async () => {
  const repo = newProject();
  repo.worktree('a');
  const record = join(repo.commonDir(), 'worktrees/dead');
  mkdirSync(record);
  writeFileSync(join(record, 'gitdir'), `${join(repo.place.root, 'dead')}/.git\n`);
  writeFileSync(join(record, 'HEAD'), `${'0'.repeat(40)}\n`);
  writeFileSync(join(record, 'commondir'), '');
  writeFileSync(join(record, 'locked'), 'initializing');
  expect(repo.tryGit(['worktree', 'list']).code).not.toBe(0);
  expect(find(await examineIn(repo, true), 'worktree_half_made')).toMatchObject({
    severity: 'error',
    fixed: false,
  });
  expect(existsSync(record)).toBe(true);
  makeOld(record);
  const report = await examineIn(repo, true);
  if (process.platform !== 'linux') return;
  expect(find(report, 'worktree_half_made')?.fixed).toBe(true);
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(2);
  const kept = join(repo.commonDir(), 'sennit/kept');
  expect(readdirSync(kept, { recursive: true })).toEqual(
    expect.arrayContaining([expect.stringMatching(/dead$/)]),
  );
});

test('a half-made worktree with files in it is never touched', async () => {
  const repo = newProject();
  const a = repo.worktree('a');
  writeFileSync(join(a.gitDir(), 'locked'), 'initializing');
  makeOld(a.gitDir());
  const finding = find(await examineIn(repo, true), 'worktree_half_made');
  expect(finding).toMatchObject({ fixable: false, severity: 'warning' });
  expect(finding?.remedy).toContain('unlock');
  expect(existsSync(join(a.gitDir(), 'locked'))).toBe(true);
});

test('a worktree whose folder was moved, and one that lost its .git, are told with what helps', async () => {
  const repo = newProject();
  const [a, b] = [repo.worktree('a', { branch: 'agent' }), repo.worktree('b')];
  renameSync(a.dir, join(repo.place.root, 'a-moved'));
  rmSync(b.path('.git'));
  const report = await examineIn(repo, true);
  expect(find(report, 'worktree_missing')).toMatchObject({ fixable: false, paths: [a.dir] });
  expect(find(report, 'worktree_missing')?.message).toContain('agent');
  expect(find(report, 'worktree_unlinked')?.remedy).toBe(`git worktree repair ${b.dir}`);
  expect(readdirSync(join(repo.commonDir(), 'worktrees'))).toEqual(['a', 'b']);
});

test('a ledger that is damaged or of a newer version is told, not touched', async () => {
  const repo = newProject();
  repo.worktree('a').write('f', 'f\n');
  await landOn(await openFlows(repo), ['../a']);
  const file = join(repo.commonDir(), 'sennit/ledger.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  writeFileSync(file, 'no database at all, but longer than a header of one would be '.repeat(20));
  const report = await examineIn(repo, true);
  expect(report.result).toBe('unhealthy');
  expect(find(report, 'ledger_broken')?.remedy).toMatch(/\S/);
  expect(existsSync(file)).toBe(true);
});

test('a landing that the ledger has and git has not is told', async () => {
  const repo = newProject();
  repo.worktree('a').write('f', 'f\n');
  const landed = await landOn(await openFlows(repo), ['../a']);
  const id = landed.commit ?? '';
  const objects = join(repo.commonDir(), 'objects');
  for (const ref of Object.keys(repo.refs())) repo.git('update-ref', '-d', ref);
  rmSync(objects, { recursive: true });
  mkdirSync(objects);
  expect(find(await examineIn(repo), 'landing_missing')?.message).toContain(id);
});

test('a system that is not supported is told plainly', async () => {
  const repo = newProject();
  const context = await openFlows(repo);
  const report = await examine(
    { ...context, system: { ...context.system, platform: 'win32' } },
    { fix: false, dryRun: false },
  );
  expect(report.result).toBe('unhealthy');
  expect(find(report, 'platform_unsupported')?.message).toMatch(/Windows.*gates/);
});

test('a full disk is told before it stops a landing', async () => {
  const repo = newProject();
  const context = await openFlows(repo);
  const readFreeSpace = (): { bytes: number; inodes: number } => ({ bytes: 1000, inodes: 10 });
  const report = await examine(
    { ...context, system: { ...context.system, readFreeSpace } },
    { fix: false, dryRun: false },
  );
  expect(find(report, 'disk_low')).toBeDefined();
  expect(find(report, 'inodes_low')).toBeDefined();
});

test('with a dry run nothing is put right', async () => {
  const repo = newProject();
  repo.git('config', 'core.bare', 'true');
  const context = await openFlows(repo);
  const report = await examine(context, { fix: true, dryRun: true });
  expect(report.result).toBe('dry_run');
  expect(repo.git('config', 'core.bare')).toBe('true');
});

test('a config that git cannot read does not keep the rest from being examined', async () => {
  const repo = newProject();
  const context = await openFlows(repo);
  appendFileSync(join(repo.commonDir(), 'config'), '[broken\n');
  const report = await examine(context, { fix: true, dryRun: false });
  expect(find(report, 'examination_failed')).toBeDefined();
  expect(find(report, 'tool_absent') ?? find(report, 'tool_present')).toBeDefined();
});
