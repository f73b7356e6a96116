// A `git` in front of git that ends the command which started it at a chosen one of its calls: before git does its
// work, after it, while it goes on alone, or together with it in the middle of its work. So a landing is killed at every
// step that it takes outside of itself, however short the moment is.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SealedPlace } from './sealed.ts';

export type Moment = 'before' | 'after' | 'alone' | 'amid';

const script = (git: string): string => `#!/bin/sh
git='${git}'
[ -z "$TEST_KILL_LOG" ] && exec "$git" "$@"
echo "$*" >> "$TEST_KILL_LOG"
case "$TEST_KILL_CALL" in
  [0-9]*) [ "$(wc -l < "$TEST_KILL_LOG")" -ge "$TEST_KILL_CALL" ] ;;
  *) case "$*" in $TEST_KILL_CALL) true ;; *) false ;; esac ;;
esac && mkdir "$TEST_KILL_LOG.killed" 2>/dev/null || exec "$git" "$@"
echo "$*" > "$TEST_KILL_LOG.call"
case "$TEST_KILL_MOMENT" in
  before) kill -9 $PPID; exit 1 ;;
  after) "$git" "$@"; code=$?; kill -9 $PPID; exit $code ;;
  alone) kill -9 $PPID; exec "$git" "$@" ;;
  amid) "$git" "$@" <&0 & child=$!; sleep "$TEST_KILL_DELAY"; kill -9 $child $PPID; exit 1 ;;
esac
`;

/** Puts the killing git first on the path of a place. */
export class KillingGit {
  readonly #log: string;

  constructor(place: SealedPlace) {
    const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
    const file = join(place.bin, 'git');
    writeFileSync(file, script(real));
    chmodSync(file, 0o755);
    this.#log = join(place.root, 'calls');
  }

  /** Variables for a command that shall be killed at its `call`th call of git, counted from 1, or at the first one whose
   * words match a pattern of the shell. `delay` is in seconds, for `amid`. */
  env(call: number | string, moment: Moment, delay = 0.002): Record<string, string> {
    rmSync(this.#log, { force: true });
    rmSync(`${this.#log}.killed`, { recursive: true, force: true });
    rmSync(`${this.#log}.call`, { force: true });
    return {
      TEST_KILL_LOG: this.#log,
      TEST_KILL_CALL: String(call),
      TEST_KILL_MOMENT: moment,
      TEST_KILL_DELAY: String(delay),
    };
  }

  /** Calls of the last command. */
  calls(): string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').trimEnd().split('\n') : [];
  }

  /** The call at which it was killed; undefined when it ended before. */
  killedAt(): string | undefined {
    return existsSync(`${this.#log}.call`) ? readFileSync(`${this.#log}.call`, 'utf8').trim() : undefined;
  }
}
