const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** A duration with its unit, as a person writes it: `90s`, `30m`, `1.5h`. */
export const DURATION_PATTERN = /^\s*\d+(\.\d+)?\s*[smh]\s*$/;

/** Milliseconds of a duration; a number counts minutes. Undefined when the text is no duration. */
export function parseDuration(duration: string | number): number | undefined {
  if (typeof duration === 'number') return Math.ceil(duration * 60_000);
  if (!DURATION_PATTERN.test(duration)) return undefined;
  const text = duration.trim();
  return Math.ceil(Number.parseFloat(text) * (UNITS_MS[text.slice(-1)] ?? Number.NaN));
}

/** A duration as `sennit.yaml` would hold it: a number of minutes where it is whole, else seconds with their unit. */
export function renderDuration(ms: number): string | number {
  const minutes = ms / 60_000;
  return Number.isInteger(minutes) ? minutes : `${ms / 1000}s`;
}
