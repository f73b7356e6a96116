// Several `sennit land` at the same time, in processes of their own, on one target: all land, none loses.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildProject, lines, type Repository, readState, repositoryTemplate } from '../support/repo.ts';
import { type Answer, askSennit, startSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

async function landTogether(
  repo: Repository,
  names: readonly string[],
  ...more: string[]
): Promise<Answer[]> {
  return await Promise.all(
    names.map((name) => askSennit(['land', `../${name}`, '--into', 'main', ...more], 0, { cwd: repo })),
  );
}

function expectAllIn(repo: Repository, names: readonly string[], answers: readonly Answer[]): void {
  for (const answer of answers) expect(answer.result).toBe('landed');
  for (const name of names) expect(repo.blob('main', `by-${name}`)).toBe(`${name}\n`);
  // One commit each, in a line, each with its own paths only, each one still there.
  const history = repo.git('rev-list', '--reverse', 'main').split('\n').slice(1);
  expect([...history].sort()).toEqual(answers.map((answer) => answer.commit).sort());
  expect(repo.git('rev-list', '--min-parents=2', '--count', 'main')).toBe('0');
  expect(repo.git('status', '--porcelain')).toBe('');
  expect(new Set(answers.map((answer) => answer.operation)).size).toBe(names.length);
  repo.requireSound();
}

for (const count of [2, 4]) {
  test(`${count} landings on one checked-out target at the same time all land`, async () => {
    const repo = newProject();
    const names = Array.from({ length: count }, (_, i) => `agent-${i}`);
    for (const [i, name] of names.entries()) {
      repo.worktree(name).writeAll({
        [`by-${name}`]: `${name}\n`,
        'src/cart.ts': lines('cart', 40, { [8 * i + 2]: `line by ${name}` }),
      });
    }
    const answers = await landTogether(repo, names, '--gate', 'test -e src/cart.ts');
    expectAllIn(repo, names, answers);
    for (const name of names) expect(repo.read('src/cart.ts')).toContain(`line by ${name}\n`);
  });
}

test('what each gate saw at last is the tree that landed', async () => {
  const repo = newProject();
  const names = ['agent-0', 'agent-1'];
  for (const name of names) repo.worktree(name).write(`by-${name}`, `${name}\n`);
  const log = `${repo.place.root}/trees`;
  const answers = await landTogether(repo, names, '--gate', `git rev-parse 'HEAD^{tree}' >> '${log}'`);
  expectAllIn(repo, names, answers);
  const seen = repo.place.inside(log);
  const trees = new Set(readFileSync(seen, 'utf8').trim().split('\n'));
  for (const answer of answers) expect(trees).toContain(answer.tree);
});

test('one of two colliding landings lands, the other is handed over: nobody wins silently', async () => {
  const repo = newProject();
  const names = ['agent-0', 'agent-1'];
  for (const name of names)
    repo.worktree(name).write('src/cart.ts', lines('cart', 40, { 10: `ten by ${name}` }));
  const runs = names.map((name) =>
    startSennit(['land', `../${name}`, '--into', 'main', '--no-gate', '--json'], { cwd: repo }),
  );
  const ended = await Promise.all(runs.map((run) => run.done));
  expect(ended.map((run) => run.code).sort(), ended.map((run) => run.story()).join('\n')).toEqual([0, 3]);
  const winner = ended.findIndex((run) => run.code === 0);
  expect(repo.read('src/cart.ts')).toContain(`ten by ${names[winner]}\n`);
  expect(repo.read('src/cart.ts')).not.toContain('<<<<<<<');
  expect(ended[1 - winner]?.json().conflicts.map((conflict) => conflict.path)).toEqual(['src/cart.ts']);
});

test('a landing of the user by hand in the middle of ours is not lost', async () => {
  const repo = newProject();
  repo.git('checkout', '-q', '-b', 'elsewhere');
  repo.worktree('agent-0').write('by-agent-0', 'agent-0\n');
  // While the gate runs somebody commits on the target.
  const gate = `git -C '${repo.dir}' update-ref refs/heads/main $(git -C '${repo.dir}' commit-tree -p main -m by-hand 'main^{tree}')`;
  const before = repo.oid('main');
  const [answer] = await landTogether(repo, ['agent-0'], '--gate', gate);
  expect(answer?.result).toBe('landed');
  const subjects = repo.git('log', '--format=%s', `${before}..main`).split('\n');
  expect(subjects).toContain('by-hand');
  expect(repo.blob('main', 'by-agent-0')).toBe('agent-0\n');
});

test('landings on different targets at the same time do not disturb each other', async () => {
  const repo = newProject();
  const names = ['one', 'two', 'three'];
  for (const name of names) {
    repo.git('branch', `release/${name}`, 'main');
    repo.worktree(name).write(`by-${name}`, `${name}\n`);
  }
  const before = readState(repo);
  await Promise.all(
    names.map((name) =>
      askSennit(['land', `../${name}`, '--into', `release/${name}`, '--no-gate'], 0, { cwd: repo }),
    ),
  );
  for (const name of names) expect(repo.changed('main', `release/${name}`)).toEqual([`by-${name}`]);
  expect(readState(repo).files).toEqual(before.files);
});

test('reading commands answer while a landing runs', async () => {
  const repo = newProject();
  repo.worktree('a').write('new', 'new\n');
  const landing = startSennit(['land', '../a', '--into', 'main', '--gate', 'sleep 3', '--json'], {
    cwd: repo,
  });
  for (const args of [['status'], ['log'], ['conflicts'], ['gc'], ['forecast', '../a', '--into', 'main']]) {
    await askSennit(args, 0, { cwd: repo });
  }
  (await landing.done).expectCode(0);
  expect(repo.read('new')).toBe('new\n');
});
