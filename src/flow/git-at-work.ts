import type { Context } from './context.ts';

/** Whether a git is at work in one of the folders; null where processes cannot be seen. One that works in Sennit's own
 * scratch folders touches nothing of the user's. */
export function isGitAtWork({ place, system }: Context, folders: readonly string[]): boolean | null {
  const own = new Set((system.listOccupants(place.stateDir) ?? []).map(({ pid }) => pid));
  for (const folder of folders) {
    const occupants = system.listOccupants(folder);
    if (occupants === null) return null;
    const gits = occupants.filter(({ name }) => name === 'git' || name.startsWith('git-'));
    if (gits.some(({ pid }) => !own.has(pid))) return true;
  }
  return false;
}
