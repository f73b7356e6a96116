import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CulpritSearch, findCulprits, type SubsetVerdict } from './culprits.ts';

/** `count` sources `a`, `b`, … in the order in which they were merged. */
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i));

interface Searched {
  readonly search: CulpritSearch;
  /** The subsets whose gate was run, as texts. */
  readonly asked: readonly string[];
}

/** Searches where a subset is red when it holds all of one of the red sets; `unmergeable` says where none is known. */
async function search(
  all: readonly string[],
  red: readonly string[],
  options: { maxRuns?: number; unmergeable?: (subset: string) => boolean } = {},
): Promise<Searched> {
  const asked: string[] = [];
  const result = await findCulprits({
    names: all,
    maxRuns: options.maxRuns ?? 1000,
    test: (subset): Promise<SubsetVerdict> => {
      const text = subset.join('');
      asked.push(text);
      if (options.unmergeable?.(text) === true) return Promise.resolve('unknown');
      return Promise.resolve(
        red.some((set) => [...set].every((one) => text.includes(one))) ? 'red' : 'green',
      );
    },
  });
  return { search: result, asked };
}

describe('one culprit', () => {
  test('is found among many in few runs', async () => {
    const { search: found, asked } = await search(names(16), ['k']);
    expect(found).toMatchObject({ outcome: 'found', sets: [['k']], drop: ['k'], restGreen: true });
    // The target alone, at most two halves a step, the rest without it.
    expect(asked.length).toBeLessThanOrEqual(1 + 2 * 4 + 1);
    expect(found.runs).toBe(asked.length);
  });

  test('is the only source: only the target is asked', async () => {
    const { search: found, asked } = await search(['a'], ['a']);
    expect(found).toEqual({ outcome: 'found', sets: [['a']], drop: ['a'], restGreen: true, runs: 1 });
    expect(asked).toEqual(['']);
  });
});

test('two independent culprits are both named, and the rest is seen green before it is called so', async () => {
  const { search: found, asked } = await search(names(8), ['b', 'g']);
  expect(found).toMatchObject({ outcome: 'found', sets: [['b'], ['g']], drop: ['b', 'g'], restGreen: true });
  expect(asked).toContain('acdefh');
});

test('two sources that are red only together are named together, and one is dropped, not both', async () => {
  const { search: found, asked } = await search(names(8), ['bg']);
  expect(found).toMatchObject({ outcome: 'found', sets: [['b', 'g']], drop: ['g'], restGreen: true });
  expect(asked).toContain('abcdefh');
});

test('a red target is told as such, after one run: no source is to blame', async () => {
  const { search: found, asked } = await search(names(8), ['']);
  expect(found).toEqual({ outcome: 'target-red', runs: 1 });
  expect(asked).toEqual(['']);
});

test('the search stops at its limit and says so instead of blaming somebody', async () => {
  const { search: found, asked } = await search(names(16), ['bg'], { maxRuns: 5 });
  expect(found).toMatchObject({ outcome: 'gave-up', runs: 5 });
  expect(asked).toHaveLength(5);
  expect((await search(names(2), ['a'], { maxRuns: 0 })).asked).toEqual([]);
});

test('a subset that cannot be merged is not taken for a red one', async () => {
  const { search: found } = await search(names(4), ['d'], { unmergeable: (subset) => subset === 'ab' });
  expect(found).toMatchObject({ outcome: 'found', sets: [['d']], drop: ['d'], restGreen: true });
});

test('a rest that cannot be merged is not called green', async () => {
  const { search: found } = await search(names(4), ['d'], { unmergeable: (subset) => subset === 'abc' });
  expect(found).toMatchObject({ outcome: 'found', drop: ['d'], restGreen: false });
});

test('a gate that fails to run ends the search', async () => {
  const broken = findCulprits({ names: ['a', 'b'], maxRuns: 9, test: () => Promise.reject(new Error('x')) });
  await expect(broken).rejects.toThrow('x');
});

test('whatever is at fault: each set is red and none of its members can be spared, the rest is green', async () => {
  const all = names(7);
  const redSets = fc.array(fc.subarray(all, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(redSets, async (sets) => {
      const red = sets.map((set) => set.join(''));
      const isRed = (subset: readonly string[]): boolean =>
        red.some((set) => [...set].every((one) => subset.includes(one)));
      const { search: found, asked } = await search(all, red);
      expect(new Set(asked).size).toBe(asked.length);
      if (found.outcome !== 'found') return expect.fail(`the search ${found.outcome}`);
      for (const set of found.sets) {
        expect(isRed(set)).toBe(true);
        for (const one of set) expect(isRed(set.filter((other) => other !== one))).toBe(false);
      }
      expect(isRed(all.filter((one) => !found.drop.includes(one)))).toBe(false);
      expect(found.restGreen).toBe(true);
    }),
  );
});
