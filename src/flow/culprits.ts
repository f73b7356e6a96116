// Which sources turn a gate red. A pure search over subsets, by delta debugging (Zeller and Hildebrandt 2002): it asks
// for verdicts and never runs anything itself. Merges of subsets are cheap, gate runs are not, so they are counted and
// bounded. The answer is a smallest red set: one name is red by itself, several are red only together.

export type SubsetVerdict = 'green' | 'red' | 'unknown';

export type CulpritSearch =
  /** Even without any source it is red. */
  | { readonly outcome: 'target-red'; readonly runs: number }
  | {
      readonly outcome: 'found';
      /** Red sets, each minimal; what is left without their last members is green. */
      readonly sets: readonly (readonly string[])[];
      /** Names to leave out so that the rest is green: the last of each set. */
      readonly drop: readonly string[];
      /** True when the rest without `drop` was seen green. */
      readonly restGreen: boolean;
      readonly runs: number;
    }
  | { readonly outcome: 'gave-up'; readonly reason: string; readonly runs: number };

export interface SearchInput {
  /** In the order in which they were merged. */
  readonly names: readonly string[];
  /** Verdict of the target with just these merged. Called with a subset in the same order. */
  test(subset: readonly string[]): Promise<SubsetVerdict>;
  readonly maxRuns: number;
}

class OutOfRuns extends Error {}

/** Searches culprits after all names together were red. */
export async function findCulprits(input: SearchInput): Promise<CulpritSearch> {
  let runs = 0;
  const known = new Map<string, SubsetVerdict>([[input.names.join('\0'), 'red']]);
  const test = async (subset: readonly string[]): Promise<SubsetVerdict> => {
    const key = subset.join('\0');
    const before = known.get(key);
    if (before !== undefined) return before;
    if (runs >= input.maxRuns) throw new OutOfRuns();
    runs += 1;
    const verdict = await input.test(subset);
    known.set(key, verdict);
    return verdict;
  };
  try {
    if ((await test([])) === 'red') return { outcome: 'target-red', runs };
    const sets: string[][] = [];
    let rest = [...input.names];
    for (;;) {
      const set = await smallestRed(rest, test);
      sets.push(set);
      const last = set.at(-1);
      rest = rest.filter((name) => name !== last);
      const verdict = rest.length === 0 ? 'green' : await test(rest);
      if (verdict === 'red') continue;
      return {
        outcome: 'found',
        sets,
        drop: sets.flatMap((one) => one.at(-1) ?? []),
        restGreen: verdict === 'green',
        runs,
      };
    }
  } catch (error) {
    if (error instanceof OutOfRuns)
      return { outcome: 'gave-up', reason: `more than ${input.maxRuns} gate runs would be needed`, runs };
    throw error;
  }
}

/** ddmin: halves, then complements, then finer, until no single name can be taken out of the red set. */
async function smallestRed(
  names: readonly string[],
  test: (subset: readonly string[]) => Promise<SubsetVerdict>,
): Promise<string[]> {
  let current = [...names];
  let parts = 2;
  while (current.length > 1) {
    const size = Math.ceil(current.length / parts);
    const chunks: string[][] = [];
    for (let at = 0; at < current.length; at += size) chunks.push(current.slice(at, at + size));
    const smaller = await firstRed(chunks, test);
    if (smaller !== undefined) {
      current = smaller;
      parts = 2;
      continue;
    }
    const complements = chunks.map((chunk) => current.filter((name) => !chunk.includes(name)));
    const without = chunks.length > 2 ? await firstRed(complements, test) : undefined;
    if (without !== undefined) {
      current = without;
      parts = Math.max(parts - 1, 2);
      continue;
    }
    if (parts >= current.length) break;
    parts = Math.min(current.length, parts * 2);
  }
  return current;
}

async function firstRed(
  subsets: readonly (readonly string[])[],
  test: (subset: readonly string[]) => Promise<SubsetVerdict>,
): Promise<string[] | undefined> {
  for (const subset of subsets) if ((await test(subset)) === 'red') return [...subset];
  return undefined;
}
