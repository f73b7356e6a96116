const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KIB: 1024,
  MIB: 1024 ** 2,
  GIB: 1024 ** 3,
};

/** A size as a person writes it, `10MB` or `1.5 GiB`: KB, MB, GB count in thousands, KiB, MiB, GiB in 1024. */
export const SIZE_PATTERN = /^\s*\d+(\.\d+)?\s*([KMGkmg][iI]?)?[Bb]\s*$/;

/** Bytes of a size (a number is bytes already); undefined when the text is no size. */
export function parseSize(size: string | number): number | undefined {
  if (typeof size === 'number') return size;
  if (!SIZE_PATTERN.test(size)) return undefined;
  const [, digits, unit] = /^([\d.]+)\s*([A-Z]+)$/.exec(size.trim().toUpperCase()) ?? [];
  const factor = UNITS[unit ?? ''];
  return digits === undefined || factor === undefined ? undefined : Math.round(Number(digits) * factor);
}

/** A size for people, in the largest unit that gives a short number: `100MB`, `1.5MiB`, `1234B`. */
export function renderSize(bytes: number): string {
  for (const [unit, label] of [
    ['GB', 'GB'],
    ['GIB', 'GiB'],
    ['MB', 'MB'],
    ['MIB', 'MiB'],
    ['KB', 'KB'],
    ['KIB', 'KiB'],
  ] as const) {
    const count = bytes / (UNITS[unit] ?? 1);
    if (count >= 1 && Number.isInteger(count * 10)) return `${count}${label}`;
  }
  return `${bytes}B`;
}
