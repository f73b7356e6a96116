// An editor that saves with other line ends turns a one-line edit into a whole-file change, which then conflicts with
// everything. Such a file is brought back to the line ends that it had. When nothing but the line ends changed, that was
// the task, and it stays.

/** `lf` or `crlf` when every line of a text ends that way, else undefined (mixed, or no line end at all). */
export function lineEndsOf(text: string): 'lf' | 'crlf' | undefined {
  let lf = 0;
  let crlf = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (lf > 0 && crlf === 0) return 'lf';
  return crlf > 0 && lf === 0 ? 'crlf' : undefined;
}

/** The changed text with the base's line ends, or undefined where it should stay as it is. */
export function restoreLineEnds(base: string, change: string): string | undefined {
  const before = lineEndsOf(base);
  const after = lineEndsOf(change);
  if (
    before === undefined ||
    after === undefined ||
    before === after ||
    base.includes('\0') ||
    change.includes('\0')
  ) {
    return undefined;
  }
  const restored = after === 'crlf' ? change.replaceAll('\r\n', '\n') : change.replaceAll('\n', '\r\n');
  // A line that ended with two carriage returns still ends with one: no accident of one editor.
  return restored === base || lineEndsOf(restored) !== before ? undefined : restored;
}
