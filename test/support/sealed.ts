// A place of its own for one test: a temporary folder with an empty home, its own XDG folders and its own global
// git configuration, and the environment in which every child of the test runs. Nothing of the machine's git
// set-up or of the caller's GIT_* variables gets in, and nothing gets out: a directory outside the folder is
// refused. Dates come from a counter that moves on by one minute with every child, so histories are the same on
// every run. The folder is removed when the test ends, also when it fails.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of a sealed place: where a child is started. */
export interface Located {
  readonly place: SealedPlace;
  /** Absolute path. */
  readonly dir: string;
}

/** The user whom every commit of a test is by, unless the test says otherwise. */
export const USER = { name: 'Test User', email: 'user@test.invalid' } as const;

const GLOBAL_GIT_CONFIG = `[user]
\tname = ${USER.name}
\temail = ${USER.email}
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[core]
\tautocrlf = false
[commit]
\tgpgSign = false
[protocol "file"]
\tallow = always
[advice]
\tdetachedHead = false
`;

/** Variables of the caller that a child may see; all others are left behind. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'SYSTEMROOT'];

const FIRST_SECOND = Date.UTC(2026, 0, 1) / 1000;

export class SealedPlace implements Located {
  /** The temporary folder, symbolic links resolved. */
  readonly root: string;
  readonly home: string;
  /** First on the PATH of every child: put fake programs here. */
  readonly bin: string;
  /** The global git configuration of this place; a test may write to it. */
  readonly gitConfig: string;
  #second = FIRST_SECOND;

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'sennit-test-')));
    this.home = join(this.root, 'home');
    this.bin = join(this.root, 'bin');
    this.gitConfig = join(this.root, 'gitconfig');
    for (const folder of [
      'home',
      'bin',
      'tmp',
      'xdg/config',
      'xdg/data',
      'xdg/state',
      'xdg/cache',
      'xdg/runtime',
    ]) {
      mkdirSync(join(this.root, folder), { recursive: true });
    }
    chmodSync(join(this.root, 'xdg/runtime'), 0o700);
    writeFileSync(this.gitConfig, GLOBAL_GIT_CONFIG);
  }

  get place(): SealedPlace {
    return this;
  }

  get dir(): string {
    return this.root;
  }

  /** A directory below the root, made when it is missing. */
  at(path: string): Located {
    const dir = this.inside(join(this.root, path));
    mkdirSync(dir, { recursive: true });
    return { place: this, dir };
  }

  /** The path itself when it lies in this place; throws otherwise. */
  inside(path: string): string {
    const full = resolve(path);
    const way = relative(this.root, full);
    if (way === '..' || way.startsWith(`..${sep}`)) {
      throw new Error(`refused: ${full} is outside of the test's own folder ${this.root}`);
    }
    return full;
  }

  /** The next moment of the counter, in seconds since the epoch. */
  tick(): number {
    this.#second += 60;
    return this.#second;
  }

  /** The whole environment of one child. `extra` wins; an empty text stays, `undefined` removes. */
  env(extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const date = `${this.tick()} +0000`;
    const all: Record<string, string | undefined> = {
      ...Object.fromEntries(PASSED_ON.map((key) => [key, process.env[key]])),
      PATH: `${this.bin}:${process.env['PATH'] ?? '/usr/bin:/bin'}`,
      HOME: this.home,
      TMPDIR: join(this.root, 'tmp'),
      XDG_CONFIG_HOME: join(this.root, 'xdg/config'),
      XDG_DATA_HOME: join(this.root, 'xdg/data'),
      XDG_STATE_HOME: join(this.root, 'xdg/state'),
      XDG_CACHE_HOME: join(this.root, 'xdg/cache'),
      XDG_RUNTIME_DIR: join(this.root, 'xdg/runtime'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      NO_COLOR: '1',
      GIT_CONFIG_GLOBAL: this.gitConfig,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CEILING_DIRECTORIES: this.root,
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
      ...extra,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  /** Takes the right to write from everything below a directory, or gives it back. */
  setWritable(path: string, writable: boolean): void {
    const stat = lstatSync(this.inside(path));
    if (stat.isSymbolicLink()) return;
    if (writable) chmodSync(path, stat.mode | (stat.isDirectory() ? 0o700 : 0o200));
    if (stat.isDirectory())
      for (const name of readdirSync(path)) this.setWritable(join(path, name), writable);
    if (!writable) chmodSync(path, stat.mode & ~0o222);
  }

  /** Removes the folder, whatever rights its files were left with. */
  cleanUp(): void {
    for (let attempt = 0; ; attempt += 1) {
      try {
        rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
        return;
      } catch (error) {
        // A read-only folder of a test, or a child that still writes.
        if (attempt === 3) throw error;
        this.setWritable(this.root, true);
      }
    }
  }
}

/** A sealed place for the running test; it is removed when the test ends. */
export function sealedPlace(): SealedPlace {
  const place = new SealedPlace();
  onTestFinished(() => place.cleanUp());
  return place;
}
