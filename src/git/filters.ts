// Which content filters (`filter.<name>`) may run while a workspace is captured. A filter is a command: it runs in the
// workspace, its name comes from an attributes file that an agent can write, and its definition may come from a
// private configuration that an agent can write too. So none runs, but for git-lfs with exactly the commands that
// git-lfs itself sets up, and those that the settings of the target branch name. All others are overridden with
// nothing. What must stay true: a path whose filter did not run is never taken in silence, since raw content behind a
// filter is a wrong snapshot; the caller asks for the attribute of each path that it takes.

import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { GitPath } from '../model/ids.ts';
import type { ConfigEntry } from './config-list.ts';

/** The commands that can run when a file goes into the repository (`clean`), out of it (`smudge`), or both. */
interface FilterCommands {
  readonly clean?: string;
  readonly smudge?: string;
  readonly process?: string;
}

export interface FilterDecision {
  /** Names of the filters that run. */
  readonly running: ReadonlySet<string>;
  /** Settings for every git call that may read a file. */
  readonly config: readonly (readonly [key: string, value: string])[];
  /** Why a filter that is configured does not run, for messages. */
  readonly refused: ReadonlyMap<string, string>;
}

const KINDS = ['clean', 'smudge', 'process'] as const;

/** What `git lfs install` and `git lfs install --skip-smudge` write. */
const LFS_COMMANDS: Readonly<Record<keyof FilterCommands, readonly string[]>> = {
  clean: ['git-lfs clean -- %f'],
  smudge: ['git-lfs smudge -- %f', 'git-lfs smudge --skip -- %f'],
  process: ['git-lfs filter-process', 'git-lfs filter-process --skip'],
};

/** The filters that a configuration defines; a later value of a key wins. */
function filtersOf(config: readonly ConfigEntry[]): Map<string, FilterCommands> {
  const filters = new Map<string, FilterCommands>();
  for (const { key, value } of config) {
    const match = /^filter\.(.*)\.([^.]+)$/s.exec(key);
    if (match === null) continue;
    const name = match[1] ?? '';
    const kind = match[2] ?? '';
    const known = KINDS.find((one) => one === kind);
    filters.set(name, { ...filters.get(name), ...(known === undefined ? {} : { [known]: value ?? '' }) });
  }
  return filters;
}

/** True when git-lfs is what runs, and it runs no command of the configuration in turn. */
function isStandardLfs(commands: FilterCommands, config: readonly ConfigEntry[]): boolean {
  return (
    (commands.clean !== undefined || commands.process !== undefined) &&
    KINDS.every((kind) => LFS_COMMANDS[kind].includes(commands[kind] ?? LFS_COMMANDS[kind][0] ?? '')) &&
    !config.some(({ key }) => key.startsWith('lfs.extension.'))
  );
}

/** The file that a program name stands for on the PATH; undefined when there is none, or when the search would pass a
 * folder that is not absolute or lies in the workspace. */
export function findProgram(name: string, path: string, workspace: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder) || !relative(workspace, folder).startsWith('..')) return undefined;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // the next folder
    }
  }
  return undefined;
}

/** A word of a filter's command that names a file of the workspace: running it would run what an agent wrote. */
function findWorkspaceWord(
  commands: FilterCommands,
  isInWorkspace: (word: string) => boolean,
): string | undefined {
  for (const kind of KINDS) {
    const words = (commands[kind] ?? '')
      .split(/[\s;&|<>()"'`$=]+/)
      .filter((word) => word !== '' && word !== '%f');
    // A first word without a slash is looked for on the PATH only.
    const found = words.find((word, i) => (i > 0 || word.includes('/')) && isInWorkspace(word));
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface FilterSurroundings {
  /** Names that the settings allow. */
  readonly allowed: readonly string[];
  readonly hasLfs: boolean;
  /** True when a word of a command, relative to the top of the workspace, is a file there. */
  readonly isInWorkspace: (word: string) => boolean;
}

/** Decides for every configured filter. Throws `snapshot_incomplete` for a name that cannot be overridden. */
export function decideFilters(config: readonly ConfigEntry[], around: FilterSurroundings): FilterDecision {
  const running = new Set<string>();
  const refused = new Map<string, string>();
  const overrides: [string, string][] = [];
  for (const [name, commands] of filtersOf(config)) {
    if (name.includes('\ufffd')) {
      throw new SennitError(
        'snapshot_incomplete',
        'The configuration defines a content filter whose name is not UTF-8.',
        {
          hint: 'Rename or remove it: `git config --list --show-origin` shows where it is.',
        },
      );
    }
    const reason = refusal(name, commands, config, around);
    if (reason === undefined) {
      running.add(name);
      // A filter that fails without being required would leave raw content in the snapshot.
      overrides.push([`filter.${name}.required`, 'true']);
      continue;
    }
    refused.set(name, reason);
    for (const kind of KINDS) overrides.push([`filter.${name}.${kind}`, '']);
    overrides.push([`filter.${name}.required`, 'false']);
  }
  return { running, config: overrides, refused };
}

function refusal(
  name: string,
  commands: FilterCommands,
  config: readonly ConfigEntry[],
  around: FilterSurroundings,
): string | undefined {
  const named = around.allowed.includes(name);
  if (name === 'lfs' && isStandardLfs(commands, config)) {
    return around.hasLfs ? undefined : 'git-lfs is not installed';
  }
  if (!named) return name === 'lfs' ? 'its commands are not those of git-lfs' : 'it is not allowed to run';
  const word = findWorkspaceWord(commands, around.isInWorkspace);
  return word === undefined ? undefined : `its command names ${word}, which is a file of the workspace`;
}

/** What `git check-attr -z --stdin filter` says: `path\0filter\0lfs\0`; only paths with a filter by name. */
export function parseFilterAttributes(bytes: Buffer): Map<GitPath, string> {
  const found = new Map<GitPath, string>();
  const fields = bytes.toString('latin1').split('\0');
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const value = fields[i + 2] ?? 'unspecified';
    if (value === 'unspecified' || value === 'unset' || value === 'set') continue;
    found.set(fields[i] as GitPath, Buffer.from(value, 'latin1').toString('utf8'));
  }
  return found;
}

/** The longest file that git-lfs itself still takes for a pointer, in bytes. */
export const LFS_POINTER_LIMIT = 1024;

/** True for content that git-lfs would leave as it is: a pointer, or nothing at all. */
export function isLfsPointer(content: Buffer): boolean {
  if (content.length === 0) return true;
  if (content.length >= LFS_POINTER_LIMIT) return false;
  return /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\d-[^\n]*\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n$/.test(
    content.toString('latin1'),
  );
}
