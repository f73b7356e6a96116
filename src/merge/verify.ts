// A clean result is provisional. This looks at a merge from outside, with nothing but the changes of both sides and of
// the result: every path that one side alone changed must be as that side has it, every path that nobody changed must
// be as it was, and every path that both changed is handed on to a check of its lines. What a rename explains is
// checked by its lines too. Anything else is a path lost, an edit lost, or a path changed by nobody: a conflict.

import type { GitPath } from '../model/ids.ts';
import { type EntryChange, isRegular, type Mode, sameEntry, type TreeEntry } from '../model/tree.ts';

/** Renames that git sees on each side, old path to new path. Only asked for where something needs explaining. */
export interface Renames {
  readonly target: ReadonlyMap<GitPath, GitPath>;
  readonly change: ReadonlyMap<GitPath, GitPath>;
}

export interface MergeFacts {
  readonly baseToTarget: readonly EntryChange[];
  readonly baseToChange: readonly EntryChange[];
  readonly targetToResult: readonly EntryChange[];
}

/** Four versions of one file whose result must hold both sides' lines. */
export interface LineQuestion {
  readonly path: GitPath;
  readonly base: TreeEntry | null;
  readonly target: TreeEntry;
  readonly change: TreeEntry;
  readonly result: TreeEntry;
}

export interface PathProblem {
  readonly path: GitPath;
  readonly problem: string;
  readonly base: TreeEntry | null;
  readonly target: TreeEntry | null;
  readonly change: TreeEntry | null;
  readonly result: TreeEntry | null;
}

export interface Verification {
  readonly problems: readonly PathProblem[];
  readonly questions: readonly LineQuestion[];
  /** True when something can only be explained by a rename and none was given: ask git and call again. */
  readonly needsRenames: boolean;
}

/** The mode that both sides come to together; undefined where they set different ones. */
function mergedMode(base: TreeEntry | null, target: TreeEntry, change: TreeEntry): Mode | undefined {
  if (target.mode === change.mode || change.mode === base?.mode) return target.mode;
  return target.mode === base?.mode ? change.mode : undefined;
}

/** Checks one merge by its paths. Paths in `skip` (settled conflicts) are not judged. */
export function verifyPaths(
  facts: MergeFacts,
  renames: Renames | null,
  skip: ReadonlySet<GitPath>,
): Verification {
  const target = new Map(facts.baseToTarget.map((change) => [change.path, change]));
  const change = new Map(facts.baseToChange.map((entry) => [entry.path, entry]));
  const result = new Map(facts.targetToResult.map((entry) => [entry.path, entry]));
  const problems: PathProblem[] = [];
  const questions: LineQuestion[] = [];
  const explained = new Set<GitPath>();
  const doubtful: (() => void)[] = [];
  let needsRenames = false;

  const targetAt = (path: GitPath): TreeEntry | null =>
    (target.get(path) ? target.get(path)?.after : change.get(path)?.before) ??
    result.get(path)?.before ??
    null;
  const resultAt = (path: GitPath): TreeEntry | null => {
    const changed = result.get(path);
    return changed === undefined ? targetAt(path) : changed.after;
  };
  const complain = (path: GitPath, problem: string): void => {
    problems.push({
      path,
      problem,
      base: target.get(path)?.before ?? change.get(path)?.before ?? null,
      target: targetAt(path),
      change: change.has(path) ? (change.get(path)?.after ?? null) : (target.get(path)?.before ?? null),
      result: resultAt(path),
    });
  };

  /** One side renamed `from` to `to`, the other edited `from`: the edit must be in the result at `to`. */
  const checkRename = (from: GitPath, to: GitPath, renamed: 'target' | 'change'): boolean => {
    if (skip.has(to)) {
      explained.add(from);
      return true;
    }
    const base = target.get(from)?.before ?? change.get(from)?.before ?? null;
    const moved = renamed === 'target' ? targetAt(to) : (change.get(to)?.after ?? null);
    const edited = renamed === 'target' ? (change.get(from)?.after ?? null) : targetAt(from);
    const merged = resultAt(to);
    if (resultAt(from) !== null || !isRegular(moved) || !isRegular(edited) || !isRegular(merged))
      return false;
    if (merged.mode !== mergedMode(base, moved, edited)) return false;
    explained.add(from);
    explained.add(to);
    questions.push(
      renamed === 'target'
        ? { path: to, base, target: moved, change: edited, result: merged }
        : { path: to, base, target: edited, change: moved, result: merged },
    );
    return true;
  };

  /** What a path that both sides added was before both renamed it alike; null when they did not. */
  const baseOfBoth = (to: GitPath): TreeEntry | null => {
    needsRenames = true;
    for (const [from, moved] of renames?.target ?? [])
      if (moved === to && renames?.change.get(from) === to) return target.get(from)?.before ?? null;
    return null;
  };

  for (const { path, before, after } of facts.baseToChange) {
    if (skip.has(path)) continue;
    const other = target.get(path);
    const merged = resultAt(path);
    if (other === undefined) {
      if (!sameEntry(merged, after)) {
        doubtful.push(() =>
          complain(
            path,
            merged === null
              ? 'a path of the change is missing from the result'
              : 'the result is not what the change has',
          ),
        );
      }
      continue;
    }
    if (sameEntry(other.after, after)) {
      if (!sameEntry(merged, after))
        doubtful.push(() => complain(path, 'both sides agree, the result does not'));
      continue;
    }
    if (other.after !== null && after !== null) {
      const base = before ?? baseOfBoth(path);
      if (!isRegular(other.after) || !isRegular(after) || !isRegular(merged))
        doubtful.push(() => complain(path, 'both sides changed it in ways that git should not have merged'));
      else if (merged.mode !== mergedMode(base, other.after, after))
        doubtful.push(() => complain(path, 'one side made it executable or not, the result did not follow'));
      else questions.push({ path, base, target: other.after, change: after, result: merged });
      continue;
    }
    // One side deleted or moved it, the other edited it: clean only by a rename.
    const moved = other.after === null ? renames?.target.get(path) : renames?.change.get(path);
    if (moved !== undefined && checkRename(path, moved, other.after === null ? 'target' : 'change')) continue;
    doubtful.push(() => complain(path, 'one side deleted what the other edited'));
  }
  for (const { path } of facts.targetToResult) {
    if (skip.has(path) || change.has(path)) continue;
    doubtful.push(() => complain(path, 'the result differs where the change touches nothing'));
  }
  if ((doubtful.length > 0 || needsRenames) && renames === null)
    return { problems: [], questions: [], needsRenames: true };
  for (const raise of doubtful) raise();
  return { problems: problems.filter(({ path }) => !explained.has(path)), questions, needsRenames: false };
}
