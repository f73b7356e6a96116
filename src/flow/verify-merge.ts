// Looks at one merge result from outside (`src/merge/verify.ts`, `lines.ts`, `markers.ts`) and reads what those pure
// checks need. Decides which paths git may not settle at all: generated files and files with a merge driver that
// both sides changed. What does not pass becomes a conflict of kind `doubtful`.

import { checkLines } from '../merge/lines.ts';
import { countMarkers } from '../merge/markers.ts';
import {
  type LineQuestion,
  type MergeFacts,
  type PathProblem,
  type Verification,
  verifyPaths,
} from '../merge/verify.ts';
import type { Conflict, ConflictKind, Settlement, Sides } from '../model/conflict.ts';
import type { GitPath, Oid } from '../model/ids.ts';
import { isRegular, sameEntry, type TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource, MergeState } from './land-data.ts';
import type { MergeInput } from './merge-work.ts';

/** Files above this size are not compared line by line: a merge of such a file is handed over. Bytes. */
const LINE_CHECK_LIMIT = 8 * 1024 * 1024;
/** Contents that are held at a time when many files are checked. Bytes. */
const TOGETHER_LIMIT = 4 * 1024 * 1024;
/** A Git LFS pointer is a small text that begins with this (source: the Git LFS pointer specification). */
const LFS_HEAD = 'version https://git-lfs.github.com/spec/';
const LFS_POINTER_LIMIT = 1024;

type Unnamed = Omit<Conflict, 'sources'>;

export interface MergeCheck {
  /** What git called clean and is not believed. */
  readonly conflicts: readonly Unnamed[];
  /** Better kinds for conflicts that git reported. */
  readonly kinds: ReadonlyMap<GitPath, ConflictKind>;
  /** Paths that both sides changed and whose merge was believed. */
  readonly joined: readonly GitPath[];
  /** Judges what a rung made of a conflict; the reason for doubt, or undefined when it is believed. */
  check(settlement: Settlement, conflicts: readonly Conflict[]): Promise<string | undefined>;
}

/** Verifies `result`, git's merge of `source` onto `state`. Paths in `unsettled` are conflicts already. */
export async function verifyMerge(
  input: Pick<MergeInput, 'objects' | 'isGenerated'>,
  state: Pick<MergeState, 'accumulated' | 'tree'>,
  source: LandSource,
  result: Oid,
  unsettled: ReadonlySet<GitPath>,
): Promise<MergeCheck> {
  const { objects } = input;
  const bases = source.entangled
    ? await objects.mergeBases(state.accumulated, source.prepared)
    : [source.base];
  let best: { conflicts: Unnamed[]; joined: GitPath[]; facts: MergeFacts } | undefined;
  // With several merge bases git merges them first; the result must make sense against one of them.
  for (const base of bases) {
    const judged = await judge(objects, state, source, await objects.treeOf(base), result, unsettled);
    if (best === undefined || judged.conflicts.length < best.conflicts.length) best = judged;
    if (judged.conflicts.length === 0) break;
  }
  const { conflicts, joined, facts } = best ?? {
    conflicts: [],
    joined: [],
    facts: { baseToChange: [], baseToTarget: [], targetToResult: [] },
  };
  const reserved = await reservedPaths(input, facts, unsettled);
  const doubted = new Set(conflicts.map(({ path }) => path));
  for (const { path, kind, sides, message } of reserved) {
    if (unsettled.has(path) || doubted.has(path)) continue;
    conflicts.push({
      path,
      kind,
      sides,
      message,
      related: [],
      leftover: await objects.entryAt(result, path),
      tried: [{ rung: 'text', reason: message }],
    });
  }
  const kinds = new Map<GitPath, ConflictKind>();
  for (const { path, kind } of reserved) kinds.set(path, kind);
  for (const path of unsettled)
    if (!kinds.has(path) && (await isPointerConflict(objects, facts, path))) kinds.set(path, 'lfs-pointer');
  const own = new Set(conflicts.map(({ path }) => path));
  return {
    conflicts: conflicts.map((conflict) => ({
      ...conflict,
      kind: kinds.get(conflict.path) ?? conflict.kind,
    })),
    kinds,
    joined: joined.filter((path) => !own.has(path)),
    check: (settlement, all) => checkSettlement(objects, settlement, all),
  };
}

