// Pages that name what is not there mislead: every link between them leads somewhere, and every source file that they
// name exists.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function listPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))];
}

/** The names by which the headings of a page are linked to, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link of a page leads to a file and a heading that are there', () => {
  const dead: string[] = [];
  let links = 0;
  for (const page of listPages()) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      links += 1;
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      const found =
        existsSync(file) && (anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).has(anchor));
      if (!found) dead.push(`${page}: ${link}`);
    }
  }
  expect(links).toBeGreaterThan(20);
  expect(dead).toEqual([]);
});

test('every file that a page names is there', () => {
  const names = new Set(
    ['src', 'test', 'bench', 'demo'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    ),
  );
  const bare = new Set([...names].map((name) => basename(name)));
  const missing: string[] = [];
  for (const page of listPages()) {
    for (const [, code = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(/`([^`\n]+)`/g)) {
      // A file of the project by its path, or by its bare name where the text has said the folder.
      const isPath = /^(?:src|test|bench|demo)\/[\w./-]*$/.test(code);
      const isName = /^[\w-]+\.(?:ts|mjs)$/.test(code);
      const found = isPath ? existsSync(join(ROOT, code)) : bare.has(code);
      if ((isPath || isName) && !found) missing.push(`${relative(ROOT, join(ROOT, page))}: ${code}`);
    }
  }
  expect(missing).toEqual([]);
});
