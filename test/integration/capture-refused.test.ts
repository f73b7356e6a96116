// A snapshot that is not complete is an error that names what is missing; one of a workspace that does not come to rest
// is an error too. Never a tree that lacks work.

import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { capture, checksOf, contents, gitWrapper, refusedCapture } from '../support/captures.ts';
import { linkTo, type Repository, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: 'v1\n', 'dir/a': 'a\n', 'dir/b': 'b\n' });
});

const NOBODY = 65_534;

function giveAway(path: string): void {
  const entry = lstatSync(path);
  if (entry.isSymbolicLink()) return;
  chownSync(path, NOBODY, NOBODY);
  if (entry.isDirectory()) for (const name of readdirSync(path)) giveAway(join(path, name));
}

/** Runs a step without root's right to read everything. */
async function unprivileged<T>(repo: Repository, step: () => Promise<T>): Promise<T> {
  const { seteuid, setegid } = process;
  if (process.getuid?.() !== 0 || seteuid === undefined || setegid === undefined) return step();
  giveAway(repo.place.root);
  setegid.call(process, NOBODY);
  seteuid.call(process, NOBODY);
  try {
    return await step();
  } finally {
    seteuid.call(process, 0);
    setegid.call(process, 0);
  }
}

test('files over the limit are named with their size, and so is the setting', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ 'new big': 'x'.repeat(1001), f: 'y'.repeat(2000), small: 'x'.repeat(1000) });
  const error = await refusedCapture(repo, a, 'snapshot_incomplete', { maxFileBytes: 1000 });
  expect([...error.paths].sort()).toEqual(['f', 'new big']);
  expect(error.message).toContain('new big (1001 bytes)');
  expect(error.hint).toContain('snapshot.max_file_size');
  const taken = await capture(repo, a, { maxFileBytes: 1000, exclude: ['new big', 'f'] });
  expect(Object.keys(contents(repo, taken.tree))).toEqual(['dir/a', 'dir/b', 'f', 'small']);
});

test('an unreadable file is named, whether it is new, edited or merely locked away', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ 'new\nfile': 'new\n', f: 'edited\n' });
  for (const name of ['new\nfile', 'f', 'dir/a']) chmodSync(a.path(name), 0);
  const error = await unprivileged(repo, () => refusedCapture(repo, a, 'snapshot_incomplete'));
  expect([...error.paths].sort()).toEqual(['"new\\nfile"', 'dir/a', 'f']);
});

test('unreadable folders are named: those that cannot be listed and those that cannot be entered', async () => {
  for (const mode of [0o000, 0o300, 0o600]) {
    const repo = newRepo();
    const tree = repo.tree('main');
    const a = repo.worktree('a');
    a.writeAll({ 'dir/new': 'new\n', 'made/x': 'x\n' });
    chmodSync(a.path('dir'), mode);
    chmodSync(a.path('made'), mode);
    const error = await unprivileged(repo, () => refusedCapture(repo, a, 'snapshot_incomplete'));
    const about = error.paths.join(' ');
    expect(about, String(mode)).toContain('dir');
    expect(about, String(mode)).toContain('made');
    // The settings may leave them out, which is told.
    const taken = await unprivileged(repo, () => capture(repo, a, { exclude: ['/dir/', '/made'] }));
    expect(taken.tree).toBe(tree);
    expect(checksOf(taken)).toEqual(['path_excluded']);
    for (const name of ['dir', 'made']) chmodSync(a.path(name), 0o755);
  }
});

test('an unreadable nested repository is named', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.git('init', '-q', 'sub');
  a.write('sub/x', 'x\n');
  chmodSync(a.path('sub/x'), 0);
  const error = await unprivileged(repo, () => refusedCapture(repo, a, 'snapshot_incomplete'));
  expect(error.paths).toEqual(['sub']);
});