async function judge(
  objects: Objects,
  state: Pick<MergeState, 'tree'>,
  source: LandSource,
  base: Oid,
  result: Oid,
  unsettled: ReadonlySet<GitPath>,
): Promise<{ conflicts: Unnamed[]; joined: GitPath[]; facts: MergeFacts }> {
  const [baseToTarget, baseToChange, targetToResult] = await Promise.all([
    objects.diffTrees(base, state.tree),
    objects.diffTrees(base, source.tree),
    objects.diffTrees(state.tree, result),
  ]);
  const facts: MergeFacts = { baseToTarget, baseToChange, targetToResult };
  let verification: Verification = verifyPaths(facts, null, unsettled);
  if (verification.needsRenames) {
    const [target, change] = await Promise.all([
      objects.findRenames(base, state.tree),
      objects.findRenames(base, source.tree),
    ]);
    verification = verifyPaths(facts, { target, change }, unsettled);
  }
  const conflicts = verification.problems.map(problemConflict);
  const joined: GitPath[] = [];
  const doubts = await doubtsOf(objects, verification.questions);
  for (const [i, question] of verification.questions.entries()) {
    const doubt = doubts[i];
    if (doubt === undefined) joined.push(question.path);
    else conflicts.push(questionConflict(question, doubt));
  }
  return { conflicts, joined, facts };
}

function problemConflict({ path, problem, base, target, change, result }: PathProblem): Unnamed {
  const message = `git called this clean, but ${problem}`;
  return {
    path,
    kind: 'doubtful',
    sides: { base, target, change },
    message,
    related: [],
    leftover: result,
    tried: [{ rung: 'text', reason: message }],
  };
}

function questionConflict({ path, base, target, change, result }: LineQuestion, doubt: string): Unnamed {
  const message = `git called this clean, but ${doubt}`;
  return {
    path,
    kind: 'doubtful',
    sides: { base, target, change },
    message,
    related: [],
    leftover: result,
    tried: [{ rung: 'text', reason: message }],
  };
}

/** Why a joined file is not believed, or undefined. */
async function doubtOf(objects: Objects, question: LineQuestion): Promise<string | undefined> {
  return (await doubtsOf(objects, [question]))[0];
}

/** The same for many files, in the same order. Contents are read together, as far as the memory allows. */
export async function doubtsOf(
  objects: Objects,
  questions: readonly LineQuestion[],
): Promise<(string | undefined)[]> {
  const doubts: (string | undefined)[] = new Array(questions.length);
  const open = [...questions.entries()].filter(
    ([, { base, target, change, result }]) => !(sameContent(result, target) && sameContent(change, base)),
  );
  const sizes = new Map<Oid, number>();
  const oids = [...new Set(open.flatMap(([, question]) => contentsOf(question)))];
  for (const [i, size] of (await objects.blobSizes(oids)).entries()) sizes.set(oids[i] ?? ('' as Oid), size);
  let together: [number, LineQuestion][] = [];
  let bytes = 0;
  const answer = async (): Promise<void> => {
    const texts = new Map<Oid, string>();
    const wanted = [...new Set(together.flatMap(([, question]) => contentsOf(question)))];
    await objects.readBlobs(wanted, LINE_CHECK_LIMIT, (oid, content) => {
      if (content !== null) texts.set(oid, latin1(content));
    });
    for (const [i, question] of together) doubts[i] = doubtOfTexts(question, texts);
    [together, bytes] = [[], 0];
  };
  for (const [i, question] of open) {
    const own = contentsOf(question).map((oid) => sizes.get(oid) ?? 0);
    if (own.some((size) => size > LINE_CHECK_LIMIT)) {
      doubts[i] = 'the file is too large to be checked line by line';
      continue;
    }
    together.push([i, question]);
    bytes += own.reduce((sum, size) => sum + size, 0);
    if (bytes > TOGETHER_LIMIT) await answer();
  }
  if (together.length > 0) await answer();
  return doubts;
}

