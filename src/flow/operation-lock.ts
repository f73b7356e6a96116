// An operation that a process works on is held by a lock of its own: whoever gets the lock knows that nobody works on
// the operation, whatever the ledger says of its owner, also where the owner's process cannot be seen from here (another
// container). So the lock is taken before the operation is written down as running, and let go after its last word.

import { SennitError } from '../model/errors.ts';
import type { OperationId } from '../model/ids.ts';
import type { HeldLock } from '../ports/ledger.ts';
import type { Context } from './context.ts';

/** How long a command waits for another that is just ending its work on the same operation. Milliseconds. */
const HOLD_WAIT = 2_000;

export function operationLockName(operation: OperationId): string {
  return `operation ${operation}`;
}

/** Works on an operation while holding it. Throws `repository_busy` when another process does. */
export async function whileHolding<T>(
  context: Context,
  operation: OperationId,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await context.locks.acquire(operationLockName(operation), HOLD_WAIT);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Holds an operation that nobody works on; undefined when a living process does. */
export async function tryHoldOperation(
  context: Pick<Context, 'locks'>,
  operation: OperationId,
): Promise<HeldLock | undefined> {
  try {
    return await context.locks.acquire(operationLockName(operation), 0);
  } catch (error) {
    if (error instanceof SennitError && error.code === 'repository_busy') return undefined;
    throw error;
  }
}
