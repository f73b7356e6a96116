/** Ways to make a text stand out; all of them leave it alone where colours are not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
}

export interface ColorWishes {
  readonly isTerminal: boolean;
  /** `--no-color` was given. */
  readonly refused: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Colours are for terminals, unless NO_COLOR (any text but an empty one), TERM=dumb or --no-color says otherwise. */
export function wantsColor({ isTerminal, refused, env }: ColorWishes): boolean {
  return isTerminal && !refused && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

export function createStyle(color: boolean): Style {
  const wrap =
    (on: number, off: number) =>
    (text: string): string =>
      color && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    yellow: wrap(33, 39),
    green: wrap(32, 39),
  };
}

/** Everything but line ends and tabs that a terminal would act on: control characters of both sets, and the marks
 * that reverse the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text that is safe to write to a terminal: names and output of agents must not move its cursor or rewrite what
 * stands on it. */
export function safeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** `safeText` on every text in a value of JSON. */
export function safeValue<T>(value: T): T {
  if (typeof value === 'string') return safeText(value) as T;
  if (Array.isArray(value)) return value.map(safeValue) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [safeText(key), safeValue<unknown>(each)]),
  ) as T;
}