function contentsOf({ base, target, change, result }: LineQuestion): Oid[] {
  return [base, target, change, result].flatMap((entry) => (isRegular(entry) ? [entry.oid] : []));
}

function latin1(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
}

function doubtOfTexts(question: LineQuestion, texts: ReadonlyMap<Oid, string>): string | undefined {
  const read = (entry: TreeEntry | null): string => {
    if (!isRegular(entry)) return '';
    const text = texts.get(entry.oid);
    if (text === undefined) throw new RangeError(`${entry.oid} was not read`);
    return text;
  };
  const target = read(question.target);
  const change = read(question.change);
  const result = read(question.result);
  if (countMarkers(result) > Math.max(countMarkers(target), countMarkers(change)))
    return 'the result holds conflict markers';
  const verdict = checkLines(read(question.base), target, change, result);
  if (verdict.ok) return undefined;
  const line = Buffer.from(verdict.line, 'latin1').toString('utf8').trim().slice(0, 80);
  return {
    'line-lost': `a line that one side has is missing: ${line}`,
    'line-back': `a line that one side deleted is back: ${line}`,
    'line-doubled': `a line is there more often than both sides explain: ${line}`,
  }[verdict.problem];
}

function sameContent(a: TreeEntry | null, b: TreeEntry | null): boolean {
  return a?.oid === b?.oid;
}

interface Reserved {
  readonly path: GitPath;
  readonly kind: ConflictKind;
  readonly sides: Sides;
  readonly message: string;
}

/** Paths that both sides changed and that no text merge may settle. */
async function reservedPaths(
  input: Pick<MergeInput, 'objects' | 'isGenerated'>,
  facts: MergeFacts,
  unsettled: ReadonlySet<GitPath>,
): Promise<Reserved[]> {
  const target = new Map(facts.baseToTarget.map((change) => [change.path, change]));
  const both = facts.baseToChange.flatMap(({ path, before, after }) => {
    const other = target.get(path);
    if (other === undefined || (sameEntry(other.after, after) && !unsettled.has(path))) return [];
    return [{ path, sides: { base: before, target: other.after, change: after } }];
  });
  const drivers = await input.objects.findDrivers(both.map(({ path }) => path));
  return both.flatMap(({ path, sides }): Reserved[] => {
    if (input.isGenerated(path)) {
      return [
        {
          path,
          sides,
          kind: 'generated',
          message: 'several sources change this generated file: it must be written anew, not merged',
        },
      ];
    }
    const driver = drivers.get(path);
    if (driver === undefined) return [];
    return [
      {
        path,
        sides,
        kind: 'driver',
        message: `its attributes ask for the merge driver "${driver}", which Sennit does not run`,
      },
    ];
  });
}

async function isPointerConflict(objects: Objects, facts: MergeFacts, path: GitPath): Promise<boolean> {
  const entry = facts.baseToChange.find((change) => change.path === path)?.after;
  if (!isRegular(entry) || (await objects.blobSize(entry.oid)) > LFS_POINTER_LIMIT) return false;
  return Buffer.from(await objects.readBlob(entry.oid))
    .toString('latin1')
    .startsWith(LFS_HEAD);
}

async function checkSettlement(
  objects: Objects,
  settlement: Settlement,
  all: readonly Conflict[],
): Promise<string | undefined> {
  const conflict = all.find(({ path }) => path === settlement.path);
  if (conflict === undefined || !isRegular(settlement.entry)) return undefined;
  const { base, target, change } = conflict.sides;
  if (!isRegular(target) || !isRegular(change)) return undefined;
  return doubtOf(objects, { path: settlement.path, base, target, change, result: settlement.entry });
}
