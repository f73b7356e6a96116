// Ignore rules are an agent's to write. They may hide junk, but not work.

import { expect, test } from 'vitest';
import { capture, checksOf, contents, findingsOf } from '../support/captures.ts';
import { linkTo, Repository, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', {
    'src/app.ts': 'app\n',
    'src/lib/util.ts': 'util\n',
    'docs/guide.md': 'guide\n',
    '.gitignore': 'node_modules/\n*.log\n/secret\n!keep.log\n',
    'src/.gitignore': 'local/\n',
  });
});

/** The captured paths that the base does not have. */
function added(repo: Repository, tree: string): string[] {
  return Object.keys(contents(repo, tree)).filter((path) => repo.entry('main', path) === undefined);
}

test("an agent's ignore rule of * at the root does not hide its work", async () => {
  const repo = newRepo();
  for (const [i, rule] of ['*', '**', '/*', '*.*', '*\n!.gitignore'].entries()) {
    const a = repo.worktree(`a${i}`);
    a.writeAll({
      '.gitignore': `${rule}\n`,
      'hidden.ts': 'hidden\n',
      ':(top)secret': 'not the secret that the base ignores\n',
      'new/deep/hidden.ts': 'deep\n',
      'src/more.ts': 'more\n',
      'node_modules/dep/index.js': 'dep\n',
      'new/node_modules/dep.js': 'dep\n',
      'x.log': 'log\n',
      'src/local/note': 'note\n',
      secret: 'secret\n',
      'src/lib/linked.ts': linkTo('util.ts'),
    });
    const taken = await capture(repo, a);
    // A rule without names of its own no longer ignores `secret`: it is untracked now, and told.
    const unhidden = rule === '*.*' ? ['secret'] : [];
    expect(added(repo, taken.tree), rule).toEqual([
      ':(top)secret',
      'hidden.ts',
      'new/deep/hidden.ts',
      ...unhidden,
      'src/lib/linked.ts',
      'src/more.ts',
    ]);
    expect(
      findingsOf(taken, 'ignore_rules_narrowed').flatMap(({ paths }) => paths),
      rule,
    ).toEqual(unhidden);
    const [finding] = findingsOf(taken, 'ignore_rules_widened');
    expect(finding?.severity).toBe('warning');
    expect(finding?.paths, rule).toContain('hidden.ts');
    expect(contents(repo, taken.tree)['.gitignore']).toBe(`${rule}\n`);
  }
});

test('an ignore file that ignores itself, at the root or in a folder, does not hide work', async () => {
  const repo = newRepo();
  repo.commit('no rules', { '.gitignore': null, 'src/.gitignore': null });
  const a = repo.worktree('a');
  a.writeAll({ '.gitignore': '*\n', 'top.ts': 'top\n' });
  expect(added(repo, (await capture(repo, a)).tree)).toEqual(['.gitignore', 'top.ts']);
  const b = repo.worktree('b');
  b.writeAll({
    'newpkg/.gitignore': '*\n',
    'newpkg/sub/work.ts': 'work\n',
    'src/.gitignore': '*\n',
    'src/new.ts': 'new\n',
  });
  expect(added(repo, (await capture(repo, b)).tree)).toEqual([
    'newpkg/.gitignore',
    'newpkg/sub/work.ts',
    'src/.gitignore',
    'src/new.ts',
  ]);
});

test('a rule that names what is tracked hides work; it is captured', async () => {
  const repo = newRepo();
  const rules: readonly (readonly [rule: string, file: string])[] = [
    ['*.ts', 'new/other.ts'],
    ['/src/', 'src/new.txt'],
    ['src', 'src/new.txt'],
    ['lib/', 'packages/b/lib/new.txt'],
    ['src/*', 'src/new.txt'],
    ['**/guide.md', 'deep/guide.md'],
    ['g*.md', 'deep/gamma.md'],
    ['ut?l.ts', 'src/lib/utxl.ts'],
  ];
  for (const [i, [rule, file]] of rules.entries()) {
    const a = repo.worktree(`a${i}`);
    a.write('.gitignore', `${a.read('.gitignore')}${rule}\n`);
    a.write(file, 'work\n');
    const taken = await capture(repo, a);
    expect(contents(repo, taken.tree)[file], rule).toBe('work\n');
    expect(checksOf(taken), rule).toEqual(['ignore_rules_widened']);
  }
});

