import { expect, test } from 'vitest';
import { parseProcStat, parsePs } from './platform.ts';

test('a process name with brackets and spaces does not shift the fields', () => {
  const rest = '1 4242 4240 0 -1 4194560 6112 0 0 0 12 3 0 0 20 0 11 0 8812345 9 9';
  expect(parseProcStat(`4242 (a) b (c) S ${rest}\n`)).toEqual({
    state: 'S',
    parent: 1,
    group: 4242,
    session: 4240,
    ticks: '8812345',
  });
  expect(parseProcStat('')).toBeUndefined();
  expect(parseProcStat('4242 (node) S 1')).toBeUndefined();
});

test('ps of macOS gives living processes with the markers in their environment', () => {
  const text = `
    1     0     1 Ss   Mon Nov 30 08:00:00 2026     /sbin/launchd
  501     1   501 Ss   Mon Nov 30 14:25:01 2026     /bin/sh -c make SENNIT_RUN=aa:bb HOME=/Users/a
  502   501   501 Z    Mon Nov 30 14:25:02 2026     (cc)
  503   501   501 R+   Tue Dec  1 14:25:02 2026
`;
  expect(parsePs(text).map(({ session, ...entry }) => entry)).toEqual([
    { pid: 1, parent: 0, group: 1, started: 'Mon Nov 30 08:00:00 2026', runs: '' },
    { pid: 501, parent: 1, group: 501, started: 'Mon Nov 30 14:25:01 2026', runs: 'aa:bb' },
    { pid: 503, parent: 501, group: 501, started: 'Tue Dec 1 14:25:02 2026', runs: '' },
  ]);
});
