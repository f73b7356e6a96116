/** Rows with their columns padded to the widest cell (the last is not), each behind an indent of two. */
export function renderTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
    });
  }
  return rows.map((row) => {
    const cells = row.map((cell, i) => cell + ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell))));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of colours take no room
const COLOR = /\u001b\[\d+m/g;

/** Columns of a terminal that a text takes; letters that take two are counted as one. */
function widthOf(text: string): number {
  return [...text.replace(COLOR, '')].length;
}

/** The first `most` of some lines, and a line that says how many are left out. */
export function firstOf(lines: readonly string[], most: number): string[] {
  const left = lines.length - most;
  return left <= 0 ? [...lines] : [...lines.slice(0, most), `  … and ${left} more (--json has all)`];
}
