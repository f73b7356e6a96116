import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchPaths } from '../../src/config/path-patterns.ts';
import { gitPathOfText } from '../../src/model/ids.ts';
import { Repository } from '../support/repo.ts';
import { sealedPlace } from '../support/sealed.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), minLength: 1, maxLength: 3 });
const name = word.filter((text) => !/^\.+$/.test(text));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const part = fc.oneof(name, fc.constantFrom('*', '**', '*a', '*.b', 'a*', '.*', '?', 'a?', '[ab]', '[!a]*'));
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '/'),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/'),
  )
  .map(([start, parts, end]) => start + parts.join('/') + end);

it('a pattern of the settings covers what the same line of .gitignore covers', () => {
  const repo = Repository.create(sealedPlace());
  fc.assert(
    fc.property(pattern, fc.uniqueArray(path, { minLength: 30, maxLength: 60 }), (line, paths) => {
      repo.write('.git/info/exclude', `${line}\n`);
      const run = repo.tryGit(['check-ignore', '--no-index', '-z', '--stdin'], { input: paths.join('\0') });
      const covered = new Set(run.stdout.split('\0'));
      const matches = matchPaths([line]);
      expect(paths.filter((each) => matches(gitPathOfText(each)))).toEqual(
        paths.filter((each) => covered.has(each)),
      );
    }),
    { numRuns: 300 },
  );
});
