#!/usr/bin/env node
// The command. What it is asked most often by other programs, its version, is answered before anything is loaded.

import { readFileSync } from 'node:fs';

const words = process.argv.slice(2);
const [first = ''] = words;
const version = readVersion();
if (words.length === 1 && ['-v', '--version'].includes(first)) {
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${version}\n`);
} else {
  const { runCli } = await import('./run-cli.ts');
  await runCli(words, version);
}

function readVersion(): string {
  const { version: text } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { readonly version: string };
  return text;
}
