// What was read lately, up to a total weight; the oldest goes first. For values that never change under their key, as
// what object ids name.

export class Recent<T> {
  readonly #limit: number;
  readonly #weigh: (value: T) => number;
  readonly #values = new Map<string, { readonly value: T; readonly weight: number }>();
  #total = 0;

  constructor(limit: number, weigh: (value: T) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  find(key: string): T | undefined {
    return this.#values.get(key)?.value;
  }

  keep(key: string, value: T): void {
    const weight = this.#weigh(value);
    if (weight > this.#limit || this.#values.has(key)) return;
    this.#values.set(key, { value, weight });
    this.#total += weight;
    for (const [oldest, { weight: less }] of this.#values) {
      if (this.#total <= this.#limit) break;
      this.#values.delete(oldest);
      this.#total -= less;
    }
  }
}
