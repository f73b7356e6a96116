// What plain git makes of pairs of commits: `git merge-tree --write-tree -z --stdin` with its default settings unless told
// otherwise, new objects in a folder that is thrown away. One pair that git cannot merge at all ends a whole batch, so a failed batch
// is halved until the pair is alone.

import { join } from 'node:path';
import { git } from '../place.mjs';

const BATCH = 200;

/** Reads records `1\0<tree>\0\0` (clean) and `0\0<tree>\0<entries>\0<messages>\0`. */
function parseRecords(bytes) {
  const fields = bytes.toString('latin1').split('\0');
  const records = [];
  let at = 0;
  const next = () => {
    if (at >= fields.length) throw new Error('merge-tree --stdin ended inside a record');
    at += 1;
    return fields[at - 1];
  };
  while (at < fields.length - 1) {
    const status = next();
    const tree = next();
    if (!/^[01]$/.test(status) || !/^[0-9a-f]{40,64}$/.test(tree))
      throw new Error('merge-tree --stdin: bad record');
    if (status === '1') {
      if (next() !== '') throw new Error('merge-tree --stdin: a clean record did not end');
      records.push({ clean: true, tree, stages: [], conflicts: [] });
      continue;
    }
    const stages = [];
    for (let entry = next(); entry !== ''; entry = next()) stages.push(entry.slice(entry.indexOf('\t') + 1));
    const conflicts = [];
    for (let head = next(); head !== ''; head = next()) {
      const paths = Array.from({ length: Number(head) }, next);
      const type = next();
      next();
      if (type !== 'Auto-merging') conflicts.push({ type, paths });
    }
    records.push({ clean: false, tree, stages, conflicts });
  }
  return records;
}

/** For each pair `{ clean, tree, stages, conflicts }` (`stages`: the paths that conflict), or `{ failed }` where git
 * refuses it. `settings` are more arguments before the command. */
export function mergePairs(place, repository, pairs, settings = []) {
  const env = {
    GIT_OBJECT_DIRECTORY: join(place.root, 'quarantine'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
  };
  const attempt = (some) => {
    try {
      const bytes = git(place, [...settings, 'merge-tree', '--write-tree', '-z', '--stdin'], {
        cwd: repository,
        env,
        input: some.map(([a, b]) => `${a} ${b}\n`).join(''),
        accept: [0, 1],
      });
      const records = parseRecords(bytes);
      if (records.length !== some.length)
        throw new Error(`${records.length} records for ${some.length} pairs`);
      return records;
    } catch (error) {
      if (some.length === 1) return [{ failed: String(error.message) }];
      const middle = some.length >> 1;
      return [...attempt(some.slice(0, middle)), ...attempt(some.slice(middle))];
    }
  };
  const results = [];
  for (let i = 0; i < pairs.length; i += BATCH) results.push(...attempt(pairs.slice(i, i + BATCH)));
  return results;
}
