import { SennitError } from '../model/errors.ts';
import { type GitPath, gitPathOfText } from '../model/ids.ts';
import { parseStatus, STATUS_ARGS, STATUS_IGNORED_ARG, type WorkspaceStatus } from './status-format.ts';
import { isBeyondLoop, nameSome } from './workspace-disk.ts';
import type { WorkspaceGit } from './workspace-git.ts';

/** A tracked file below a link that leads to itself: git calls it unreadable, but it is not there. */
const LOOP = /^(?!warning: ).*: Too many levels of symbolic links$/m;

/** What git says about places that it could not look into, although it ends with 0:
 * `warning: could not open directory 'a/': Permission denied`
 * `warning: unable to access 'a/.gitignore': Permission denied`
 * `a/b.ts: Permission denied`. Returns the paths. */
export function parseUnreadable(stderr: string): string[] {
  const paths = new Set<string>();
  for (const line of stderr.split('\n')) {
    const folder = /^warning: could not open directory '(.*?)\/?': /.exec(line);
    const rules = /^warning: unable to access '([^/].*)': (?:Permission denied|Input\/output error)/.exec(
      line,
    );
    const file = LOOP.test(line) ? null : /^(?!warning: |hint: )(.+): [A-Z][^:]*$/.exec(line);
    const path = folder?.[1] ?? rules?.[1] ?? file?.[1];
    if (path !== undefined) paths.add(path);
  }
  return [...paths].sort();
}

/** What a look at the disk is for. The `first` one keeps in the private index what it found out about touched files;
 * a `proof` does not need to know what is ignored; a look `again` leaves the index as it is. */
export type Look = 'first' | 'proof' | 'again';

/** A status, with the excluded paths that could not be read and about which it therefore says nothing. */
export interface LookedAt extends WorkspaceStatus {
  readonly unread: readonly GitPath[];
}

/** Compares the disk with a private index that holds the `tracked` paths. Throws `snapshot_incomplete` naming what could
 * not be read and is not excluded. */
export async function readStatus(
  git: WorkspaceGit,
  index: string,
  look: Look,
  tracked: readonly GitPath[],
  isExcluded: (path: GitPath) => boolean,
): Promise<LookedAt> {
  const { stdout, stderr } = await git.run(index, {
    args: look === 'proof' ? STATUS_ARGS : [...STATUS_ARGS, STATUS_IGNORED_ARG],
    // The proof runs beside write-tree, which needs the lock of the index.
    env: { GIT_OPTIONAL_LOCKS: look === 'first' ? '1' : '0' },
  });
  const status = parseStatus(stdout);
  if (stderr === '') return { ...status, unread: [] };
  const unread: GitPath[] = [];
  const wanted: string[] = [];
  for (const name of parseUnreadable(stderr)) {
    const path = gitPathOfText(name);
    if (isExcluded(path) || isExcluded(`${path}/.git` as GitPath)) unread.push(path);
    else wanted.push(name);
  }
  if (wanted.length > 0) throw unreadableError(wanted);
  if (!LOOP.test(stderr)) return { ...status, unread };
  const deleted = new Set(status.deleted);
  for (const path of tracked) if (isBeyondLoop(git.worktree.path, path)) deleted.add(path);
  return { ...status, unread, deleted: [...deleted] };
}

/** `snapshot_incomplete` for paths that this user may not read. */
export function unreadableError(paths: readonly string[]): SennitError {
  return new SennitError(
    'snapshot_incomplete',
    `These paths of the workspace cannot be read: ${nameSome(paths)}.`,
    {
      hint: 'Make them readable for the user who runs Sennit, delete them, or name them in the setting `snapshot.exclude`; then run the command again.',
      paths,
    },
  );
}
