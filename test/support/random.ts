// Parameters of property tests: the same cases on every run, so that a red test is the fault of a change. More cases:
// SENNIT_TEST_SEED=<number> for other ones, SENNIT_TEST_RUNS=<factor> for more of them.

import type fc from 'fast-check';

const SEED = 20_261_130;

/** For `fc.assert`: `runs` cases from a fixed seed. */
export function cases(runs: number): Pick<fc.Parameters, 'seed' | 'numRuns' | 'endOnFailure'> {
  return {
    seed: Number(process.env['SENNIT_TEST_SEED'] ?? SEED),
    numRuns: Math.ceil(runs * Number(process.env['SENNIT_TEST_RUNS'] ?? 1)),
  };
}
