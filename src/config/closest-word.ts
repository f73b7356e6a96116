/** Number of letters to add, drop, change or swap with their neighbour to make `a` into `b`. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The candidate that a person most likely meant by `word`, ignoring case, `_` and `-`; undefined when none is near:
 * more than a third of its letters would have to change. */
export function findClosestWord(word: string, candidates: readonly string[]): string | undefined {
  const plain = (text: string): string => text.slice(0, 60).toLowerCase().replace(/[-_]/g, '');
  const ranked = candidates
    .map((candidate) => ({ candidate, away: distance(plain(word), plain(candidate)) }))
    .filter(({ candidate, away }) => away <= Math.max(1, Math.floor(plain(candidate).length / 3)))
    .sort((a, b) => a.away - b.away);
  return ranked[0]?.candidate;
}
