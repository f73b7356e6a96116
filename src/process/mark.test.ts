import { expect, test } from 'vitest';
import { currentProcessMark, isAlive } from './mark.ts';

test('this process is alive, and its mark is the same each time', () => {
  expect(currentProcessMark()).toEqual(currentProcessMark());
  expect(currentProcessMark().pid).toBe(process.pid);
  expect(isAlive(currentProcessMark())).toBe(true);
});

test.runIf(process.platform === 'linux')(
  'a later process with the same number is not taken for the owner',
  () => {
    const { pid, started } = currentProcessMark();
    const [boot, namespace, ticks] = started.split('/');
    expect(boot).toMatch(/^[0-9a-f-]{36}$/);
    expect(isAlive({ pid, started: `${boot}/${namespace}/${Number(ticks) + 1}` })).toBe(false);
  },
);

test.runIf(process.platform === 'linux')('nobody lives on from before the machine was started', () => {
  const { pid, started } = currentProcessMark();
  expect(isAlive({ pid, started: started.replace(/^[^/]*/, 'another-boot') })).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a process of another container cannot be seen and counts as alive',
  () => {
    const [boot, , ticks] = currentProcessMark().started.split('/');
    expect(isAlive({ pid: 2 ** 22 + 1, started: `${boot}/1/${ticks}` })).toBe(true);
  },
);

test('a number that no process has is dead, and so is one that cannot be a process', () => {
  const { started } = currentProcessMark();
  for (const pid of [2 ** 30, 0, -1, 1.5, Number.NaN])
    expect(isAlive({ pid, started }), String(pid)).toBe(false);
});
