// Conflict markers as git writes them: seven characters at the start of a line, then a space or the end of the line.
// A lone row of equals signs is a heading in some prose, so a file counts as marked only where an opening marker is
// followed by a closing one.

const OPENING = /^<{7}(?: .*)?\r?$/;
const CLOSING = /^>{7}(?: .*)?\r?$/;

/** Number of opening-to-closing marker pairs in a text. */
export function countMarkers(text: string): number {
  if (!text.includes('<<<<<<<') || !text.includes('>>>>>>>')) return 0;
  let open = false;
  let pairs = 0;
  for (const line of text.split('\n')) {
    if (OPENING.test(line)) open = true;
    else if (open && CLOSING.test(line)) {
      pairs += 1;
      open = false;
    }
  }
  return pairs;
}
