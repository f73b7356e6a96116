import { asOid, type Oid } from '../model/ids.ts';
import type { History } from '../ports/git.ts';

/** Parses `rev-list --parents`: `<commit> <parent> <parent>` a line. */
export function parseParents(text: string): Map<Oid, Oid[]> {
  const parents = new Map<Oid, Oid[]>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [commit = '', ...rest] = line.split(' ');
    parents.set(asOid(commit), rest.map(asOid));
  }
  return parents;
}

/** What each tip reaches inside the listed commits, and where it leaves them. A tip that is not listed is known. */
export function historiesOf(tips: readonly Oid[], parents: ReadonlyMap<Oid, readonly Oid[]>): History[] {
  const owner = new Map<Oid, number>();
  const shared = new Set<number>();
  const walked = tips.map((tip, index) => {
    const commits: Oid[] = [];
    const frontier = new Set<Oid>();
    const seen = new Set<Oid>();
    const queue = [tip];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const above = parents.get(at);
      if (above === undefined) {
        frontier.add(at);
        continue;
      }
      commits.push(at);
      const other = owner.get(at);
      if (other === undefined) owner.set(at, index);
      else {
        shared.add(other);
        shared.add(index);
      }
      queue.push(...above);
    }
    return { commits, frontier: [...frontier] };
  });
  return walked.map((history, index) => ({ ...history, shared: shared.has(index) }));
}
