/** One value of a configuration. `value` is null for a key that stands alone (`[core] bare`), which means true. */
export interface ConfigEntry {
  /** As git prints it: section and variable in lower case, the subsection as it is. */
  readonly key: string;
  readonly value: string | null;
}

/** Parses `git config --list -z`: `core.bare\nfalse\0filter.lfs.clean\ngit-lfs clean -- %f\0alone.key\0`. */
export function parseConfigList(bytes: Buffer): ConfigEntry[] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const newline = record.indexOf('\n');
      return newline === -1
        ? { key: record, value: null }
        : { key: record.slice(0, newline), value: record.slice(newline + 1) };
    });
}

/** The last value of a key; undefined where it is not set. */
export function findConfig(config: readonly ConfigEntry[], key: string): string | null | undefined {
  return config.findLast((entry) => entry.key === key)?.value;
}

/** Whether a key is set to what git takes for true. */
export function isConfigTrue(config: readonly ConfigEntry[], key: string): boolean {
  const value = findConfig(config, key);
  if (value === undefined) return false;
  if (value === null) return true;
  return /^(?:true|yes|on)$/i.test(value) || /^-?0*[1-9][0-9]*[kmg]?$/i.test(value);
}
