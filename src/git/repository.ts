import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import type { GitSpawner } from './spawn.ts';
import { readGitVersion } from './version.ts';

/** Finds the repository that `cwd` is in. Throws `repository_missing`, `git_missing` or `git_too_old`. */
export async function findRepository(spawner: GitSpawner, cwd: string): Promise<RepositoryPlace> {
  const found = await spawner.run({
    args: [
      'rev-parse',
      '--path-format=absolute',
      '--git-common-dir',
      '--git-dir',
      '--is-bare-repository',
      '--is-shallow-repository',
      '--show-object-format',
      '--show-cdup', // prints nothing in a bare repository, so it comes last
    ],
    cwd,
    accept: [0, 128, 129],
  });
  if (found.code !== 0) {
    // A git that is too old for these words is told as such.
    await readGitVersion(spawner, '');
    throw notFound(cwd, found.stderr);
  }
  const lines = found.stdout.toString('utf8').split('\n');
  const [commonDir = '', gitDir = '', bare, shallow, objectFormat, up] = lines;
  const isBare = bare === 'true';
  const topLevel = isBare || up === undefined || lines.length < 7 ? null : resolve(cwd, up);
  return {
    commonDir,
    gitDir,
    topLevel,
    bare: isBare,
    primary: await findPrimary(spawner, { commonDir, gitDir, topLevel, isBare }),
    objectFormat: objectFormat === 'sha256' ? 'sha256' : 'sha1',
    shallow: shallow === 'true',
    gitVersion: await readGitVersion(spawner, join(commonDir, 'sennit', 'git-version')),
    stateDir: join(commonDir, 'sennit'),
  };
}

/** Where the primary checkout is. From inside a linked worktree only the shared configuration tells whether there is
 * one; a git dir that is kept apart does not say where its checkout is. */
async function findPrimary(
  spawner: GitSpawner,
  at: { commonDir: string; gitDir: string; topLevel: string | null; isBare: boolean },
): Promise<string | null | undefined> {
  const { commonDir, gitDir, topLevel, isBare } = at;
  if (gitDir === commonDir && (isBare || topLevel !== null)) return isBare ? null : topLevel;
  const read = async (type: string, key: string): Promise<string> => {
    // Outside of any repository: git refuses to start in one whose core.worktree leads nowhere.
    const { stdout } = await spawner.run({
      args: ['config', '--file', join(commonDir, 'config'), type, '--get', key],
      cwd: '/',
      accept: [0, 1],
    });
    return stdout.toString('utf8').trim();
  };
  const [bare, worktree] = await Promise.all([
    read('--type=bool', 'core.bare'),
    read('--type=path', 'core.worktree'),
  ]);
  if (bare === 'true') return null;
  if (worktree !== '') {
    const path = resolve(commonDir, worktree);
    const parent = await stat(dirname(path)).catch(() => undefined);
    if (parent === undefined) throw lostWorkTree(join(commonDir, 'config'), path);
    return path;
  }
  return basename(commonDir) === '.git' ? dirname(commonDir) : undefined;
}

/** git starts nowhere in a repository whose core.worktree lies in a folder that is not there. */
function lostWorkTree(config: string, what: string): SennitError {
  return new SennitError(
    'repository_missing',
    `The git configuration is damaged: core.worktree leads to a folder that is not there (${what}).`,
    { hint: `Remove the setting: git config --file '${config}' --unset-all core.worktree` },
  );
}

function notFound(cwd: string, stderr: string): SennitError {
  if (stderr.includes('dubious ownership')) {
    return new SennitError(
      'repository_missing',
      `git does not trust the repository at ${cwd}: it belongs to another user.`,
      {
        hint: `If it is yours, run: git config --global --add safe.directory '${cwd}'`,
      },
    );
  }
  if (stderr.includes('Invalid path')) return lostWorkTree(join(cwd, '.git', 'config'), stderr.trim());
  if (stderr.includes('this operation must be run in a work tree')) {
    return new SennitError(
      'repository_missing',
      `The git configuration of ${cwd} is damaged: ${stderr.trim()}`,
      {
        hint: 'Run `sennit doctor`.',
      },
    );
  }
  return new SennitError('repository_missing', `There is no git repository at ${cwd}.`, {
    hint: 'Run the command inside a repository, or name one with -C <directory>.',
  });
}
