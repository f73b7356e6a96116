/** Time. Nothing that it says decides what a merge gives. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start, for durations. */
  elapsed(): number;
  sleep(ms: number): Promise<void>;
}
