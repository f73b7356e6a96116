import type { RepositoryPlace } from '../ports/git.ts';
import type { GitSpawner } from './spawn.ts';

/** A text file at a revision, with the commit it was read from; null where the revision has no such file. */
export async function readFileAt(
  spawner: GitSpawner,
  place: RepositoryPlace,
  revision: string,
  path: string,
): Promise<{ readonly text: string; readonly commit: string } | null> {
  const { stdout } = await spawner.run({
    args: ['cat-file', '--batch'],
    gitDir: place.commonDir,
    stdin: `${revision}:${path}\n${revision}^{commit}\n`,
  });
  const end = stdout.indexOf('\n');
  const head = /^[0-9a-f]+ blob (\d+)$/.exec(stdout.toString('latin1', 0, end));
  if (head === null) return null;
  const size = Number(head[1]);
  const after = stdout.toString('latin1', end + size + 2);
  return {
    text: stdout.toString('utf8', end + 1, end + 1 + size),
    commit: /^[0-9a-f]+/.exec(after)?.[0] ?? '',
  };
}
