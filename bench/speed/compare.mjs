// Compares two ways of doing one thing. Rounds alternate which goes first; each round gets a fresh state of its own,
// made before the clock starts, and what the disk still has to write is written before it too. The figure is the ratio
// of medians.

import { spawnSync } from 'node:child_process';

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `arms` are `{ ours, plain }`, each `{ prepare(round), run(state), check?(state, result) }`; only `run` is timed. */
export async function compareArms(arms, rounds) {
  const times = { ours: [], plain: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['plain', 'ours'] : ['ours', 'plain'];
    for (const name of order) {
      const { prepare, run, check } = arms[name];
      const state = await prepare?.(`${name}-${round}`);
      spawnSync('sync');
      const began = process.hrtime.bigint();
      const result = await run(state);
      times[name].push(Number(process.hrtime.bigint() - began) / 1e6);
      await check?.(state, result);
    }
  }
  const ours = median(times.ours);
  const plain = median(times.plain);
  return { ours, plain, ratio: ours / plain, rounds, times };
}
