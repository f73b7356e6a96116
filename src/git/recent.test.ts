import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

const recent = (): Recent<string> => new Recent(10, (text) => text.length);

it('never holds more than its limit, whatever is kept', () => {
  const values = recent();
  for (const key of ['a', 'b', 'c']) values.keep(key, key.repeat(4));
  expect([values.find('a'), values.find('b'), values.find('c')]).toEqual([undefined, 'bbbb', 'cccc']);
});

it('does not give up what it holds for what is too heavy', () => {
  const values = recent();
  values.keep('a', 'aaaa');
  values.keep('heavy', 'h'.repeat(11));
  expect([values.find('a'), values.find('heavy')]).toEqual(['aaaa', undefined]);
});

it('counts what is kept twice once', () => {
  const values = recent();
  for (let n = 0; n < 5; n += 1) values.keep('a', 'aaaa');
  values.keep('b', 'bbbb');
  expect([values.find('a'), values.find('b')]).toEqual(['aaaa', 'bbbb']);
});
