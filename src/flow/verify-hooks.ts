// With --verify the hooks of the user's repository have their say, as at a commit of the user's own: `pre-commit` in a
// fresh worktree with the landing staged, then `commit-msg`. Without it none runs, because a hook is code that can come
// from the tree that is being landed.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { displayPath, type Oid } from '../model/ids.ts';
import type { LandSession } from './land-session.ts';
import { shellWord } from './packet.ts';
import { closeGateWorktree, openGateWorktree } from './validate.ts';

/** Runs the commit hooks on a tree and its message; gives the message as `commit-msg` leaves it. Throws `hook_failed`. */
export async function verifyByHooks(
  session: LandSession,
  tip: Oid,
  tree: Oid,
  message: string,
): Promise<string> {
  const { context, objects, operation } = session;
  const folder = join(context.place.stateDir, 'operations', operation);
  const file = join(folder, 'message');
  await mkdir(folder, { recursive: true });
  await writeFile(file, message);
  const hooks = await context.refs.readHooksFolder();
  const scratch = await openGateWorktree(context, operation, 'hooks', tip);
  try {
    await context.checkouts.stageTree(scratch, tree);
    for (const [hook, args] of [
      ['pre-commit', ''],
      ['commit-msg', ` -- ${shellWord(file)}`],
    ] as const) {
      context.narrator.step(`hook ${hook}`);
      const logFile = join(folder, `hook-${hook}.log`);
      const result = await context.runner.run({
        command: `git -c core.hooksPath=${shellWord(hooks)} hook run --ignore-missing ${hook}${args}`,
        cwd: scratch.path,
        timeoutMs: context.settings.gates.timeoutMs,
        outputLimit: context.settings.gates.outputBytes,
        logFile,
      });
      if (result.outcome !== 'passed') {
        throw new SennitError(
          'hook_failed',
          `The hook ${hook} refused the landing (${result.outcome}):\n${result.tail}`,
          {
            hint: `Nothing has been changed. Its output is in ${logFile}. Without --verify hooks do not run.`,
          },
        );
      }
    }
    const staged = await context.checkouts.readStaged(scratch);
    if (staged !== tree) {
      const paths = (await objects.diffTrees(tree, staged)).map(({ path }) => displayPath(path));
      throw new SennitError(
        'hook_failed',
        `The hook pre-commit changed what would be landed: ${paths.slice(0, 5).join(', ')}.`,
        {
          hint: 'Nothing has been changed. Run that hook in the sources, or declare what it writes under `generated`.',
          paths,
        },
      );
    }
    return (await readFile(file, 'utf8')).trim();
  } finally {
    await closeGateWorktree(context, scratch);
  }
}
