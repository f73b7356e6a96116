import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { watchSignals } from './interruption.ts';

function watch() {
  const emitter = new EventEmitter();
  return { emitter, interruption: watchSignals(emitter as unknown as NodeJS.Process) };
}

it('asks the command to stop at the first signal', () => {
  const { emitter, interruption } = watch();
  expect(interruption.abort.aborted).toBe(false);
  emitter.emit('SIGTERM', 'SIGTERM');
  expect(interruption.abort.aborted).toBe(true);
  expect(interruption.caught()).toBe('SIGTERM');
});

it('does not wait any longer after a second one', async () => {
  const { emitter, interruption } = watch();
  emitter.emit('SIGINT', 'SIGINT');
  emitter.emit('SIGTERM', 'SIGTERM');
  await expect(interruption.expired).rejects.toThrow('did not stop');
  expect(interruption.caught()).toBe('SIGINT');
});

it('does not wait for ever', async () => {
  vi.useFakeTimers();
  const { emitter, interruption } = watch();
  emitter.emit('SIGINT', 'SIGINT');
  const end = expect(interruption.expired).rejects.toThrow('did not stop');
  await vi.advanceTimersByTimeAsync(60_000);
  await end;
  vi.useRealTimers();
});