test('a file that changes while it is read is read again', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'first\n');
  const seen = join(repo.place.root, 'seen');
  const once = gitWrapper(
    repo,
    `if [ "$1" = update-index ] && [ ! -e '${seen}' ]; then : > '${seen}'; git "$@"; rc=$?; echo second > '${a.path('f')}'; exit $rc; fi`,
  );
  const taken = await capture(repo, a, { program: once });
  expect(existsSync(seen)).toBe(true);
  expect(contents(repo, taken.tree)['f']).toBe('second\n');
});

test('a file that appears or vanishes while the workspace is read is not missed', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ f: 'edited\n', vanishing: 'x\n' });
  const seen = join(repo.place.root, 'seen');
  const once = gitWrapper(
    repo,
    `if [ "$1" = update-index ] && [ ! -e '${seen}' ]; then : > '${seen}'; git "$@"; rc=$?; echo late > '${a.path('dir/late')}'; rm '${a.path('vanishing')}'; exit $rc; fi`,
  );
  const taken = await capture(repo, a, { program: once });
  expect(contents(repo, taken.tree)).toEqual({
    f: 'edited\n',
    'dir/a': 'a\n',
    'dir/b': 'b\n',
    'dir/late': 'late\n',
  });
});

test('git dying of a file that shrank is another try, not an old tree', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const seen = join(repo.place.root, 'seen');
  const dying = (condition: string): string =>
    gitWrapper(
      repo,
      `if [ "$1" = update-index ] ${condition}; then : > '${seen}'; : > "$GIT_INDEX_FILE.lock"; kill -BUS $$; fi`,
    );
  const taken = await capture(repo, a, { program: dying(`&& [ ! -e '${seen}' ]`) });
  expect(existsSync(seen)).toBe(true);
  expect(contents(repo, taken.tree)['f']).toBe('v2\n');
  await refusedCapture(repo, a, 'snapshot_unstable', { program: dying('') });
});

test('a workspace that does not come to rest is named with what changes, and can be retried', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  const busy = gitWrapper(repo, `[ "$1" = status ] && echo $$ >> '${a.path('dir/busy')}'`);
  const error = await refusedCapture(repo, a, 'snapshot_unstable', { program: busy });
  expect(error.paths).toEqual(['dir/busy']);
  expect(error.retryable).toBe(true);
  expect((await capture(repo, a, { program: busy, exclude: ['busy'] })).tree).not.toBe(repo.tree('main'));
});

test('a file that becomes a repository between two looks never becomes a gitlink', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('made', 'a file\n');
  const inner = join(repo.place.root, 'inner');
  repo.git('init', '-q', inner);
  repo.git('-C', inner, 'commit', '-q', '--allow-empty', '-m', 'inner');
  const program = gitWrapper(
    repo,
    `if [ "$1" = update-index ] && [ -f '${a.path('made')}' ]; then rm '${a.path('made')}'; cp -r '${inner}' '${a.path('made')}'; fi`,
  );
  const taken = await capture(repo, a, { program });
  expect(repo.git('ls-tree', '-r', taken.tree)).not.toContain('160000');
  expect(checksOf(taken)).toEqual(['nested_repository']);
});

test('a full disk is said to be one, whenever git meets it (G10)', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  for (const [command, said] of [
    ['update-index', 'error: unable to write file objects/ab/cd: No space left on device'],
    [
      'write-tree',
      'fatal: sha1 file index.lock write error. Out of diskspace\\nerror: No space left on device',
    ],
    ['status', 'fatal: unable to write new index file: No space left on device'],
  ]) {
    const full = gitWrapper(repo, `if [ "$1" = ${command} ]; then printf '${said}\\n' >&2; exit 128; fi`);
    const error = await refusedCapture(repo, a, 'disk_full', { program: full });
    expect(error.retryable, command).toBe(true);
  }
});

