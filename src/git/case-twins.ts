import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, pathBytes } from '../model/ids.ts';
import type { IndexFacts } from './index-file.ts';
import { firstNames, nameSome } from './workspace-disk.ts';

/** A path as a file system that does not tell cases apart sees it. */
function foldCase(path: GitPath): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is asked for
  return /^[\u0000-\u007f]*$/.test(path)
    ? path.toLowerCase()
    : pathBytes(path).toString('utf8').normalize('NFC').toLowerCase();
}

/** Paths, and folders above them, of which the tree now holds two that differ in case alone. Only what was created is
 * looked at: twins that the base had are not the workspace's doing. */
export function findCaseTwins(created: readonly GitPath[], { paths, directories }: IndexFacts): Finding[] {
  if (created.length === 0) return [];
  const candidates = new Map<string, GitPath>();
  for (const path of created) {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const part = path.slice(0, end) as GitPath;
      if (candidates.get(foldCase(part)) === part) break;
      candidates.set(foldCase(part), part);
    }
  }
  const twins: GitPath[] = [];
  const look = (path: GitPath): void => {
    const candidate = candidates.get(foldCase(path));
    if (candidate !== undefined && candidate !== path) twins.push(candidate, path);
  };
  for (const path of paths) look(path);
  for (const directory of directories) look(directory);
  if (twins.length === 0) return [];
  const names = [...new Set(twins.map(displayPath))].sort();
  return [
    {
      check: 'case_twins',
      severity: 'warning',
      message: `These names differ in case alone, which many computers cannot tell apart: ${nameSome(names)}.`,
      paths: firstNames(names),
    },
  ];
}
