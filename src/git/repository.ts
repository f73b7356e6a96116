import { basename, dirname, join, resolve } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import type { GitSpawner } from './spawn.ts';
import { readGitFeatures } from './version.ts';

/** Finds the repository that `cwd` is in. Throws `repository_missing`, `git_missing` or `git_too_old`. */
export async function findRepository(spawner: GitSpawner, cwd: string): Promise<RepositoryPlace> {
  const [features, found] = await Promise.all([
    readGitFeatures(spawner),
    spawner.run({
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
      accept: [0, 128],
    }),
  ]);
  if (found.code !== 0) throw notFound(cwd, found.stderr);
  const lines = found.stdout.toString('utf8').split('\n');
  const [commonDir = '', gitDir = '', bare, shallow, objectFormat, up] = lines;
  const isBare = bare === 'true';
  const topLevel = isBare || up === undefined || lines.length < 7 ? null : join(cwd, up);
  return {
    commonDir,
    gitDir,
    topLevel,
    bare: isBare,
    primary: await findPrimary(spawner, { commonDir, gitDir, topLevel, isBare }),
    objectFormat: objectFormat === 'sha256' ? 'sha256' : 'sha1',
    shallow: shallow === 'true',
    gitVersion: features.version,
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
    const { stdout } = await spawner.run({
      args: ['config', '--file', join(commonDir, 'config'), type, '--get', key],
      gitDir: commonDir,
      accept: [0, 1],
    });
    return stdout.toString('utf8').trim();
  };
  const [bare, worktree] = await Promise.all([
    read('--type=bool', 'core.bare'),
    read('--type=path', 'core.worktree'),
  ]);
  if (bare === 'true') return null;
  if (worktree !== '') return resolve(commonDir, worktree);
  return basename(commonDir) === '.git' ? dirname(commonDir) : undefined;
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
