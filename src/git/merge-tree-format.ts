// Parses what `git merge-tree --write-tree -z` prints. One-shot output:
//   <tree>\0 then for a conflict: <mode> <oid> <stage>\t<path>\0 … \0 then <n>\0path\0…type\0message\n\0 …
// `--stdin` output, one record a pair: `1\0<tree>\0\0` (clean) or `0\0<tree>\0<entries>\0<messages>\0`.
// Exit code 1 alone never means conflict: a bad revision exits with 1 too, but prints no tree. The parser stops
// at the documented ends, because git 2.39 appends unstructured advice about submodules.

import type { ConflictKind, Sides } from '../model/conflict.ts';
import { asGitPath, type GitPath, isOid, type Oid } from '../model/ids.ts';
import type { Mode, TreeEntry } from '../model/tree.ts';
import type { MergeTreeResult, RawConflict } from '../ports/git.ts';

interface Message {
  readonly paths: readonly GitPath[];
  readonly type: string;
  readonly text: string;
}

interface Stages {
  base: TreeEntry | null;
  target: TreeEntry | null;
  change: TreeEntry | null;
}

/** The kind for git's short conflict types (source: `type_short_descriptions` in merge-ort.c). */
const KIND_OF_TYPE: readonly (readonly [prefix: string, kind: ConflictKind])[] = [
  ['CONFLICT (binary)', 'binary'],
  ['CONFLICT (file/directory)', 'file-directory'],
  // A rename with an edit against a deletion is told as both: the rename says more.
  ['CONFLICT (rename/delete)', 'rename-delete'],
  ['CONFLICT (modify/delete)', 'modify-delete'],
  ['CONFLICT (rename/rename)', 'rename-rename'],
  ['CONFLICT (rename involved in collision)', 'rename-add'],
  ['CONFLICT (distinct modes)', 'mode'],
  ['CONFLICT (distinct types)', 'mode'],
  ['CONFLICT (submodule', 'submodule'],
  ['CONFLICT (commit', 'submodule'],
  ['CONFLICT (file location)', 'rename-add'],
  ['CONFLICT (directory rename', 'rename-rename'],
  ['CONFLICT (contents)', 'content'],
];

function kindOf(types: readonly string[], sides: Sides): ConflictKind {
  const entries = [sides.base, sides.target, sides.change];
  if (entries.some((entry) => entry?.mode === '160000')) return 'submodule';
  for (const [prefix, kind] of KIND_OF_TYPE) {
    if (kind === 'content') continue;
    if (types.some((type) => type.startsWith(prefix))) return kind;
  }
  if (entries.some((entry) => entry?.mode === '120000')) return 'symlink';
  if (sides.target !== null && sides.target.oid === sides.change?.oid) return 'mode';
  if (types.some((type) => type.startsWith('CONFLICT (contents)'))) {
    return sides.base === null ? 'add-add' : 'content';
  }
  if (sides.target === null || sides.change === null) return 'modify-delete';
  if (sides.target.oid === sides.change.oid) return 'mode';
  return sides.base === null ? 'add-add' : 'other';
}

class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.at >= this.#bytes.length;
  }

  /** The next NUL-terminated field. */
  field(): string {
    const nul = this.#bytes.indexOf(0, this.at);
    if (nul === -1) throw new Error('merge-tree output ends inside a field');
    const text = this.#bytes.toString('latin1', this.at, nul);
    this.at = nul + 1;
    return text;
  }
}

function readStages(reader: Reader): Map<GitPath, Stages> {
  const stages = new Map<GitPath, Stages>();
  for (;;) {
    if (reader.done) return stages;
    const line = reader.field();
    if (line === '') return stages;
    const match = /^(\d{6}) ([0-9a-f]+) ([123])\t([\s\S]+)$/.exec(line);
    if (match === null) throw new Error(`merge-tree printed an unknown entry: ${JSON.stringify(line)}`);
    const [, mode = '', oid = '', stage = '', name = ''] = match;
    const path = asGitPath(name);
    const at = stages.get(path) ?? { base: null, target: null, change: null };
    const entry: TreeEntry = { mode: mode as Mode, oid: oid as Oid };
    if (stage === '1') at.base = entry;
    else if (stage === '2') at.target = entry;
    else at.change = entry;
    stages.set(path, at);
  }
}

function readMessage(reader: Reader, count: string): Message {
  const paths: GitPath[] = [];
  for (let i = Number(count); i > 0; i -= 1) paths.push(asGitPath(reader.field()));
  const type = reader.field();
  return { paths, type, text: Buffer.from(reader.field(), 'latin1').toString('utf8').trim() };
}

function conflictsOf(stages: Map<GitPath, Stages>, messages: readonly Message[]): RawConflict[] {
  const conflicts: RawConflict[] = [];
  for (const [path, sides] of stages) {
    const about = messages.filter(
      (message) => message.paths.includes(path) && message.type !== 'Auto-merging',
    );
    const related = new Set(about.flatMap((message) => message.paths));
    related.delete(path);
    conflicts.push({
      path,
      sides,
      kind: kindOf(
        about.map((message) => message.type),
        sides,
      ),
      message: about.map((message) => message.text).join('\n'),
      related: [...related],
    });
  }
  return conflicts;
}

/** Parses one-shot output for exit code 0 or 1. Anything that does not begin with a tree id is `refused`. */
export function parseMergeTree(bytes: Buffer, code: number, stderr: string): MergeTreeResult {
  const nul = bytes.indexOf(0);
  const tree = nul === -1 ? '' : bytes.toString('latin1', 0, nul);
  if (!isOid(tree))
    return { outcome: 'refused', reason: stderr.trim() || `git merge-tree exited with ${code}` };
  if (code === 0) return { outcome: 'clean', tree };
  const reader = new Reader(bytes);
  reader.field();
  const stages = readStages(reader);
  const messages: Message[] = [];
  while (!reader.done) {
    const mark = reader.at;
    // The advice of git 2.39 after the last record is not a count and holds no NUL.
    const rest = bytes.indexOf(0, mark);
    if (rest === -1) break;
    const count = reader.field();
    if (!/^\d+$/.test(count)) break;
    messages.push(readMessage(reader, count));
  }
  const conflicts = conflictsOf(stages, messages);
  if (conflicts.length === 0)
    return {
      outcome: 'refused',
      reason: `a conflict without paths: ${messages.map((m) => m.text).join(' ')}`,
    };
  return { outcome: 'conflict', tree, conflicts };
}

/** Parses `--stdin` output of `count` pairs. Throws when there are fewer records than pairs. */
export function parseMergeTreeBatch(bytes: Buffer, count: number): MergeTreeResult[] {
  const reader = new Reader(bytes);
  const results: MergeTreeResult[] = [];
  while (results.length < count) {
    const status = reader.field();
    const tree = reader.field();
    if (!isOid(tree) || (status !== '0' && status !== '1')) {
      throw new Error(`merge-tree --stdin printed an unknown record: ${JSON.stringify([status, tree])}`);
    }
    if (status === '1') {
      if (reader.field() !== '') throw new Error('a clean merge-tree record did not end where it should');
      results.push({ outcome: 'clean', tree });
      continue;
    }
    const stages = readStages(reader);
    const messages: Message[] = [];
    // The advice of git 2.39 stands before the end of its record and is no count.
    for (let head = reader.field(); /^\d+$/.test(head); head = reader.field())
      messages.push(readMessage(reader, head));
    results.push({ outcome: 'conflict', tree, conflicts: conflictsOf(stages, messages) });
  }
  return results;
}
