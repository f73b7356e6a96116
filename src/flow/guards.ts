// The last look at a tree before it is landed: what is in it that no merge would object to and nobody wants. Links that
// point out of the repository, submodules without a record, conflict markers, paths that no source touched, and names
// that differ only by case.

import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid } from '../model/ids.ts';
import { type EntryChange, isRegular } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { BlobFacts } from './blob-facts.ts';
import type { Context } from './context.ts';

export interface GuardInput {
  readonly tip: Oid;
  readonly tree: Oid;
  readonly changes: readonly EntryChange[];
  /** Every path that a source, a resolution or a regenerating command may have changed. */
  readonly allowed: ReadonlySet<GitPath>;
  readonly facts: BlobFacts;
}

/** Looks at all that a landing would change. A finding of severity `error` stops it. */
export async function inspectLanding(
  context: Context,
  objects: Objects,
  input: GuardInput,
): Promise<Finding[]> {
  const { guards } = context.settings;
  const [links, gitlinks, markers] = await Promise.all([
    guards.symlinks === 'allow' ? [] : findEscapingLinks(objects, input.changes),
    guards.gitlinks === 'allow' ? [] : findLooseGitlinks(objects, input),
    findMarkers(context, input.facts, input.changes),
  ]);
  return [...links, ...gitlinks, ...markers, ...findStrangers(input), ...findCaseTwins(input.changes)];
}

/** True when a link at `path` leads out of the repository or into a git dir, is absolute, or goes back up after it went
 * down: what it went down through can be a link too, and then it leads elsewhere. */
export function escapes(path: GitPath, target: string): boolean {
  if (target.startsWith('/') || /^[A-Za-z]:[\\/]/.test(target)) return true;
  let depth = path.split('/').length - 1;
  let wentDown = false;
  for (const part of target.split('/')) {
    if (part === '..') {
      depth -= 1;
      if (wentDown || depth < 0) return true;
    } else if (part !== '' && part !== '.') {
      wentDown = true;
      if (part.toLowerCase() === '.git') return true;
    }
  }
  return false;
}

async function findEscapingLinks(objects: Objects, changes: readonly EntryChange[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { path, after } of changes) {
    if (after?.mode !== '120000') continue;
    const target = Buffer.from(await objects.readBlob(after.oid)).toString('latin1');
    if (!escapes(path, target)) continue;
    findings.push({
      check: 'link_escapes',
      severity: 'error',
      message: `${displayPath(path)} is a link to ${displayPath(target as GitPath)}, outside the repository: it would mean something else on every machine.`,
      paths: [displayPath(path)],
      remedy: 'Remove the link from the source, or set guards.symlinks: allow.',
    });
  }
  return findings;
}

async function findLooseGitlinks(objects: Objects, { tree, changes }: GuardInput): Promise<Finding[]> {
  const added = changes.filter(({ before, after }) => after?.mode === '160000' && before?.mode !== '160000');
  if (added.length === 0) return [];
  const modules = await objects.entryAt(tree, '.gitmodules' as GitPath);
  const text = modules === null ? '' : Buffer.from(await objects.readBlob(modules.oid)).toString('latin1');
  const recorded = new Set([...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map((match) => match[1] ?? ''));
  return added
    .filter(({ path }) => !recorded.has(path))
    .map(({ path }) => ({
      check: 'gitlink_loose',
      severity: 'error' as const,
      message: `${displayPath(path)} would become a submodule that .gitmodules does not know: its content would be missing from every clone.`,
      paths: [displayPath(path)],
      remedy: 'Add it with `git submodule add`, or set guards.gitlinks: allow.',
    }));
}

async function findMarkers(
  context: Context,
  facts: BlobFacts,
  changes: readonly EntryChange[],
): Promise<Finding[]> {
  const written = changes.flatMap(({ path, before, after }) =>
    isRegular(after) && before?.oid !== after.oid ? [{ path, before, after }] : [],
  );
  await facts.learn(written.map(({ after }) => after.oid));
  const suspects = written.filter(
    ({ path, after }) => facts.of(after.oid).markers > 0 && !context.patterns.mayHoldMarkers(path),
  );
  await facts.learn(suspects.flatMap(({ before }) => (isRegular(before) ? [before.oid] : [])));
  const marked = suspects
    .filter(
      ({ before, after }) =>
        facts.of(after.oid).markers > (isRegular(before) ? facts.of(before.oid).markers : 0),
    )
    .map(({ path }) => displayPath(path));
  if (marked.length === 0) return [];
  return [
    {
      check: 'markers_left',
      severity: 'error',
      message: `Conflict markers would be landed in ${marked.slice(0, 10).join(', ')}.`,
      paths: marked,
      remedy: 'Resolve them in the source, or name the files under guards.markers if they are meant.',
    },
  ];
}

function findStrangers({ changes, allowed }: GuardInput): Finding[] {
  const strangers = changes.map(({ path }) => path).filter((path) => !allowed.has(path));
  if (strangers.length === 0) return [];
  return [
    {
      check: 'path_unexplained',
      severity: 'error',
      message: `The merged tree changes paths that no source changed: ${strangers.slice(0, 10).map(displayPath).join(', ')}.`,
      paths: strangers.map(displayPath),
    },
  ];
}

function findCaseTwins(changes: readonly EntryChange[]): Finding[] {
  const names = new Map<string, GitPath>();
  const twins: string[] = [];
  for (const { path, after } of changes) {
    if (after === null) continue;
    const folded = path.toLowerCase();
    const other = names.get(folded);
    if (other === undefined) names.set(folded, path);
    else twins.push(displayPath(other), displayPath(path));
  }
  if (twins.length === 0) return [];
  return [
    {
      check: 'case_twins',
      severity: 'warning',
      message: `Names that differ only by case cannot both be checked out on macOS or Windows: ${twins.join(', ')}.`,
      paths: twins,
    },
  ];
}
