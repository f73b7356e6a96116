import { join } from 'node:path';
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
  return {
    commonDir,
    gitDir,
    topLevel: isBare || up === undefined || lines.length < 7 ? null : join(cwd, up),
    bare: isBare,
    objectFormat: objectFormat === 'sha256' ? 'sha256' : 'sha1',
    shallow: shallow === 'true',
    gitVersion: features.version,
    stateDir: join(commonDir, 'sennit'),
  };
}

function notFound(cwd: string, stderr: string): SennitError {
  if (stderr.includes('dubious ownership')) {
    return new SennitError('repository_missing', `git does not trust the repository at ${cwd}: it belongs to another user.`, {
      hint: `If it is yours, run: git config --global --add safe.directory '${cwd}'`,
    });
  }
  if (stderr.includes('this operation must be run in a work tree')) {
    return new SennitError('repository_missing', `The git configuration of ${cwd} is damaged: ${stderr.trim()}`, {
      hint: 'Run `sennit doctor`.',
    });
  }
  return new SennitError('repository_missing', `There is no git repository at ${cwd}.`, {
    hint: 'Run the command inside a repository, or name one with -C <directory>.',
  });
}
