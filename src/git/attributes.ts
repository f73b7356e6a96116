// Merges must honour the attributes of the target (`merge=union`, `-merge`), but not run a merge driver and not read a
// checkout, which an agent could have written. git before 2.43 can only read them from one file, whose patterns are
// relative to the root; so all `.gitattributes` of a tree become one such file. Custom drivers keep their names in it:
// the git dir in use configures none, so git merges text, and the caller refuses the result. `conflict-marker-size` is
// left out: markers of another size would not be found again. Texts are byte strings.

/** One `.gitattributes`: the directory that it is in, `''` or `src/app/`, and what it says. */
export interface AttributesFile {
  readonly directory: string;
  readonly text: string;
}

const BUILT_IN_DRIVERS = new Set(['text', 'binary', 'union']);

/** Attributes that matter to a merge; `binary` is a macro of git's own. */
const KEPT = /^(?:[-!]?(?:merge|binary)|merge=.*)$/;

/** An attribute as git accepts it. One that it does not accept makes it drop the whole line. */
const ATTRIBUTE = /^[-!]?[A-Za-z0-9_.][A-Za-z0-9_.-]*(?:=.*)?$/;

interface Line {
  /** As it means from the root; null for the definition of a macro. */
  readonly pattern: string | null;
  /** Name of the macro that is defined, else ''. */
  readonly macro: string;
  readonly attributes: readonly string[];
}

/** Rewrites a pattern of `directory` (`''` or `src/app/`) so that it means the same from the root. */
export function rootedPattern(directory: string, pattern: string): string {
  if (directory === '') return pattern;
  const bare = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  // Without a slash (but at its end) a pattern matches at any depth below its directory.
  const anchored = pattern.startsWith('/') || /\/./.test(bare);
  return `/${directory.replace(/[\\*?[]/g, '\\$&')}${anchored ? '' : '**/'}${bare}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function unquoted(text: string): string {
  return text.replace(/\\(?:([0-3][0-7]{2})|(.))/g, (_, octal: string | undefined, other: string) =>
    octal === undefined ? (ESCAPES[other] ?? other) : String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function quoted(pattern: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters need quoting
  if (!/[\u0000-\u0020"]|^#|^\[attr\]/.test(pattern)) return pattern;
  return `"${pattern
    .replace(/["\\]/g, '\\$&')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters need quoting
    .replace(/[\u0000-\u001f]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}

/** Splits a line into its pattern (which may be quoted) and its attributes; undefined for one that says nothing. */
function parseLine(directory: string, line: string): Line | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  const quote = /^"((?:[^"\\]|\\.)*)"\s+(.*)$/.exec(text);
  const [, first = '', rest = ''] = quote ?? /^(\S+)\s+(.*)$/.exec(text) ?? [];
  const attributes = rest.split(/\s+/).filter(Boolean);
  if (first === '' || !attributes.every((attribute) => ATTRIBUTE.test(attribute))) return undefined;
  if (quote === null && first.startsWith('[attr]')) {
    // Only the file at the root may define macros.
    return directory === '' ? { pattern: null, macro: first.slice('[attr]'.length), attributes } : undefined;
  }
  const pattern = quote === null ? first : unquoted(first);
  // git knows no negative patterns here and drops them.
  if (pattern.startsWith('!')) return undefined;
  return { pattern: rootedPattern(directory, pattern), macro: '', attributes };
}

/** All lines that say something, outer directories first: later lines win. */
function parseFiles(files: readonly AttributesFile[]): Line[] {
  return [...files]
    .sort((a, b) => a.directory.length - b.directory.length)
    .flatMap(({ directory, text }) =>
      text
        .replace(/^\u00ef\u00bb\u00bf/, '') // a byte order mark
        .split('\n')
        .flatMap((line) => parseLine(directory, line) ?? []),
    );
}

/** One attributes file for the root from all those of a tree, with what matters to merges. */
export function flattenedAttributes(files: readonly AttributesFile[]): string {
  const lines = parseFiles(files);
  const macros = new Set(lines.map(({ macro }) => macro));
  const kept = (attribute: string): boolean =>
    KEPT.test(attribute) || macros.has(attribute.replace(/^[-!]/, ''));
  const out = lines.flatMap(({ pattern, macro, attributes }) => {
    const all = attributes.filter(kept);
    if (all.length === 0) return [];
    return [`${pattern === null ? `[attr]${macro}` : quoted(pattern)} ${all.join(' ')}`];
  });
  return `${out.join('\n')}\n`;
}

/** The driver that a line's attributes come to, macros followed; undefined where they say nothing about merging. */
function driverOf(
  attributes: readonly string[],
  macros: ReadonlyMap<string, readonly string[]>,
  depth = 0,
): string | undefined {
  for (const attribute of [...attributes].reverse()) {
    if (attribute.startsWith('merge=')) return attribute.slice('merge='.length);
    if (attribute === '-merge' || attribute === 'binary') return 'binary';
    if (attribute === 'merge' || attribute === '!merge') return 'text';
    const inside = depth < 8 ? macros.get(attribute) : undefined;
    const driver = inside === undefined ? undefined : driverOf(inside, macros, depth + 1);
    if (driver !== undefined) return driver;
  }
  return undefined;
}

/** Which driver each rooted pattern stands for, later ones winning, where a tree names a custom driver at all; a
 * built-in one is told as `text`, `binary` or `union`. Empty where only built-in drivers are in use. */
export function customDrivers(files: readonly AttributesFile[]): { pattern: string; driver: string }[] {
  const lines = parseFiles(files);
  const macros = new Map(
    lines.filter(({ pattern }) => pattern === null).map((line) => [line.macro, line.attributes]),
  );
  const found = lines.flatMap(({ pattern, attributes }) => {
    const driver = pattern === null ? undefined : driverOf(attributes, macros);
    // A line feed in a pattern would end its line: any one character stands for it.
    return pattern === null || driver === undefined
      ? []
      : [{ pattern: pattern.replaceAll('\n', '?'), driver }];
  });
  return found.every(({ driver }) => BUILT_IN_DRIVERS.has(driver)) ? [] : found;
}
