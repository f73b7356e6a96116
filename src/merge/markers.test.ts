import { expect, test } from 'vitest';
import { countMarkerLines, countMarkers, takeSections } from './markers.ts';

const CONFLICT = 'one\n<<<<<<< main\nT\n||||||| abc\nB\n=======\nC\n>>>>>>> wt\ntwo\n';

test('a heading underlined by equals signs is no conflict', () => {
  expect(countMarkers('Title\n=======\ntext\n')).toBe(0);
  expect(countMarkers(CONFLICT)).toBe(1);
  expect(countMarkers(CONFLICT.replaceAll('\n', '\r\n'))).toBe(1);
});

test('a closing marker without an opening one before it does not count', () => {
  expect(countMarkers('>>>>>>> a\n<<<<<<< b\n')).toBe(0);
});

test('taking one side of each conflict keeps what is merged around it', () => {
  expect(takeSections(CONFLICT, 'target')).toBe('one\nT\ntwo\n');
  expect(takeSections(CONFLICT, 'base')).toBe('one\nB\ntwo\n');
  expect(takeSections(CONFLICT, 'change')).toBe('one\nC\ntwo\n');
});

test('markers that are not whole are never guessed at', () => {
  expect(takeSections('<<<<<<< main\nT\n=======\nC\n>>>>>>> wt\n', 'target')).toBeUndefined();
  expect(takeSections('<<<<<<< main\nT\n', 'target')).toBeUndefined();
});

test('half of a conflict that was taken out still counts by its lines', () => {
  expect(countMarkerLines(CONFLICT.replace('<<<<<<< main\n', ''))).toBe(3);
  expect(countMarkerLines('one\ntwo\n')).toBe(0);
});