test('a workspace that is gone, or has no record any more, is said to be gone', async () => {
  const repo = newRepo();
  const { requestFor, workspacesOf } = await import('../support/captures.ts');
  for (const what of ['directory', 'record'] as const) {
    const a = repo.worktree(`a-${what}`);
    const request = await requestFor(repo, a);
    const store = await workspacesOf(repo);
    rmSync(what === 'directory' ? a.dir : request.worktree.adminDir, { recursive: true });
    const calls = [
      store.capture(request),
      store.compare(request, request.base),
      store.listLeftovers(request.worktree),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status === 'rejected' && outcome.reason.code, what).toBe('source_gone');
    }
  }
  const b = repo.worktree('b');
  const request = await requestFor(repo, b);
  renameSync(b.dir, `${b.dir}-real`);
  repo.write('../b', linkTo(`${b.dir}-real`));
  await expect((await workspacesOf(repo)).capture(request)).rejects.toMatchObject({ code: 'source_gone' });
});

test('a workspace that goes away while it is read is said to be gone', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  const program = gitWrapper(repo, `[ "$1" = status ] && rm -rf '${a.dir}'`);
  await refusedCapture(repo, a, 'source_gone', { program });
});

test('a workspace that was never checked out is not taken for one in which all was deleted', async () => {
  const repo = newRepo();
  repo.git('worktree', 'add', '-q', '--no-checkout', '--detach', '../a');
  const { Repository: Checkout } = await import('../support/repo.ts');
  const a = new Checkout(repo.place, join(repo.place.root, 'a'));
  const error = await refusedCapture(repo, a, 'snapshot_incomplete');
  expect(error.paths).toEqual(['dir/a', 'dir/b', 'f']);
  expect(error.hint).toContain(`git -C ${a.dir} reset`);
  a.git('reset', '-q');
  expect(contents(repo, (await capture(repo, a)).tree)).toEqual({});
});

test('names that no commit may hold are named', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ 'x/.GIT/config': 'x\n', f: 'v2\n' });
  const error = await refusedCapture(repo, a, 'snapshot_incomplete');
  expect(error.paths).toEqual(['x/.GIT/config']);
  a.write('x', null);
  a.write('.gitmodules', linkTo('f'));
  expect((await refusedCapture(repo, a, 'snapshot_incomplete')).paths).toEqual(['.gitmodules']);
});

test('a file whose conversion fails is named with what git said', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({
    '.gitattributes': '*.u16 text working-tree-encoding=UTF-16\n',
    'bad.u16': 'no byte order mark\n',
  });
  const error = await refusedCapture(repo, a, 'snapshot_incomplete');
  expect(error.paths).toEqual(['bad.u16']);
  expect(error.message).toContain('UTF-16');
});

// ---- content filters -------------------------------------------------------------------------------------------

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;

/** A git-lfs that turns content into a pointer of its length. */
function putLfs(repo: Repository): void {
  writeFileSync(
    join(repo.place.bin, 'git-lfs'),
    `#!/bin/sh\n[ "$1" = clean ] || exit 1\ncontent=$(cat)\ncase "$content" in fail*) exit 2;; esac\nprintf 'version https://git-lfs.github.com/spec/v1\\noid sha256:${'b'.repeat(64)}\\nsize %s\\n' "\${#content}"\n`,
  );
  chmodSync(join(repo.place.bin, 'git-lfs'), 0o755);
}

test('with git-lfs, large files go in as pointers; when it fails, nothing goes in raw', async () => {
  const repo = newRepo();
  putLfs(repo);
  appendFileSync(
    repo.place.gitConfig,
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n',
  );
  const a = repo.worktree('a');
  a.writeAll({ '.gitattributes': '*.bin filter=lfs -text\n', 'x.bin': 'twelve bytes' });
  const taken = await capture(repo, a);
  expect(contents(repo, taken.tree)['x.bin']).toBe(
    `version https://git-lfs.github.com/spec/v1\noid sha256:${'b'.repeat(64)}\nsize 12\n`,
  );
  a.write('y.bin', 'fail, please');
  expect((await refusedCapture(repo, a, 'snapshot_incomplete')).paths).toEqual(['y.bin']);
});

