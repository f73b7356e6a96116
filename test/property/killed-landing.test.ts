import { test } from 'vitest';
import { expectLandedOnce, newScene } from '../support/killed-landing.ts';
import { askSennit, startSennit } from '../support/sennit.ts';

/** Kills spread over a landing: each a little later than the one before, from its first moment past its end. */
const RUNS = 16;

test('a landing killed at any time is finished or rolled back, and lands exactly once', {
  timeout: 300_000,
}, async () => {
  const whole = newScene(['--gate', 'sleep 0.05']);
  const start = performance.now();
  await askSennit(whole.args, 0, { cwd: whole.repo });
  const length = performance.now() - start;
  for (let i = 0; i < RUNS; i += 1) {
    const scene = newScene(['--gate', 'sleep 0.05']);
    const started = startSennit(scene.args, { cwd: scene.repo });
    await new Promise((resolve) => setTimeout(resolve, (length * (i + 0.5)) / RUNS));
    await started.kill();
    await expectLandedOnce(scene);
  }
});
