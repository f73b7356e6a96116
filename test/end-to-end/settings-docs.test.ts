// docs/settings.md tells every setting that the command knows, with the default that it has, and no other; the examples
// in the pages are settings that the command would take.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SETTING_KEYS } from '../../src/config/load-config.ts';
import { parseSettings } from '../../src/config/parse-settings.ts';
import { sealedPlace } from '../support/sealed.ts';
import { runSennit } from '../support/sennit.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly default?: unknown;
}

function readPage(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

/** The sections of the page by the setting that each is about. */
function readSections(): Map<string, string> {
  const parts = readPage('docs/settings.md').split(/^## `([^`]+)`$/m);
  const sections = new Map<string, string>();
  for (let i = 1; i + 1 < parts.length; i += 2) sections.set(parts[i] ?? '', parts[i + 1] ?? '');
  return sections;
}

/** Every setting of the published schema with its default. */
async function readSettings(): Promise<Map<string, unknown>> {
  const run = (await runSennit(['schema', 'config'], { cwd: sealedPlace() })).expectCode(0);
  const settings = new Map<string, unknown>();
  const visit = (schema: Schema, above: string): void => {
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      const key = above === '' ? name : `${above}.${name}`;
      if (each.properties === undefined) settings.set(key, each.default);
      else visit(each, key);
    }
  };
  visit(JSON.parse(run.stdout) as Schema, '');
  return settings;
}

/** A default as the page writes it: a YAML value. */
function shown(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

test('every setting of the schema is on the page, and nothing else is', async () => {
  const settings = await readSettings();
  expect([...settings.keys()].sort()).toEqual([...SETTING_KEYS].sort());
  expect([...readSections().keys()]).toEqual([...SETTING_KEYS]);
});

test('every default on the page is the one of the schema', async () => {
  const sections = readSections();
  for (const [key, value] of await readSettings()) {
    const said = /^Default: (?:`([^`]*)`|none|the built-in list)/m.exec(sections.get(key) ?? '');
    expect(said, key).not.toBeNull();
    expect(said?.[1], key).toBe(value === undefined ? undefined : shown(value));
  }
});

test('every flag on the page is a flag of land', async () => {
  const help = (await runSennit(['land', '--help'], { cwd: sealedPlace() })).expectCode(0).stdout;
  const known = new Set(help.match(/--[a-z][a-z-]+/g));
  const named = readPage('docs/settings.md').match(/(?<=Flags?: [^.]*`)--[a-z][a-z-]+/g) ?? [];
  expect(named.length).toBeGreaterThan(4);
  for (const flag of named) expect(known, flag).toContain(flag);
});

test('every example of settings is one that the command takes', () => {
  const examples = ['README.md', 'docs/settings.md'].flatMap((page) =>
    [...readPage(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? ''),
  );
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) expect(parseSettings(example), example).toMatchObject({ outcome: 'valid' });
});
