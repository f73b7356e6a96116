// The demonstration of the README is real: it runs the built command on a repository of its own, whatever the caller's
// environment says, ends with 0 only when everything came as it should, and leaves nothing behind.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Repository } from '../support/repo.ts';
import { type SealedPlace, sealedPlace } from '../support/sealed.ts';

const DEMO = fileURLToPath(new URL('../../demo', import.meta.url));

interface DemoRun {
  readonly code: number | null;
  readonly text: string;
}

/** Runs the demonstration in `folder`, in an environment that would lead a careless program astray. */
function runDemo(place: SealedPlace, folder = DEMO, args: readonly string[] = []): Promise<DemoRun> {
  const nowhere = join(place.root, 'nowhere');
  const env = place.env({
    GIT_CONFIG_GLOBAL: undefined,
    GIT_CONFIG_NOSYSTEM: undefined,
    GIT_AUTHOR_DATE: undefined,
    GIT_COMMITTER_DATE: undefined,
    GIT_DIR: nowhere,
    GIT_WORK_TREE: nowhere,
    GIT_INDEX_FILE: nowhere,
    GIT_AUTHOR_NAME: 'Somebody Else',
  });
  const child = spawn(process.execPath, [join(folder, 'run.mjs'), ...args], { cwd: place.root, env });
  child.stdin.end();
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code, text }));
  });
}

function leftIn(place: SealedPlace): string[] {
  return [...readdirSync(join(place.root, 'tmp')), ...readdirSync(place.home)];
}

/** A copy of the demonstration beside a `dist` of which only the command is there, and that does what is said. */
function copyBeside(place: SealedPlace, command: string | undefined): string {
  const folder = join(place.root, 'project', 'demo');
  cpSync(DEMO, folder, { recursive: true });
  if (command !== undefined) {
    mkdirSync(join(place.root, 'project', 'dist', 'cli'), { recursive: true });
    writeFileSync(join(place.root, 'project', 'package.json'), '{ "type": "module" }\n');
    writeFileSync(join(place.root, 'project', 'dist', 'cli', 'main.js'), command);
  }
  return folder;
}

test('four workspaces become one commit, by way of a conflict, and nothing else changes', async () => {
  const place = sealedPlace();
  const { code, text } = await runDemo(place, DEMO, ['--keep']);
  expect(code, text).toBe(0);
  const folder = /^Kept: (.*)$/m.exec(text)?.[1] ?? '';
  expect(place.inside(folder)).toMatch(/shop$/);
  const shop = new Repository(place, folder);
  expect(shop.status()).toEqual([]);
  expect(shop.git('rev-list', '--count', 'main')).toBe('2');
  expect(shop.trailers('main', 'Sennit-Source').map((line) => line.split(' ')[0])).toEqual([
    'cart',
    'search',
    'shipping',
    'vouchers',
  ]);
  const diffstat = /(\d+) files changed/.exec(text)?.[1];
  expect(shop.changed('main~', 'main')).toHaveLength(Number(diffstat));
  for (const shown of [
    /\$ sennit forecast .*\n[\s\S]*1 pair of 6 will collide/,
    /\$ sennit land .*\n[\s\S]*\(exit code 3\)/,
    /\$ sennit conflicts\n/,
    /^<<<<<<< main\n[\s\S]*^\|{7} .*\n[\s\S]*^=======\n[\s\S]*^>>>>>>> vouchers\n/m,
    /\$ sennit continue\n[\s\S]*root +passed/,
    /\$ git log --graph .*\n\* [0-9a-f]+ \(HEAD -> main\) /,
  ]) {
    expect(text).toMatch(shown);
  }
}, 120_000);

test('the demonstration removes its folder and touches nothing else', async () => {
  const place = sealedPlace();
  const { code, text } = await runDemo(place);
  expect(code, text).toBe(0);
  expect(leftIn(place)).toEqual([]);
}, 120_000);

test('without a built command it says how to get one', async () => {
  const place = sealedPlace();
  const { code, text } = await runDemo(place, copyBeside(place, undefined));
  expect(code, text).toBe(1);
  expect(text).toMatch(/main\.js is missing\. `npm ci`/);
  expect(leftIn(place)).toEqual([]);
});

test('a command that does not do what it should makes the demonstration fail', async () => {
  const place = sealedPlace();
  const { code, text } = await runDemo(place, copyBeside(place, "console.log('all is well');\n"));
  expect(code, text).toBe(1);
  expect(text).toMatch(/demo: not as it should be/);
  expect(leftIn(place)).toEqual([]);
});
