import { join } from 'node:path';
import type { Finding } from '../model/finding.ts';
import { displayPath, slugOf } from '../model/ids.ts';
import type { LandSession } from './land-session.ts';

/** What workspaces hold by now that their snapshots did not: written after the snapshot was taken, by an agent that was
 * still at work or by a process that it left behind. It is not in the landing, and is told. */
export async function findLateWork(session: LandSession): Promise<Finding[]> {
  const { context, objects, operation, data } = session;
  const worktrees = new Map(
    (await context.refs.listWorktrees()).map((worktree) => [worktree.path, worktree]),
  );
  const findings: Finding[] = [];
  for (const { name, kind, identity, snapshot, base } of data.sources) {
    const worktree = kind === 'worktree' ? worktrees.get(identity) : undefined;
    if (worktree === undefined || !worktree.exists) continue;
    const paths = await context.workspaces.compare(
      {
        worktree,
        base,
        maxFileBytes: context.settings.snapshot.maxFileBytes,
        filters: context.settings.snapshot.filters,
        exclude: context.settings.snapshot.exclude,
        scratch: join(context.place.stateDir, 'operations', operation, 'capture', slugOf(name)),
      },
      await objects.treeOf(snapshot),
    );
    if (paths.length === 0) continue;
    const shown = paths.map(displayPath);
    findings.push({
      check: 'workspace_changed_late',
      severity: 'warning',
      source: name,
      message: `${name} was changed after its snapshot was taken; that is not part of this landing: ${shown.slice(0, 5).join(', ')}.`,
      paths: shown,
      remedy: `Land ${name} again to take it along.`,
    });
  }
  return findings;
}
