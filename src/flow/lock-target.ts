import type { HeldLock } from '../ports/ledger.ts';
import type { LandSession } from './land-session.ts';

/** How long another landing may hold the target. Milliseconds. */
const TARGET_WAIT = 30 * 60_000;

/** The lock under which a branch is moved: one process at a time. Throws `repository_busy`. */
export function lockTarget(session: LandSession): Promise<HeldLock> {
  return session.context.locks.acquire(`target ${session.data.target}`, TARGET_WAIT);
}
