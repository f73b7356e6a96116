import { movedDirectories } from '../merge/overlap.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath } from '../model/ids.ts';
import type { EntryChange } from '../model/tree.ts';

/** Directories that one source moved while another adds to the old place: clean for git, wrong for people. */
export function movedDirectoryFindings(
  all: readonly { readonly source: { readonly name: string }; readonly changes: readonly EntryChange[] }[],
): Finding[] {
  const findings: Finding[] = [];
  const movers = all.filter(
    ({ changes }) =>
      changes.some(({ after }) => after === null) && changes.some(({ before }) => before === null),
  );
  for (const mover of movers) {
    for (const other of all) {
      if (other === mover) continue;
      for (const moved of movedDirectories(mover.changes, other.changes)) {
        findings.push({
          check: 'directory_moved',
          severity: 'warning',
          source: other.source.name,
          message: `${mover.source.name} moves ${moved.from}/ to ${moved.to}/, and ${other.source.name} adds files to the old place.`,
          paths: moved.added.map(displayPath),
        });
      }
    }
  }
  return findings;
}
