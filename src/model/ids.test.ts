import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asOid,
  displayPath,
  gitPathOf,
  gitPathOfText,
  isOperationId,
  newOperationId,
  parseDisplayPath,
  pathBytes,
  slugOf,
} from './ids.ts';

/** Bytes of names as they come: text in many scripts, bytes that are no text, and what is special when shown. */
const nameBytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('"', '\\', '\n', '\r', '\t', '\u{feff}', '\\303', '\\n', ' ', '\u0085', '\u202e')
        .map((text) => Buffer.from(text)),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts))
  .filter((bytes) => !bytes.includes(0));

describe('paths for people', () => {
  test('what is shown leads back to the same bytes, whatever a file is called', () => {
    fc.assert(
      fc.property(nameBytes, (bytes) => {
        const path = gitPathOf(bytes);
        expect(pathBytes(parseDisplayPath(displayPath(path)))).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  test('a name cannot break the line it is shown on, nor turn it around', () => {
    fc.assert(
      fc.property(nameBytes, (bytes) => {
        expect(displayPath(gitPathOf(bytes))).not.toMatch(
          // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
          /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/,
        );
      }),
      { numRuns: 2000 },
    );
    expect(displayPath(gitPathOfText('exe.\u202etxt'))).toBe('"exe.\\342\\200\\256txt"');
  });

  test('ordinary names in any script stay readable', () => {
    expect(displayPath(gitPathOfText('docs/überblick 日本.md'))).toBe('docs/überblick 日本.md');
    expect(displayPath(gitPathOf(Buffer.from('caf\xe9.ts', 'latin1')))).toBe('"caf\\351.ts"');
  });

  test('a name quoted by git itself can be pasted', () => {
    expect(pathBytes(parseDisplayPath('"a\\a\\b\\t\\n\\v\\f\\r\\"\\\\\\303\\251"'))).toEqual(
      Buffer.from('a\x07\b\t\n\v\f\r"\\é'),
    );
  });
});

describe('slugs', () => {
  const anyName = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.string({ unit: fc.constantFrom('a', '.', '-', '/', '@', '{', '~', '.lock', ' '), maxLength: 30 }),
    fc.string({ unit: fc.constantFrom('a', '.', '-'), minLength: 70, maxLength: 90 }),
    fc
      .tuple(fc.integer({ min: 60, max: 90 }), fc.constantFrom('.lock', '.', '..', '-', '.LOCK'))
      .map(([count, tail]) => `${'n'.repeat(count)}${tail}${'m'.repeat(10)}`),
  );

  test('any name of a source makes a ref that git accepts and a short file name', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const slug = slugOf(name);
        // The rules of git-check-ref-format(1) for one component, made of these characters only.
        expect(slug).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,79}$/);
        expect(slug).not.toMatch(/\.\.|\.$|\.lock$/i);
      }),
      { numRuns: 3000 },
    );
  });

  test('long names that differ only at their end are not taken for one', () => {
    const long = 'agent-'.repeat(20);
    expect(slugOf(`${long}one`)).not.toBe(slugOf(`${long}two`));
  });

  test('a folder named after a commit is not taken for that commit by git', () => {
    const oid = 'deadbeef'.repeat(5);
    expect(slugOf(oid)).not.toMatch(/^[0-9a-f]{40}$/);
    expect(slugOf(`${oid}${'0'.repeat(24)}`)).not.toMatch(/^[0-9a-f]{64}$/);
  });
});

test('a shortened or upper-case object id is never taken for a whole one', () => {
  expect(() => asOid('deadbeef')).toThrow(TypeError);
  expect(() => asOid('DEADBEEF'.repeat(5))).toThrow(TypeError);
  expect(() => asOid(`${'deadbeef'.repeat(5)}\n`)).toThrow(TypeError);
});

test('ids of operations sort by the time at which they began', () => {
  const ids = [0, 1, 59, 3600, 86_400, 400 * 86_400].map((second) =>
    newOperationId(new Date(Date.UTC(2026, 0, 1) + second * 1000)),
  );
  expect([...ids].sort()).toEqual(ids);
  expect(ids.every(isOperationId)).toBe(true);
});
