/** As `Promise.all`, but only ends when every step has ended, also when one fails: no git process is left that still
 * writes into a folder which is about to be removed. Of several failures the first in the list is thrown. */
export async function settled<T extends readonly unknown[] | []>(
  steps: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(steps);
  return Promise.all(steps);
}
