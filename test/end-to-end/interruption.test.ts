// A landing that the user stops: its gate ends with all that it started, nothing of the user's has changed, and the next
// command works.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { buildProject, readState, repositoryTemplate } from '../support/repo.ts';
import { askSennit, startSennit } from '../support/sennit.ts';

const newProject = repositoryTemplate(buildProject);

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  test(`${signal} in the middle of a gate`, async () => {
    const repo = newProject();
    repo.worktree('a').write('new', 'new\n');
    const before = readState(repo);
    const started = join(repo.place.root, 'started');
    const ended = join(repo.place.root, 'ended');
    // What the gate left running would write this file after a moment.
    const gate = `(sleep 3; touch '${ended}') & touch '${started}'; sleep 300`;
    const land = startSennit(['land', '../a', '--into', 'main', '--gate', gate, '--json'], { cwd: repo });
    while (!existsSync(started)) {
      expect(land.child.exitCode, land.stderr()).toBeNull();
      await sleep(50);
    }
    land.child.kill(signal);
    const run = (await land.done).expectCode(code);
    const answer = run.json();
    expect(answer).toMatchObject({ ok: false, result: 'interrupted', error: { code: 'interrupted' } });
    expect(answer.error?.hint).toMatch(/\S/);
    expect(readState(repo)).toEqual(before);
    await sleep(3500);
    expect(existsSync(ended)).toBe(false);
    await askSennit(['land', '../a', '--into', 'main', '--no-gate'], 0, { cwd: repo });
    expect(repo.blob('main', 'new')).toBe('new\n');
  });
}
