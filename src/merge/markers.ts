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

const BASE_MARK = /^\|{7}(?: .*)?\r?$/;
const MIDDLE = /^={7}\r?$/;

/** A text with every diff3 conflict replaced by one of its three sections; the rest stays merged. Undefined where there
 * is no conflict, and where content that looks like a marker leaves a doubt about where a section begins or ends: then
 * nothing can be taken from it. */
export function takeSections(text: string, side: 'base' | 'target' | 'change'): string | undefined {
  const out: string[] = [];
  let section: 'none' | 'target' | 'base' | 'change' = 'none';
  let conflicts = 0;
  for (const line of text.split('\n')) {
    if (section === 'none' && OPENING.test(line)) {
      section = 'target';
      conflicts += 1;
    } else if (section === 'target' && BASE_MARK.test(line)) section = 'base';
    else if (section === 'base' && MIDDLE.test(line)) section = 'change';
    else if (section === 'change' && CLOSING.test(line)) section = 'none';
    else if (isMisplaced(line, section)) return undefined;
    else if (section === 'none' || section === side) out.push(line);
  }
  return section === 'none' && conflicts > 0 ? out.join('\n') : undefined;
}

/** True for the marker that ended a section before this one: one of the two was content. */
function isMisplaced(line: string, section: 'none' | 'target' | 'base' | 'change'): boolean {
  switch (section) {
    case 'none':
      return CLOSING.test(line);
    case 'target':
      return OPENING.test(line);
    case 'base':
      return BASE_MARK.test(line);
    case 'change':
      return MIDDLE.test(line);
  }
}

/** Number of lines that are any part of a conflict: what is left when somebody took out only some of its markers. */
export function countMarkerLines(text: string): number {
  let lines = 0;
  for (const line of text.split('\n')) {
    if (OPENING.test(line) || BASE_MARK.test(line) || MIDDLE.test(line) || CLOSING.test(line)) lines += 1;
  }
  return lines;
}
