// Push and pull request: without force, to the right place, and the answer says what happened.

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProject, Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { type Answer, askSennit, expectRefusal, runSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

function withRemote(): { repo: Repository; origin: Repository } {
  const repo = newProject();
  const origin = Repository.create(repo.place, 'origin', { bare: true });
  repo.git('remote', 'add', 'origin', origin.dir);
  repo.git('push', '-q', '-u', 'origin', 'main');
  return { repo, origin };
}

test('--push brings the landed commit to the remote branch', async () => {
  const { repo, origin } = withRemote();
  repo.worktree('a').write('new', 'new\n');
  const answer = await askSennit(['land', '../a', '--into', 'main', '--no-gate', '--push'], 0, { cwd: repo });
  expect(answer.result).toBe('landed');
  expect(origin.oid('main')).toBe(answer.commit);
  expect(repo.oid('main')).toBe(answer.commit);
  // Private refs stay private.
  expect(Object.keys(origin.refs())).toEqual(['refs/heads/main']);
});

test('a remote with a relative address is found from wherever the command runs', async () => {
  const { repo, origin } = withRemote();
  repo.git('remote', 'set-url', 'origin', '../origin');
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  for (const cwd of [repo, repo.place.at('repo/src'), a]) {
    a.write('new', `from ${cwd.dir}\n`);
    await askSennit(['land', a.dir, '--into', 'main', '--no-gate', '--push'], 0, { cwd });
    expect(origin.blob('main', 'new')).toBe(`from ${cwd.dir}\n`);
  }
});

test('without --push nothing leaves the machine', async () => {
  const { repo, origin } = withRemote();
  repo.worktree('a').write('new', 'new\n');
  const before = readState(origin);
  await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
  expect(readState(origin)).toEqual(before);
});

test('--push without a remote is refused before anything has changed', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const before = readState(repo);
  await expectRefusal(
    ['land', '../a', '--into', 'main', '--no-gate', '--push'],
    { exit: 2, code: 'remote_missing' },
    { cwd: repo },
  );
  expect(readState(repo)).toEqual(before);
});

test('--push of a new branch sets it up on the remote', async () => {
  const { repo, origin } = withRemote();
  repo.worktree('a').write('new', 'new\n');
  const old = origin.oid('main');
  const args = ['land', '../a', '--into', 'main', '--branch', 'wave/1', '--no-gate', '--push'];
  const answer = await askSennit(args, 0, { cwd: repo });
  expect(origin.oid('wave/1')).toBe(answer.commit);
  expect(origin.oid('main')).toBe(old);
});

test('a race with another clone ends with both in, in a line', async () => {
  const { repo, origin } = withRemote();
  repo.git('clone', '-q', origin.dir, join(repo.place.root, 'other'));
  const other = new Repository(repo.place, join(repo.place.root, 'other'));
  repo.worktree('a').write('from-a', 'a\n');
  other.worktree('b').write('from-b', 'b\n');
  const [one, two] = await Promise.all([
    askSennit(['land', '../a', '--into', 'main', '--gate', 'test -e from-a', '--push'], 0, { cwd: repo }),
    askSennit(['land', '../b', '--into', 'main', '--gate', 'test -e from-b', '--push'], 0, { cwd: other }),
  ]);
  expect(origin.files('main')).toEqual(expect.arrayContaining(['from-a', 'from-b']));
  for (const answer of [one, two]) {
    expect(origin.tryGit(['merge-base', '--is-ancestor', answer.commit ?? '', 'main']).code).toBe(0);
  }
  expect(origin.git('rev-list', '--min-parents=2', '--count', 'main')).toBe('0');
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(other.git('status', '--porcelain')).toBe('');
});

test('commits of the target that were never pushed go along, and are not rewritten', async () => {
  const { repo, origin } = withRemote();
  const mine = repo.commit('mine, not pushed yet', { mine: 'mine\n' });
  repo.worktree('a').write('new', 'new\n');
  await askSennit(['land', '../a', '--into', 'main', '--no-gate', '--push'], 0, { cwd: repo });
  expect(origin.oid('main~1')).toBe(mine);
});

test('a local branch and a remote that went apart are not forced together', async () => {
  const { repo, origin } = withRemote();
  repo.git('clone', '-q', origin.dir, join(repo.place.root, 'other'));
  const other = new Repository(repo.place, join(repo.place.root, 'other'));
  const theirs = other.commit('theirs', { theirs: 'theirs\n' });
  other.git('push', '-q');
  const mine = repo.commit('mine, not pushed yet', { mine: 'mine\n' });
  const a = repo.worktree('a');
  a.write('new', 'new\n');
  const run = await runSennit(['land', '../a', '--into', 'main', '--no-gate', '--push', '--json'], {
    cwd: repo,
  });
  // Joined by a merge, or refused with a way out; neither commit disappears.
  expect(origin.git('merge-base', '--is-ancestor', theirs, 'main')).toBe('');
  expect(repo.git('merge-base', '--is-ancestor', mine, 'main')).toBe('');
  if (run.code !== 0) expect(run.json().error?.hint, run.story()).toMatch(/\S/);
  expect(a.read('new')).toBe('new\n');
});

