import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, pathBytes } from '../model/ids.ts';
import { firstNames, nameSome } from './workspace-disk.ts';

/** A path as a file system that does not tell cases apart sees it. */
function foldCase(path: GitPath): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is asked for
  return /^[\u0000-\u007f]*$/.test(path)
    ? path.toLowerCase()
    : pathBytes(path).toString('utf8').normalize('NFC').toLowerCase();
}

/** Calls `visit` for each path and each folder above it, once. */
function visitAll(paths: Iterable<GitPath>, visit: (path: GitPath) => void): void {
  const folders = new Set<GitPath>();
  for (const path of paths) {
    visit(path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end) as GitPath;
      if (folders.has(folder)) break;
      folders.add(folder);
      visit(folder);
    }
  }
}

/** Paths, and folders above them, of which a snapshot holds two that differ in case alone: `tracked` without `deleted`
 * and with `created`. Only what was created is looked at: twins that the base had are not the workspace's doing. */
export function findCaseTwins(
  created: readonly GitPath[],
  deleted: readonly GitPath[],
  tracked: readonly GitPath[],
): Finding[] {
  if (created.length === 0) return [];
  const names = new Map<string, Set<GitPath>>();
  visitAll(created, (path) => {
    const known = names.get(foldCase(path));
    if (known === undefined) names.set(foldCase(path), new Set([path]));
    else known.add(path);
  });
  const gone = new Set(deleted);
  const left = gone.size === 0 ? tracked : tracked.filter((path) => !gone.has(path));
  visitAll(left, (path) => names.get(foldCase(path))?.add(path));
  const twins = [...names.values()]
    .filter((same) => same.size > 1)
    .flatMap((same) => [...same].map(displayPath));
  if (twins.length === 0) return [];
  twins.sort();
  return [
    {
      check: 'case_twins',
      severity: 'warning',
      message: `These names differ in case alone, which many computers cannot tell apart: ${nameSome(twins)}.`,
      paths: firstNames(twins),
    },
  ];
}
