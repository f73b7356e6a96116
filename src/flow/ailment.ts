import type { Finding } from '../model/finding.ts';

/** Something that `doctor` found, and what it can do about it without risk; null where a person must decide. */
export interface Ailment {
  readonly finding: Finding;
  readonly fix: (() => Promise<void>) | null;
}

export function ailment(finding: Finding, fix: Ailment['fix'] = null): Ailment {
  return { finding, fix };
}
