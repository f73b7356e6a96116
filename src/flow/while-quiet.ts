import type { Context } from './context.ts';

/** How long another clean-up, restore or undo may take. Milliseconds. */
const QUIET_WAIT = 60_000;

/** Does work that makes or removes workspaces of the user's: one process at a time in a repository. A dry run changes
 * nothing and waits for nobody. Throws `repository_busy`. */
export async function whileQuiet<T>(context: Context, dryRun: boolean, work: () => Promise<T>): Promise<T> {
  if (dryRun) return work();
  const lock = await context.locks.acquire('workspaces', QUIET_WAIT);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
