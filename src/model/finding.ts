/** How much a finding weighs: `error` stops a landing, `warning` and `info` are told and recorded. */
export type Severity = 'error' | 'warning' | 'info';

/** Something that a check saw. `check` is a stable name (`noun_problem`), `message` is for people. */
export interface Finding {
  readonly check: string;
  readonly severity: Severity;
  readonly message: string;
  /** Paths for display. */
  readonly paths?: readonly string[];
  /** Name of the source that it concerns. */
  readonly source?: string;
  /** What to run about it. */
  readonly remedy?: string;
}
