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

/** Full ref name of the branch to land on: as asked, else the one that is checked out where the command runs. Throws
 * `target_detached` or `target_unknown`. */
export async function targetRef(
  refs: Refs,
  place: RepositoryPlace,
  worktrees: readonly WorktreeInfo[],
  into: string | null,
): Promise<string> {
  const here = worktrees.find(({ adminDir }) => adminDir === place.gitDir);
  const named = into === null ? null : into.startsWith('refs/') ? into : `refs/heads/${into}`;
  const ref = named ?? here?.branch ?? (await bareHead(refs, place));
  if (ref === null) {
    throw new SennitError(
      'target_detached',
      'No branch is checked out here, so there is no target to land on.',
      {
        hint: 'Name one with --into <branch>.',
      },
    );
  }
  if (!ref.startsWith('refs/heads/')) {
    throw new SennitError('target_unknown', `${ref} is not a branch.`, {
      hint: 'The target must be a local branch.',
    });
  }
  return ref;
}

/** The target and where it is. Throws `target_unknown` or `repository_empty`. */
export async function findTarget(refs: Refs, ref: string): Promise<Target> {
  const name = ref.replace(/^refs\/heads\//, '');
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
