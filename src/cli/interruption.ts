// Signals. The first one asks the command to stop: its own processes are ended, what it has begun is left in a state
// that the next command finishes or takes back. It gets a moment for that; then, or at a second signal, the process
// ends anyway, which is as safe as a crash.

/** How long a command may take to stop. Milliseconds. */
const GRACE_MS = 10_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly NodeJS.Signals[];

export interface Interruption {
  /** Aborted by the first signal. */
  readonly abort: AbortSignal;
  /** The first signal; undefined while there was none. */
  caught(): NodeJS.Signals | undefined;
  /** Rejects when the grace is over, or at a second signal; otherwise it never settles. */
  readonly expired: Promise<never>;
}

/** Catches the signals that ask a process to end. */
export function watchSignals(target: Pick<NodeJS.Process, 'on'> = process): Interruption {
  const controller = new AbortController();
  let first: NodeJS.Signals | undefined;
  const expired = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Error('the command did not stop in time'));
    for (const signal of SIGNALS) {
      target.on(signal, () => {
        if (first !== undefined) {
          give();
          return;
        }
        first = signal;
        setTimeout(give, GRACE_MS).unref();
        controller.abort();
      });
    }
  });
  // Whoever races it gets the rejection; without a race there is nobody to tell.
  expired.catch(() => undefined);
  return { abort: controller.signal, caught: () => first, expired };
}
