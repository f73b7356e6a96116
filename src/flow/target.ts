import { SennitError } from '../model/errors.ts';
import type { Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Refs, RepositoryPlace } from '../ports/git.ts';

export interface Target {
  /** Full ref name. */
  readonly ref: string;
  /** Short branch name. */
  readonly name: string;
  readonly tip: Oid;
}

/** The branch to land on: as asked, else the one that is checked out where the command runs. Throws
 * `target_unknown`, `target_detached` or `repository_empty`. */
export async function findTarget(
  refs: Refs,
  place: RepositoryPlace,
  worktrees: readonly WorktreeInfo[],
  into: string | null,
): Promise<Target> {
  const here = worktrees.find(({ adminDir }) => adminDir === place.gitDir);
  const ref =
    into === null
      ? (here?.branch ?? (await bareHead(refs, place)))
      : into.startsWith('refs/')
        ? into
        : `refs/heads/${into}`;
  if (ref === null) {
    throw new SennitError(
      'target_detached',
      'No branch is checked out here, so there is no target to land on.',
      {
        hint: 'Name one with --into <branch>.',
      },
    );
  }
  const name = ref.replace(/^refs\/heads\//, '');
  if (!ref.startsWith('refs/heads/')) {
    throw new SennitError('target_unknown', `${name} is not a branch.`, {
      hint: 'The target must be a local branch.',
    });
  }
  const [tip] = await refs.resolveCommits([ref]);
  if (tip === undefined) {
    const branches = await refs.listRefs('refs/heads/');
    if (branches.length === 0) {
      throw new SennitError('repository_empty', 'This repository has no commit yet.', {
        hint: 'Make a first commit on the target branch; work can only be landed onto something.',
      });
    }
    const known = branches.slice(0, 5).map((branch) => branch.ref.replace(/^refs\/heads\//, ''));
    throw new SennitError('target_unknown', `There is no branch called ${name}.`, {
      hint: `Branches are: ${known.join(', ')}${branches.length > known.length ? ', …' : ''}.`,
    });
  }
  return { ref, name, tip };
}

/** In a bare repository the branch that HEAD names is the one that people mean. */
async function bareHead(refs: Refs, place: RepositoryPlace): Promise<string | null> {
  if (!place.bare || place.gitDir !== place.commonDir) return null;
  return refs.readHead();
}
