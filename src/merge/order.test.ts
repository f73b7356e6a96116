import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planOrder } from './order.ts';

test('one source that collides with all others stops once, at the end, instead of stopping all of them', () => {
  expect(
    planOrder(
      4,
      [
        [0, 1],
        [0, 2],
        [0, 3],
      ],
      new Set(),
    ),
  ).toEqual([1, 2, 3, 0]);
});

test('what collides with the target itself comes last: nothing waits for it', () => {
  expect(planOrder(4, [[1, 2]], new Set([0]))).toEqual([3, 1, 2, 0]);
});

test('sources that collide with nothing keep the order they were given in', () => {
  expect(planOrder(3, [], new Set())).toEqual([0, 1, 2]);
});

const plan = fc.integer({ min: 0, max: 12 }).chain((count) => {
  const one = fc.nat(Math.max(0, count - 1));
  const pairs =
    count < 2
      ? fc.constant<[number, number][]>([])
      : fc.array(fc.tuple(one, one).filter(([a, b]) => a !== b));
  return fc.tuple(fc.constant(count), pairs, count === 0 ? fc.constant<number[]>([]) : fc.array(one));
});

test('no source is lost or planned twice, and what goes first collides with nothing before it', () => {
  fc.assert(
    fc.property(plan, ([count, pairs, withTarget]) => {
      const order = planOrder(count, pairs, new Set(withTarget));
      expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      // Stops: a source that collides with one before it, or with the target. The first sources cause none until the
      // first stop; and no source that could go in without a stop comes after one.
      const collides = (a: number, b: number): boolean =>
        pairs.some(([x, y]) => (x === a && y === b) || (x === b && y === a));
      const stops = order.map(
        (one, at) => withTarget.includes(one) || order.slice(0, at).some((other) => collides(one, other)),
      );
      const first = stops.indexOf(true);
      if (first !== -1) expect(stops.slice(first)).not.toContain(false);
    }),
  );
});
