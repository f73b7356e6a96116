// A bare git dir of our own in front of the repository's objects. It has its own config, no hooks, no merge or filter
// drivers and an empty user configuration, and names the repository's objects by GIT_OBJECT_DIRECTORY. So what is asked
// here depends on nothing but the ids that go in (not on `merge.renames`, attributes in a checkout, or a machine's
// configuration), and nothing that an agent wrote into a workspace or the shared config can run. With a quarantine new
// objects go to a folder that is thrown away. What must stay true: refs of the repository are never touched from here.

import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { RepositoryPlace } from '../ports/git.ts';
import type { Coprocess, GitCall, GitResult, GitSpawner } from './spawn.ts';

export interface HermeticOptions {
  /** Folder for the git dir; made when missing. Inside the state dir of the repository. */
  readonly parent: string;
  /** New objects go into the git dir and vanish with it; reads see both. */
  readonly quarantine: boolean;
  /** Object folder of another quarantine that is read besides the repository's. */
  readonly over?: string | undefined;
}

/** Makes the git dir. `close` ends its co-processes and removes it. */
export async function openHermeticGit(
  spawner: GitSpawner,
  place: RepositoryPlace,
  options: HermeticOptions,
): Promise<HermeticGit> {
  await mkdir(options.parent, { recursive: true });
  const dir = await mkdtemp(join(options.parent, 'objects-'));
  const sha256 = place.objectFormat === 'sha256';
  const config = [
    '[core]',
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    '\tbare = true',
    '[merge]',
    '\tconflictStyle = diff3',
    '\trenames = true',
    '\trenameLimit = 7000',
    '\tdirectoryRenames = false',
    ...(sha256 ? ['[extensions]', '\tobjectFormat = sha256'] : []),
    '',
  ];
  await Promise.all([
    writeFile(join(dir, 'config'), config.join('\n')),
    writeFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n'),
    writeFile(join(dir, 'empty'), ''),
    mkdir(join(dir, 'refs', 'heads'), { recursive: true }),
    mkdir(join(dir, 'objects', 'info'), { recursive: true }),
    mkdir(join(dir, 'new'), { recursive: true }),
  ]);
  return new HermeticGit(spawner, place, dir, options);
}

/** Folders as GIT_ALTERNATE_OBJECT_DIRECTORIES lists them; quoted, so that any name is one. */
function searchPath(folders: readonly string[]): string {
  return folders.map((folder) => JSON.stringify(folder)).join(delimiter);
}

export class HermeticGit {
  readonly dir: string;
  readonly place: RepositoryPlace;
  /** Where new objects go when they are quarantined. */
  readonly objectsDir: string | undefined;
  /** Attributes file in use for merges; '' for none. */
  attributes = '';
  readonly #spawner: GitSpawner;
  readonly #env: Record<string, string>;
  /** Object folders that are read besides the one that is written to. */
  readonly #alternates: readonly string[];
  readonly #processes = new Map<string, Coprocess>();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(spawner: GitSpawner, place: RepositoryPlace, dir: string, options: HermeticOptions) {
    this.#spawner = spawner;
    this.place = place;
    this.dir = dir;
    const objects = join(place.commonDir, 'objects');
    this.objectsDir = options.quarantine ? join(dir, 'objects') : undefined;
    this.#alternates = [...(options.over === undefined ? [] : [options.over]), objects];
    this.#env = {
      GIT_CONFIG_GLOBAL: join(dir, 'empty'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_OBJECT_DIRECTORY: this.objectsDir ?? objects,
      ...(options.quarantine ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: searchPath(this.#alternates) } : {}),
      ...(place.shallow ? { GIT_SHALLOW_FILE: join(place.commonDir, 'shallow') } : {}),
    };
  }

  #call(call: GitCall): GitCall {
    return {
      ...call,
      gitDir: this.dir,
      cwd: this.dir,
      env: { ...this.#env, ...call.env },
      config: [
        ['core.attributesFile', this.attributes],
        // What vanishes soon is not worth compressing.
        ...(this.objectsDir === undefined ? [] : [['core.looseCompression', '0'] as const]),
        ...(call.config ?? []),
      ],
    };
  }

  /** Runs with a folder of new objects that is gone when this returns: for answers whose objects nobody needs. */
  async runAndForget(name: string, call: GitCall): Promise<GitResult> {
    const folder = join(this.dir, name);
    await mkdir(folder);
    try {
      return await this.run({
        ...call,
        config: [['core.looseCompression', '0'], ...(call.config ?? [])],
        env: {
          GIT_OBJECT_DIRECTORY: folder,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: searchPath([
            ...(this.objectsDir === undefined ? [] : [this.objectsDir]),
            ...this.#alternates,
          ]),
          ...call.env,
        },
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  run(call: GitCall): Promise<GitResult> {
    return this.#spawner.run(this.#call(call));
  }

  /** The co-process of a key, started at its first use. */
  #coprocess(args: readonly string[], key: string): Coprocess {
    let process = this.#processes.get(key);
    if (process === undefined) {
      process = this.#spawner.coprocess(this.#call({ args }));
      this.#processes.set(key, process);
    }
    return process;
  }

  /** Runs `work` after all earlier work of the same name. */
  queued<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(name) ?? Promise.resolve();
    const next = before.then(work, work);
    this.#queues.set(
      name,
      next.catch(() => undefined),
    );
    return next;
  }

  /** Asks a co-process at once and reads its answer in its turn: many questions are under way at a time. Lanes are
   * processes of the same words side by side. */
  asked<T>(
    args: readonly string[],
    question: string | Uint8Array,
    answer: (process: Coprocess) => Promise<T>,
    lane = 0,
  ): Promise<T> {
    const key = `${lane} ${args.join(' ')}`;
    const process = this.#coprocess(args, key);
    process.write(question);
    return this.queued(key, () => answer(process));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.close()));
    await rm(this.dir, { recursive: true, force: true });
    // The folder of this process, unless something else of it is there.
    await rmdir(dirname(this.dir)).catch(() => undefined);
  }
}
