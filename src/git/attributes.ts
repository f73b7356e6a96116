// Merges must honour the attributes of the target (`merge=union`, `-merge`, `conflict-marker-size`), but not run a
// merge driver and not read a checkout, which an agent could have written. git before 2.43 can only read them from
// one file, whose patterns are relative to the root; so all `.gitattributes` of a tree become one such file.

/** What a custom merge driver is replaced by: git's own text merge, whose result is then refused by the caller. */
const BUILT_IN_DRIVERS = new Set(['text', 'binary', 'union']);

/** Attributes that matter to a merge. */
const KEPT = /^(?:[-!]?(?:merge|text|diff|binary)|merge=.*|conflict-marker-size=\d+|binary)$/;

/** Rewrites a pattern of `directory` (`''` or `src/app/`) so that it means the same from the root. */
export function rootedPattern(directory: string, pattern: string): string {
  if (directory === '') return pattern;
  const bare = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  // Without a slash (but at its end) a pattern matches at any depth below its directory.
  const anchored = pattern.startsWith('/') || /\/./.test(bare);
  return `/${directory}${anchored ? '' : '**/'}${bare}`;
}

/** Splits an attributes line into its pattern (which may be quoted) and its attributes; undefined for none. */
function splitLine(line: string): { pattern: string; attributes: string[] } | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#') || text.startsWith('[attr]')) return undefined;
  const quoted = /^"((?:[^"\\]|\\.)*)"\s+(.*)$/.exec(text);
  const plain = /^(\S+)\s+(.*)$/.exec(text);
  const match = quoted ?? plain;
  if (match === null) return undefined;
  return {
    pattern: quoted === null ? (match[1] ?? '') : (match[1] ?? '').replace(/\\(.)/g, '$1'),
    attributes: (match[2] ?? '').split(/\s+/),
  };
}

/** One attributes file for the root from all those of a tree, outer directories first, merge attributes only. */
export function flattenedAttributes(files: readonly { directory: string; text: string }[]): string {
  const lines: string[] = [];
  for (const { directory, text } of [...files].sort((a, b) => a.directory.length - b.directory.length)) {
    for (const line of text.split('\n')) {
      const parts = splitLine(line);
      if (parts === undefined) continue;
      const attributes = parts.attributes.filter((attribute) => KEPT.test(attribute) && builtIn(attribute));
      if (attributes.length === 0) continue;
      const pattern = rootedPattern(directory, parts.pattern);
      lines.push(
        `${/[\s"]/.test(pattern) ? `"${pattern.replace(/(["\\])/g, '\\$1')}"` : pattern} ${attributes.join(' ')}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function builtIn(attribute: string): boolean {
  return !attribute.startsWith('merge=') || BUILT_IN_DRIVERS.has(attribute.slice('merge='.length));
}

/** The custom drivers that a tree's attributes name, with the rooted patterns that they stand at. */
export function customDrivers(
  files: readonly { directory: string; text: string }[],
): { pattern: string; driver: string }[] {
  const found: { pattern: string; driver: string }[] = [];
  for (const { directory, text } of files) {
    for (const line of text.split('\n')) {
      const parts = splitLine(line);
      for (const attribute of parts?.attributes ?? []) {
        if (attribute.startsWith('merge=') && !builtIn(attribute)) {
          found.push({
            pattern: rootedPattern(directory, parts?.pattern ?? ''),
            driver: attribute.slice('merge='.length),
          });
        }
      }
    }
  }
  return found;
}
