import { expect, it } from 'vitest';
import { findUnnamedPaths } from './unnamed-paths.ts';

it('finds the paths that a message does not name', () => {
  const message = 'In the way: src/a.ts, "b c.ts" and (d).';
  expect(findUnnamedPaths(message, ['src/a.ts', 'a', 'way', 'b c.ts', 'd', 'src'])).toEqual(['a', 'src']);
});
