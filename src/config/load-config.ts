// Settings come from three places: the defaults, the text of `sennit.yaml` at the tip of the target branch (read by
// the caller, never from a workspace), and flags; later ones win. Where each value is from is kept for `config
// explain`. YAML and schema are loaded only when there is a text: most repositories have none.

import { SennitError } from '../model/errors.ts';
import type { GateSetting, GeneratedRule, Settings } from '../model/settings.ts';
import { DEFAULT_SETTINGS } from './defaults.ts';
import { parseDuration } from './durations.ts';
import type { SettingsProblem } from './parse-settings.ts';
import type { SettingsFileContent } from './schema.ts';
import { parseSize } from './sizes.ts';

/** The text of `sennit.yaml` and where it is from, e.g. `sennit.yaml at main@1a2b3c4d`. */
export interface SettingsText {
  readonly text: string;
  readonly label: string;
}

/** What flags of the command line say; undefined where a flag was not given. */
export interface SettingsFlags {
  readonly into?: string | undefined;
  /** Commands of `--gate`, run after the configured ones. */
  readonly gates?: readonly string[] | undefined;
  /** `--no-gate`: none at all. */
  readonly noGate?: boolean | undefined;
  readonly message?: string | undefined;
  readonly verify?: boolean | undefined;
}

/** Every setting by its name in the file, in the order in which they are explained. */
export const SETTING_KEYS = [
  'target',
  'gates.root',
  'gates.timeout',
  'gates.output',
  'gates.max_runs',
  'ladder',
  'generated',
  'snapshot.max_file_size',
  'snapshot.filters',
  'snapshot.exclude',
  'guards.symlinks',
  'guards.gitlinks',
  'guards.markers',
  'message',
  'push.remote',
  'push.retries',
  'verify',
] as const;

export type SettingKey = (typeof SETTING_KEYS)[number];

/** Where a value is from; `where` is for people: `default`, `sennit.yaml at main@1a2b3c4d`, `flag --into`. */
export interface SettingOrigin {
  readonly from: 'default' | 'file' | 'flag';
  readonly where: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly origins: Readonly<Record<SettingKey, SettingOrigin>>;
}

const FILE = 'sennit.yaml';
const MOST_PROBLEMS = 20;

/** The settings of one run. `file` is null where the target branch has no `sennit.yaml`. Throws `config_invalid` with
 * every problem of the file. */
export async function loadSettings(
  file: SettingsText | null,
  flags: SettingsFlags = {},
): Promise<LoadedSettings> {
  const content = file === null ? {} : await requireContent(file);
  return {
    settings: withFlags(withFile(content), flags),
    origins: originsOf(content, file?.label ?? FILE, flags),
  };
}

async function requireContent(file: SettingsText): Promise<SettingsFileContent> {
  const { parseSettings } = await import('./parse-settings.ts');
  const parsed = parseSettings(file.text);
  if (parsed.outcome === 'valid') return parsed.content;
  throw invalidSettings(file.label, parsed.problems);
}

/** The error that tells all problems of a settings file, one a line: `sennit.yaml:3:5 gates.tiemout: is not a
 * setting; …`. */