/** A `gh` that keeps pull requests in a file and notes every call. */
function installGh(repo: Repository): { calls: () => string[][]; open: () => Record<string, string>[] } {
  const log = join(repo.place.root, 'gh-calls');
  const store = join(repo.place.root, 'gh-pulls');
  const path = join(repo.place.bin, 'gh');
  writeFileSync(
    path,
    `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(log)}, JSON.stringify(args) + '\\n');
const store = ${JSON.stringify(store)};
const pulls = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : [];
const value = (...names) => {
  for (const name of names) {
    const at = args.indexOf(name);
    if (at !== -1) return args[at + 1];
    const joined = args.find((arg) => arg.startsWith(name + '='));
    if (joined !== undefined) return joined.slice(name.length + 1);
  }
};
const stdin = () => readFileSync(0, 'utf8');
const body = () => {
  const file = value('--body-file', '-F');
  return file === undefined ? value('--body', '-b') : file === '-' ? stdin() : readFileSync(file, 'utf8');
};
const [group, command] = args;
if (group === '--version' || group === 'auth') process.exit(0);
if (group !== 'pr') process.exit(2);
if (command === 'list') {
  const head = value('--head', '-H');
  console.log(JSON.stringify(pulls.filter((pull) => head === undefined || pull.headRefName === head)));
} else if (command === 'view') {
  const pull = pulls.find((one) => args.includes(one.headRefName) || args.includes(one.url) || args.includes(String(one.number)));
  if (pull === undefined) {
    console.error('no pull requests found');
    process.exit(1);
  }
  console.log(JSON.stringify(pull));
} else if (command === 'create') {
  const number = pulls.length + 1;
  const url = 'https://example.test/pull/' + number;
  pulls.push({ number, url, state: 'OPEN', headRefName: value('--head', '-H'), baseRefName: value('--base', '-B'), title: value('--title', '-t'), body: body() });
  writeFileSync(store, JSON.stringify(pulls));
  console.log(url);
} else if (command === 'edit') {
  const pull = pulls.find((one) => args.includes(one.headRefName) || args.includes(one.url) || args.includes(String(one.number)));
  if (pull === undefined) process.exit(1);
  pull.title = value('--title', '-t') ?? pull.title;
  pull.body = body() ?? pull.body;
  pull.edited = 'yes';
  writeFileSync(store, JSON.stringify(pulls));
  console.log(pull.url);
} else process.exit(2);
`,
  );
  chmodSync(path, 0o755);
  const linesOf = (file: string): string[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return {
    calls: () => linesOf(log).map((line) => JSON.parse(line)),
    open: () => (existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : []),
  };
}

const PULL = ['--into', 'main', '--branch', 'wave/1', '--no-gate', '--push', '--pr'];

test('--pr opens one pull request from the new branch', async () => {
  const { repo, origin } = withRemote();
  const gh = installGh(repo);
  repo.worktree('wt-cart').write('new', 'new\n');
  const answer: Answer = await askSennit(['land', '../wt-cart', ...PULL, '-m', 'Add new\n\nBecause.'], 0, {
    cwd: repo,
  });
  expect(origin.oid('wave/1')).toBe(answer.commit);
  expect(gh.open()).toMatchObject([{ headRefName: 'wave/1', baseRefName: 'main', title: 'Add new' }]);
  expect(gh.open()[0]?.['body']).toContain('Because.');
  expect(JSON.stringify(answer)).toContain('https://example.test/pull/1');
});

test('--pr updates the pull request that the branch has already', async () => {
  const { repo, origin } = withRemote();
  const gh = installGh(repo);
  const wt = repo.worktree('wt-cart');
  wt.write('new', 'new\n');
  await askSennit(['land', '../wt-cart', ...PULL], 0, { cwd: repo });
  wt.write('more', 'more\n');
  const args = ['land', '../wt-cart', '--into', 'wave/1', '--no-gate', '--push', '--pr'];
  const answer = await askSennit(args, 0, { cwd: repo });
  expect(origin.oid('wave/1')).toBe(answer.commit);
  expect(gh.open()).toHaveLength(1);
  expect(JSON.stringify(answer)).toContain('https://example.test/pull/1');
});

test('--pr without gh says how to go on, and what landed stays landed or nothing did', async () => {
  const { repo, origin } = withRemote();
  const wt = repo.worktree('wt-cart');
  wt.write('new', 'new\n');
  const run = await runSennit(['land', '../wt-cart', ...PULL, '--json'], { cwd: repo });
  run.expectCode(1);
  expect(run.json().error?.code).toBe('pull_request_failed');
  expect(`${run.json().error?.message} ${run.json().error?.hint}`).toMatch(/gh/);
  const local = repo.tryGit(['rev-parse', '-q', '--verify', 'refs/heads/wave/1']).stdout;
  expect(origin.tryGit(['rev-parse', '-q', '--verify', 'refs/heads/wave/1']).stdout).toBe(local);
  expect(wt.read('new')).toBe('new\n');
});
