// The merge attributes of a tree, flattened into one file for merges without a checkout, must say of every path what
// git says in a checkout; and every path with a custom merge driver must be known as such.

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { customDrivers, flattenedAttributes } from '../../src/git/attributes.ts';
import { cases } from '../support/random.ts';
import { Repository } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';

const directory = fc.constantFrom('', 'a/', 'a/b/', 'b/', 'a [x]/', '*/', '#d/', 'a/"q"/');
const name = fc.constantFrom('x', 'y', 'x.po', 'y.po', 'a b', '[x]', '"q"', '!x', '#x', 'x\\');
const pattern = fc.oneof(
  fc.constantFrom(
    '*',
    '*.po',
    'x*',
    '?',
    'a',
    '/x',
    '/*',
    'b/*',
    'a/**',
    '**/x',
    '**/b/*',
    '[xy]',
    'x/',
    '!x',
    '"a b"',
  ),
  fc.constantFrom('"*.po"', '"\\041x"', '"#x"', '\\!x', '"\\"q\\""', '"\\"q\\"/*"', '\\[x\\]', '"x', 'x\\\\'),
);
const attribute = fc.constantFrom(
  ...['merge=union', 'merge=text', 'merge=binary', '-merge', 'merge', '!merge', 'binary', '-binary', 'text'],
  ...[
    'merge=own',
    'merge=other',
    'conflict-marker-size=9',
    '!conflict-marker-size',
    'wild',
    '-wild',
    'tame',
    '.',
    '*x',
  ],
);
const macro = fc
  .tuple(fc.constantFrom('wild', 'tame'), fc.array(attribute, { minLength: 1, maxLength: 2 }))
  .map(([name, attributes]) => `[attr]${name} ${attributes.join(' ')}`);
const rule = fc
  .tuple(pattern, fc.array(attribute, { minLength: 1, maxLength: 3 }))
  .map(([name, attributes]) => `${name} ${attributes.join(' ')}`);
const file = fc.record({
  directory,
  text: fc
    .tuple(
      fc.constantFrom('', '', '\u{feff}'),
      fc.array(fc.oneof({ arbitrary: rule, weight: 4 }, { arbitrary: macro, weight: 1 }), { maxLength: 5 }),
      fc.constantFrom('\n', '\r\n'),
    )
    .map(([mark, lines, end]) => mark + lines.map((line) => line + end).join('')),
});
const files = fc.uniqueArray(file, { maxLength: 4, selector: (one) => one.directory });
const paths = fc.uniqueArray(
  fc.tuple(directory, name).map((parts) => parts.join('')),
  { minLength: 8, maxLength: 20 },
);

test('no path is merged in another way than the one that its repository gives it', () => {
  const place = sealedPlace();
  const repo = Repository.create(place);
  const bare = Repository.create(place, 'bare', { bare: true });
  /** The merge attribute of every path, as one repository sees it. */
  const mergesIn = (where: Repository, asked: readonly string[], config: readonly string[]): string[] => {
    const run = where.tryGit([...config, 'check-attr', '-z', '--stdin', 'merge'], {
      input: asked.map((path) => `${path}\0`).join(''),
    });
    expect(run.code, run.stderr).toBe(0);
    const fields = run.stdout.split('\0');
    return asked.map((_, i) => fields[3 * i + 2] ?? '');
  };
  fc.assert(
    fc.property(files, paths, (written, asked) => {
      for (const name of ['.gitattributes', 'a', 'b', 'a [x]', '*', '#d']) repo.write(name, null);
      for (const { directory, text } of written) repo.write(`${directory}.gitattributes`, text);
      const seen = mergesIn(repo, asked, []);

      const bytes = written.map(({ directory, text }) => ({
        directory,
        text: Buffer.from(text).toString('latin1'),
      }));
      repo.write('../flat', Buffer.from(flattenedAttributes(bytes), 'latin1'));
      const flat = mergesIn(bare, asked, ['-c', `core.attributesFile=${join(place.root, 'flat')}`]);
      expect(flat).toEqual(seen);

      const lines = customDrivers(bytes).map(
        ({ pattern, driver }) => `"${pattern.replace(/(["\\])/g, '\\$1')}" merge=${driver}\n`,
      );
      repo.write('../drivers', Buffer.from(lines.join(''), 'latin1'));
      const drivers = mergesIn(bare, asked, ['-c', `core.attributesFile=${join(place.root, 'drivers')}`]);
      const custom = (all: string[]): string[] =>
        all.map((merge) => (/^(?:own|other)$/.test(merge) ? merge : ''));
      expect(custom(drivers)).toEqual(custom(seen));
    }),
    cases(60),
  );
});
