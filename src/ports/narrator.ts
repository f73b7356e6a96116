/** Tells the user what is going on, on standard error and only when it takes a while. Never part of the answer. */
export interface Narrator {
  /** What is being done now, as a short phrase without a full stop. */
  step(text: string): void;
  /** Removes what stands on the screen; to be called before an answer is written. */
  done(): void;
}