test('without git-lfs, or with other commands in its name, content is refused and pointers are taken', async () => {
  const repo = newRepo();
  const a = repo.worktree('a');
  a.writeAll({ '.gitattributes': '*.bin filter=lfs\n', 'pointer.bin': POINTER, 'empty.bin': '' });
  const canary = join(repo.place.root, 'ran');
  const settings = [
    '',
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n',
    `[filter "lfs"]\n\tclean = touch ${canary}; cat\n\tprocess = touch ${canary}\n`,
    `[filter "lfs"]\n\tclean = git-lfs clean -- %f\n[lfs "extension.x"]\n\tclean = touch ${canary}\n`,
  ];
  const base = readFileSync(repo.place.gitConfig, 'utf8');
  for (const [i, setting] of settings.entries()) {
    if (i === 3) putLfs(repo);
    writeFileSync(repo.place.gitConfig, base + setting);
    a.write('raw.bin', null);
    expect(contents(repo, (await capture(repo, a)).tree)['pointer.bin'], setting).toBe(POINTER);
    a.write('raw.bin', `${POINTER}not quite\n`);
    const error = await refusedCapture(repo, a, 'snapshot_incomplete');
    expect(error.paths, setting).toEqual(['raw.bin']);
    expect(error.message).toContain('filter lfs');
    expect(existsSync(canary)).toBe(false);
  }
});

test('a git-lfs that lies in the workspace is none', async () => {
  const repo = newRepo();
  appendFileSync(repo.place.gitConfig, '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n');
  const a = repo.worktree('a');
  const canary = join(repo.place.root, 'ran');
  a.writeAll({ '.gitattributes': '*.bin filter=lfs\n', 'x.bin': 'raw\n' });
  a.write('bin/git-lfs', { mode: '100755', content: `#!/bin/sh\ntouch ${canary}; cat\n` });
  for (const first of [a.path('bin'), '.', 'bin', '']) {
    const env = { PATH: `${first}:${process.env['PATH'] ?? ''}` };
    await refusedCapture(repo, a, 'snapshot_incomplete', { env });
  }
  expect(existsSync(canary)).toBe(false);
});

test('other filters run only when the settings name them, and never from a file of the workspace', async () => {
  const repo = newRepo();
  const canary = join(repo.place.root, 'ran');
  mkdirSync(join(repo.place.root, 'tools'));
  writeFileSync(join(repo.place.bin, 'upper'), `#!/bin/sh\ntouch ${canary}\ntr a-z A-Z\n`);
  chmodSync(join(repo.place.bin, 'upper'), 0o755);
  repo.git('config', 'filter.upper.clean', 'upper');
  repo.git('config', 'filter.own.clean', './tools/clean.sh %f');
  repo.git('config', 'filter.node.clean', 'cat tools/clean.sh');
  const a = repo.worktree('a');
  a.writeAll({ '.gitattributes': '*.up filter=upper\n', 'x.up': 'text\n' });
  const error = await refusedCapture(repo, a, 'snapshot_incomplete');
  expect(error.paths).toEqual(['x.up']);
  expect(error.hint).toContain('snapshot.filters');
  expect(existsSync(canary)).toBe(false);
  const taken = await capture(repo, a, { filters: ['upper'] });
  expect(contents(repo, taken.tree)['x.up']).toBe('TEXT\n');

  a.write('tools/clean.sh', { mode: '100755', content: `#!/bin/sh\ntouch ${canary}.own\ncat\n` });
  for (const name of ['own', 'node']) {
    a.write('.gitattributes', `*.up filter=${name}\n`);
    const named = await refusedCapture(repo, a, 'snapshot_incomplete', { filters: [name] });
    expect(named.message).toContain('tools/clean.sh');
  }
  expect(existsSync(`${canary}.own`)).toBe(false);
});

test('files behind a filter that did not change need no filter', async () => {
  const repo = newRepo();
  repo.git('config', 'filter.upper.clean', 'tr a-z A-Z');
  repo.commit('filtered', { '.gitattributes': '*.up filter=upper\n', 'x.up': 'TEXT\n' });
  const a = repo.worktree('a');
  a.write('f', 'v2\n');
  expect(contents(repo, (await capture(repo, a)).tree)).toMatchObject({ f: 'v2\n', 'x.up': 'TEXT\n' });
});