test('a new rule for what a program makes is taken at its word, and what it hides is named', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('.gitignore', `${a.read('.gitignore')}/coverage/\nreports/\n*.sqlite\n/docs/api/\n`);
  a.writeAll({
    'coverage/index.html': 'x\n',
    'reports/r.xml': 'x\n',
    'data.sqlite': 'x\n',
    'docs/api/index.html': 'x\n',
  });
  const taken = await capture(repo, a);
  expect(added(repo, taken.tree)).toEqual([]);
  expect(taken.findings.map(({ check, severity, paths }) => [check, severity, paths])).toEqual([
    ['ignored_by_new_rule', 'info', ['coverage/', 'data.sqlite', 'docs/api/', 'reports/']],
  ]);
});

test('folders that tools make and mark to be ignored are left alone', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({
    '.venv/.gitignore': '*\n',
    '.venv/pyvenv.cfg': 'x\n',
    '.pytest_cache/.gitignore': '*\n',
    '.husky/_/.gitignore': '*\n',
    '.husky/_/husky.sh': 'x\n',
    'tool-cache/.gitignore': '*\n',
    'tool-cache/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55\n',
    'f.ts': 'work\n',
  });
  const taken = await capture(repo, a);
  expect(added(repo, taken.tree)).toEqual(['f.ts']);
  expect(taken.findings).toEqual([]);
});

test('a rule that was taken away no longer keeps a file, and one that hid less before hides no work', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  // Without the exception, the old rule for logs hides a file that was meant to be kept.
  a.writeAll({ '.gitignore': 'node_modules/\n*.log\n', 'keep.log': 'kept by the base\n' });
  const taken = await capture(repo, a);
  expect(added(repo, taken.tree)).toEqual([]);
  expect(findingsOf(taken, 'ignored_by_new_rule')[0]?.paths).toEqual(['keep.log']);
  const b = repo.worktree('b');
  b.writeAll({ '.gitignore': 'node_modules/\n', 'x.log': 'now work\n' });
  const shown = await capture(repo, b);
  expect(added(repo, shown.tree)).toEqual(['x.log']);
  expect(findingsOf(shown, 'ignore_rules_narrowed')[0]?.paths).toEqual(['x.log']);
});

test("the user's own excludes and the repository's info/exclude stay in force", async () => {
  const repo = newRepo();
  repo.place.at('conf');
  const { appendFileSync, mkdirSync, writeFileSync } = await import('node:fs');
  writeFileSync(`${repo.place.root}/conf/ignore`, '*.mine\n');
  appendFileSync(repo.place.gitConfig, `[core]\n\texcludesFile = ${repo.place.root}/conf/ignore\n`);
  mkdirSync(`${repo.commonDir()}/info`, { recursive: true });
  writeFileSync(`${repo.commonDir()}/info/exclude`, '.agents/\n');
  const a = repo.worktree('a');
  a.writeAll({ '.gitignore': '*\n', 'x.mine': 'x\n', '.agents/y': 'y\n', 'z.ts': 'z\n' });
  expect(added(repo, (await capture(repo, a)).tree)).toEqual(['z.ts']);
});

test('a repository behind a rule of * is set aside like any other', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('.gitignore', '*\n');
  const nested = Repository.create(repo.place, 'a/made/inner');
  nested.commit('inner', { x: 'inner work\n' });
  const taken = await capture(repo, a);
  expect(added(repo, taken.tree)).toEqual([]);
  expect(taken.aside.map(({ path }) => path)).toEqual(['made/inner']);
  expect(contents(repo, taken.aside[0]?.tree ?? '')['x']).toBe('inner work\n');
});

test('an ignore file that is a link counts for nothing, as for git', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ 'rules.txt': '*\n', 'src/.gitignore': linkTo('../rules.txt'), 'src/new.ts': 'new\n' });
  const taken = await capture(repo, a);
  expect(added(repo, taken.tree)).toEqual(['rules.txt', 'src/new.ts']);
});

test('the second look costs nothing while ignore files are what they were', async () => {
  const repo = newRepo();
  const { readFileSync } = await import('node:fs');
  const { gitWrapper } = await import('../support/captures.ts');
  const log = `${repo.place.root}/calls`;
  const program = gitWrapper(repo, `echo "$1" >> '${log}'`);
  const a = repo.worktree('a');
  a.writeAll({
    'node_modules/x': 'x\n',
    'a.log': 'x\n',
    'src/local/x': 'x\n',
    'src/new.ts': 'new\n',
    '.venv/.gitignore': '*\n',
  });
  await capture(repo, a, { program });
  expect(readFileSync(log, 'utf8').trim().split('\n').sort()).toEqual(
    ['check-attr', 'config', 'status', 'status', 'update-index', 'write-tree'].sort(),
  );
});
