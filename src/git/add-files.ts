// Hashes files into a private index. git is given exactly the paths that differ; what it says when it cannot take one of
// them is turned into an error that names the path, or into another try when the file changed under its hands.

import { SennitError } from '../model/errors.ts';
import { displayPath, type GitPath, pathBytes } from '../model/ids.ts';
import { type FilterDecision, isLfsPointer, LFS_POINTER_LIMIT, parseFilterAttributes } from './filters.ts';
import { unreadableError } from './read-status.ts';
import { gitFailure } from './spawn.ts';
import { Unstable } from './unstable.ts';
import { listUnreadable, nameSome, readSmallFile } from './workspace-disk.ts';
import { pathInput, type WorkspaceGit } from './workspace-git.ts';

const ADD_ARGS = [
  'update-index',
  '--add', // also what is not in the index yet
  '--remove', // and what is gone meanwhile
  '--replace', // a file where a folder was, and a folder where a file was
  '-z',
  '--stdin',
] as const;

/** What git says of a file that changed between two looks. */
const RACE =
  /short read while indexing|add files inside instead|unsupported file type|is beyond a symbolic link/;

/** Takes the files at these paths into the index. Throws `snapshot_incomplete` or `Unstable`. */
export async function addFiles(git: WorkspaceGit, index: string, paths: readonly GitPath[]): Promise<void> {
  if (paths.length === 0) return;
  const { code, signal, stderr } = await git.run(index, {
    args: ADD_ARGS,
    stdin: pathInput(paths),
    accept: [0, 128],
    acceptSignals: ['SIGBUS'], // a file became shorter than it was when git mapped it
  });
  if (signal !== null) throw new Unstable('changed', []);
  if (code === 0) {
    // A name that no tree may hold: git only mentions it and ends with 0.
    if (/^Ignoring path /m.test(stderr)) throw unacceptable(stderr);
    return;
  }
  const unreadable = listUnreadable(git.worktree.path, paths);
  if (unreadable.length > 0) throw unreadableError(unreadable.map(displayPath));
  if (RACE.test(stderr)) throw new Unstable('changed', []);
  const failure = gitFailure(ADD_ARGS, code, null, stderr);
  if (failure.code === 'disk_full' || /object database|object file/.test(stderr)) throw failure;
  const name = findNamed(stderr, paths);
  throw name === undefined ? failure : incomplete(name, stderr);
}

/** The path that git's words are about:
 * `fatal: Unable to process path a.ts`, `fatal: BOM is required in 'a.ts' if encoded as UTF-16`,
 * `fatal: a.ts: clean filter 'lfs' failed`. */
function findNamed(stderr: string, paths: readonly GitPath[]): string | undefined {
  const known = new Map(paths.map((path) => [pathBytes(path).toString('utf8'), path]));
  for (const match of stderr.matchAll(/path (.*)$|'([^'\n]*)'|^fatal: (.*?): /gm)) {
    const path = known.get(match[1] ?? match[2] ?? match[3] ?? '');
    if (path !== undefined) return displayPath(path);
  }
  return undefined;
}

function unacceptable(stderr: string): SennitError {
  const names = [...stderr.matchAll(/^Ignoring path (.*)$/gm)].map((match) => match[1] ?? '');
  return new SennitError(
    'snapshot_incomplete',
    `git refuses these names, which no commit may hold: ${nameSome(names)}.`,
    {
      hint: 'Rename or delete them, or name them in the setting `snapshot.exclude`; then run the command again.',
      paths: names,
    },
  );
}

function incomplete(path: string, stderr: string): SennitError {
  const said = stderr.trim().split('\n').slice(0, 3).join(' / ');
  return new SennitError('snapshot_incomplete', `git cannot take ${path} as it is: ${said}`, {
    hint: 'Mend the file or the attribute that asks for its conversion, or name it in the setting `snapshot.exclude`; then run the command again.',
    paths: [path],
  });
}

/** Checks that no file was taken without a content filter that its attributes ask for. Throws `snapshot_incomplete`
 * naming path and filter. */
export async function requireFilters(
  git: WorkspaceGit,
  index: string,
  files: ReadonlyMap<GitPath, number>,
  { running, refused }: FilterDecision,
): Promise<void> {
  if (files.size === 0) return;
  const { stdout } = await git.run(index, {
    args: ['check-attr', '-z', '--stdin', 'filter'],
    stdin: pathInput([...files.keys()]),
  });
  const raw = [...parseFilterAttributes(stdout)].filter(
    ([path, filter]) => !running.has(filter) && !(filter === 'lfs' && isPointer(git.worktree.path, path)),
  );
  if (raw.length === 0) return;
  const names = raw.map(([path, filter]) => `${displayPath(path)} (filter ${filter})`);
  const reasons = new Set(
    raw.map(([, filter]) => `${filter}: ${refused.get(filter) ?? 'it is not configured'}`),
  );
  throw new SennitError(
    'snapshot_incomplete',
    `These files need a content filter that does not run: ${nameSome(names)}. ${nameSome([...reasons])}.`,
    {
      hint: raw.some(([, filter]) => filter === 'lfs')
        ? 'Install git-lfs and run `git lfs install`, then run the command again.'
        : 'Name the filter in the setting `snapshot.filters` if it is safe to run on what agents write.',
      paths: raw.map(([path]) => displayPath(path)),
    },
  );
}

function isPointer(root: string, path: GitPath): boolean {
  const content = readSmallFile(root, path, LFS_POINTER_LIMIT);
  return content !== undefined && isLfsPointer(content);
}
