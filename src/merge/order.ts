// The order in which sources are best merged. Every colliding pair stops once, at whichever of the two comes later; so
// what can be chosen is how many sources stop. A large set of sources that do not collide goes first (greedily, the one
// with the fewest collisions next), the rest after it, those that collide with the target itself at the end.

/** Sorts `count` sources, given the colliding pairs and those that collide with the target. */
export function planOrder(
  count: number,
  collisions: readonly (readonly [number, number])[],
  withTarget: ReadonlySet<number>,
): number[] {
  const neighbours = Array.from({ length: count }, () => new Set<number>());
  for (const [a, b] of collisions) {
    neighbours[a]?.add(b);
    neighbours[b]?.add(a);
  }
  const degree = (i: number): number => neighbours[i]?.size ?? 0;
  const sorted = Array.from({ length: count }, (_, i) => i).sort((a, b) => degree(a) - degree(b) || a - b);
  const first: number[] = [];
  const chosen = new Set<number>();
  for (const i of sorted) {
    if (withTarget.has(i) || [...(neighbours[i] ?? [])].some((other) => chosen.has(other))) continue;
    chosen.add(i);
    first.push(i);
  }
  const rest = sorted.filter((i) => !chosen.has(i));
  return [...first, ...rest.filter((i) => !withTarget.has(i)), ...rest.filter((i) => withTarget.has(i))];
}