function invalidSettings(label: string, problems: readonly SettingsProblem[]): SennitError {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(
      ({ line, column, key, message }) =>
        `${FILE}:${line}:${column}${key === '' ? '' : ` ${key}:`} ${message}`,
    );
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new SennitError(
    'config_invalid',
    `${label} has ${count}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    {
      hint: 'Correct the file on the target branch and commit it there; settings are read from that branch alone. `sennit schema config` prints all that it may hold.',
      paths: [FILE],
    },
  );
}

function withFile(content: SettingsFileContent): Settings {
  const { gates, snapshot, guards, push } = content;
  const d = DEFAULT_SETTINGS;
  return {
    target: content.target ?? d.target,
    gates: {
      root: gates?.root === undefined ? d.gates.root : gatesOf(gates.root),
      timeoutMs:
        (gates?.timeout === undefined ? undefined : parseDuration(gates.timeout)) ?? d.gates.timeoutMs,

      outputBytes: bytesOf(gates?.output) ?? d.gates.outputBytes,
      maxRuns: gates?.max_runs ?? d.gates.maxRuns,
    },
    ladder: content.ladder ?? d.ladder,
    generated: content.generated === undefined ? d.generated : generatedOf(content.generated),
    snapshot: {
      maxFileBytes: bytesOf(snapshot?.max_file_size) ?? d.snapshot.maxFileBytes,
      filters: snapshot?.filters ?? d.snapshot.filters,
      exclude: snapshot?.exclude ?? d.snapshot.exclude,
    },
    guards: {
      symlinks: guards?.symlinks ?? d.guards.symlinks,
      gitlinks: guards?.gitlinks ?? d.guards.gitlinks,
      markers: guards?.markers ?? d.guards.markers,
    },
    message: content.message ?? d.message,
    push: { remote: push?.remote ?? d.push.remote, retries: push?.retries ?? d.push.retries },
    verify: content.verify ?? d.verify,
  };
}

function withFlags(settings: Settings, flags: SettingsFlags): Settings {
  const { root } = settings.gates;
  return {
    ...settings,
    target: flags.into ?? settings.target,
    gates: {
      ...settings.gates,
      root: flags.noGate === true ? [] : [...root, ...flagGates(root, flags.gates ?? [])],
    },
    message: flags.message ?? settings.message,
    verify: flags.verify ?? settings.verify,
  };
}

function bytesOf(size: string | number | undefined): number | undefined {
  return size === undefined ? undefined : parseSize(size);
}

function gatesOf(root: string | Readonly<Record<string, string>>): GateSetting[] {
  if (typeof root === 'string') return [{ name: 'root', command: root }];
  return Object.entries(root).map(([name, command]) => ({ name, command }));
}

/** Gates of the command line are named `gate-1`, `gate-2`, past names that the file uses. */
function flagGates(configured: readonly GateSetting[], commands: readonly string[]): GateSetting[] {
  const taken = new Set(configured.map(({ name }) => name));
  let number = 0;
  return commands.map((command) => {
    do number += 1;
    while (taken.has(`gate-${number}`));
    return { name: `gate-${number}`, command };
  });
}

/** The file's rules, then the built-in ones; what the file takes out with `!` is out of all of them. */
function generatedOf(rules: NonNullable<SettingsFileContent['generated']>): GeneratedRule[] {
  const out = rules.flatMap(({ paths }) => paths.filter((path) => path.startsWith('!')));
  const own = rules.map(({ paths, by }) => ({
    paths: paths.filter((path) => !path.startsWith('!')),
    by: by ?? null,
  }));
  return [...own, ...DEFAULT_SETTINGS.generated]
    .filter(({ paths }) => paths.length > 0)
    .map(({ paths, by }) => ({ paths: [...paths, ...out], by }));
}

function originsOf(
  content: SettingsFileContent,
  label: string,
  flags: SettingsFlags,
): Record<SettingKey, SettingOrigin> {
  const flagOf: Partial<Record<SettingKey, string | false | undefined>> = {
    target: flags.into !== undefined && '--into',
    'gates.root': flags.noGate === true ? '--no-gate' : (flags.gates ?? []).length > 0 && '--gate',
    message: flags.message !== undefined && '--message',
    verify: flags.verify !== undefined && (flags.verify ? '--verify' : '--no-verify'),
  };
  const inFile = (key: SettingKey): boolean => {
    const at = key
      .split('.')
      .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], content);
    return at !== undefined;
  };
  const originOf = (key: SettingKey): SettingOrigin => {
    const flag = flagOf[key];
    if (typeof flag === 'string') {
      const adds = flag === '--gate' && inFile(key);
      return { from: 'flag', where: adds ? `flag ${flag}, after ${label}` : `flag ${flag}` };
    }
    if (!inFile(key)) return { from: 'default', where: 'default' };
    return { from: 'file', where: key === 'generated' ? `${label}, then the built-in list` : label };
  };
  return Object.fromEntries(SETTING_KEYS.map((key) => [key, originOf(key)])) as Record<
    SettingKey,
    SettingOrigin
  >;
}
