import { readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { GitSpawner } from './spawn.ts';

/** What the git at hand can do. Each flag names the version that brought it (source: git's release notes). */
export interface GitFeatures {
  /** Version as `[2, 39, 5]`. */
  readonly version: readonly [number, number, number];
  /** `--attr-source` and GIT_ATTR_SOURCE work with merge-tree: 2.43. */
  readonly attrSource: boolean;
  /** `merge-tree --stdin` flushes each record and may be a co-process: 2.49. */
  readonly mergeTreeFlush: boolean;
  /** Renames to self no longer lose a file silently: 2.51.1. */
  readonly renameToSelfFixed: boolean;
}

/** The oldest git that is supported and tested: it has `merge-tree --write-tree --stdin`. */
export const GIT_FLOOR = [2, 39, 0] as const;

/** `git version 2.39.5 (Apple Git-154)` to `[2, 39, 5]`; undefined for anything else. */
export function parseGitVersion(text: string): [number, number, number] | undefined {
  const match = /^git version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (match === null) return undefined;
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

export function atLeast(
  version: readonly [number, number, number],
  wanted: readonly [number, number, number],
): boolean {
  for (let i = 0; i < 3; i += 1) {
    const a = version[i] ?? 0;
    const b = wanted[i] ?? 0;
    if (a !== b) return a > b;
  }
  return true;
}

export function featuresOf(version: readonly [number, number, number]): GitFeatures {
  return {
    version,
    attrSource: atLeast(version, [2, 43, 0]),
    mergeTreeFlush: atLeast(version, [2, 49, 0]),
    renameToSelfFixed: atLeast(version, [2, 51, 1]),
  };
}

/** The git on the PATH as its file says: as long as that is the same, so is the version. */
async function fingerprint(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) return undefined;
    const info = await stat(join(folder, 'git')).catch(() => undefined);
    if (info?.isFile() === true)
      return `${join(folder, 'git')} ${info.ino} ${info.size} ${info.mtimeMs} ${info.ctimeMs}`;
  }
  return undefined;
}

async function recall(file: string, mark: string | undefined): Promise<[number, number, number] | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const [line, version = ''] = text.split('\n');
  return mark !== undefined && line === mark ? parseGitVersion(version) : undefined;
}

/** The version of git: asked once for a git, then remembered in `file` where its folder exists. Throws `git_missing` or
 * `git_too_old`. */
export async function readGitVersion(
  spawner: GitSpawner,
  file: string,
): Promise<readonly [number, number, number]> {
  const mark = await fingerprint(spawner.searchPath);
  const known = await recall(file, mark);
  if (known !== undefined) return known;
  const said = (await spawner.run({ args: ['version'] })).stdout.toString('utf8').trim();
  const version = parseGitVersion(said);
  if (version === undefined || !atLeast(version, GIT_FLOOR)) {
    throw new SennitError(
      'git_too_old',
      `Sennit needs git ${GIT_FLOOR.slice(0, 2).join('.')} or newer; found "${said}".`,
      {
        hint: 'Install a newer git, or put one earlier on the PATH.',
      },
    );
  }
  // Only a hint for the next run: where it cannot be written it is asked again.
  if (mark !== undefined) await writeFile(file, `${mark}\n${said}\n`).catch(() => undefined);
  return version;
}
