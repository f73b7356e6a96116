// One entry of the archive is one ref, `refs/sennit/archive/<operation>-<name>`, to a commit whose tree is all that the
// workspace held and whose parents are what its HEAD was at and its landed snapshots. Its trailers say where it was:
//
//     sennit: archive of cart
//
//     Sennit-Operation: 20261130-142501-k3f9
//     Sennit-Path: /home/me/wt/cart
//     Sennit-Branch: refs/heads/agent/cart
//     Sennit-Head: 4b825dc642cb6eb9a060e54bf8d69288fbee4904
//     Sennit-Base: 4b825dc642cb6eb9a060e54bf8d69288fbee4904
//     Sennit-Reason: contained in main: merging it adds nothing
//
// A source that a landing left out has such a ref too, to its snapshot or to its own commit: what that commit does not
// say, the ledger does.

import {
  displayPath,
  gitPathOfText,
  isOid,
  isOperationId,
  type Oid,
  type OperationId,
  parseDisplayPath,
} from '../model/ids.ts';
import type { CommitInfo, Objects } from '../ports/git.ts';
import { type Context, OWN_REFS } from './context.ts';
import { readLandData } from './land-data.ts';

export interface ArchiveEntry {
  readonly id: string;
  readonly ref: string;
  readonly commit: Oid;
  readonly tree: Oid;
  /** `workspace`: it was cleaned up; `dropped`: a landing left it out. */
  readonly kind: 'workspace' | 'dropped';
  readonly name: string;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly operation: OperationId | null;
  /** Where the workspace was, absolute; null for a source that was none. */
  readonly path: string | null;
  /** Full name of the branch that was checked out, or of the branch that was the source. */
  readonly branch: string | null;
  /** What HEAD was at; null when it was unborn. */
  readonly head: Oid | null;
  readonly base: Oid | null;
  /** Why it was taken away. */
  readonly reason: string;
}

export interface ArchiveFacts {
  readonly name: string;
  readonly operation: OperationId;
  readonly path: string;
  readonly branch: string | null;
  readonly head: Oid | null;
  readonly base: Oid | null;
  readonly reason: string;
}

const PREFIX = 'refs/sennit/archive/';

/** Id of the entry that an operation makes for a workspace or source. */
export function archiveId(operation: OperationId, slug: string): string {
  return `${operation}-${slug}`;
}

/** The message of an archive commit. */
export function renderArchive(facts: ArchiveFacts): string {
  const lines = [
    `Sennit-Operation: ${facts.operation}`,
    `Sennit-Path: ${displayPath(gitPathOfText(facts.path))}`,
    ...(facts.branch === null ? [] : [`Sennit-Branch: ${facts.branch}`]),
    ...(facts.head === null ? [] : [`Sennit-Head: ${facts.head}`]),
    ...(facts.base === null ? [] : [`Sennit-Base: ${facts.base}`]),
    `Sennit-Reason: ${facts.reason.replace(/\s+/g, ' ')}`,
  ];
  return `sennit: archive of ${displayPath(gitPathOfText(facts.name))}\n\n${lines.join('\n')}\n`;
}

function parseTrailers(message: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of message.split('\n')) {
    const match = /^(Sennit-[A-Za-z]+): (.*)$/.exec(line);
    if (match !== null) found.set(match[1] ?? '', match[2] ?? '');
  }
  return found;
}

function textOf(display: string): string {
  return Buffer.from(parseDisplayPath(display), 'latin1').toString('utf8');
}

/** `20261130-142501-k3f9` to `2026-11-30T14:25:01Z`. */
function timeOf(operation: OperationId): string {
  const [date = '', time = ''] = operation.split('-');
  return `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`;
}

/** All entries, newest first. */
export async function readArchives(context: Context, objects: Objects): Promise<ArchiveEntry[]> {
  const refs = await context.refs.listRefs(PREFIX);
  const entries = await Promise.all(
    refs.map(async ({ ref, commit }) =>
      commit === null ? [] : [readEntry(context, ref, await objects.readCommit(commit))],
    ),
  );
  return entries.flat().sort((a, b) => (a.created === b.created ? 0 : a.created < b.created ? 1 : -1));
}

function readEntry(context: Context, ref: string, commit: CommitInfo): ArchiveEntry {
  const id = ref.slice(PREFIX.length);
  const trailers = parseTrailers(commit.message);
  const stamp = id.split('-').slice(0, 3).join('-');
  const operation = isOperationId(stamp) ? stamp : null;
  const common = {
    id,
    ref,
    commit: commit.oid,
    tree: commit.tree,
    operation,
    created: operation === null ? new Date(commit.committed * 1000).toISOString() : timeOf(operation),
  };
  const path = trailers.get('Sennit-Path');
  if (commit.message.startsWith('sennit: archive of ') && path !== undefined) {
    return {
      ...common,
      kind: 'workspace',
      name: textOf((commit.message.split('\n')[0] ?? '').slice('sennit: archive of '.length)),
      path: textOf(path),
      branch: trailers.get('Sennit-Branch') ?? null,
      head: oidOf(trailers.get('Sennit-Head')),
      base: oidOf(trailers.get('Sennit-Base')),
      reason: trailers.get('Sennit-Reason') ?? '',
    };
  }
  return { ...common, ...droppedFacts(context, common, commit, trailers) };
}

function oidOf(text: string | undefined): Oid | null {
  return text !== undefined && isOid(text) ? text : null;
}

/** What is known of a source that a landing left out. */
function droppedFacts(
  context: Context,
  { id, ref, operation }: { id: string; ref: string; operation: OperationId | null },
  commit: CommitInfo,
  trailers: ReadonlyMap<string, string>,
): Pick<ArchiveEntry, 'kind' | 'name' | 'path' | 'branch' | 'head' | 'base' | 'reason'> {
  const record = operation === null ? undefined : context.readLedger()?.findOperation(operation);
  const dropped =
    record?.kind === 'land' ? readLandData(record).dropped.find(({ archive }) => archive === ref) : undefined;
  const uncommitted = trailers.has('Sennit-Workspace') && commit.message.startsWith('sennit: snapshot of ');
  const path =
    dropped?.kind === 'worktree'
      ? dropped.identity
      : uncommitted
        ? (trailers.get('Sennit-Workspace') ?? null)
        : null;
  return {
    kind: 'dropped',
    name: dropped?.name ?? (operation === null ? id : id.slice(operation.length + 1)),
    path,
    branch: dropped?.kind === 'branch' ? dropped.identity : null,
    head: uncommitted ? (commit.parents[0] ?? null) : commit.oid,
    base: dropped?.base ?? null,
    reason: 'a landing left it out: the gate was red with it',
  };
}

/** The entry that a person means by its id, its full ref name, or a beginning of the id that only one has. */
export function findArchive(entries: readonly ArchiveEntry[], name: string): ArchiveEntry | undefined {
  const id = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  const exact = entries.find((entry) => entry.id === id);
  if (exact !== undefined || id === '') return exact;
  const [only, other] = entries.filter((entry) => entry.id.startsWith(id) || entry.name === id);
  return other === undefined ? only : undefined;
}

/** Folder with the ignored files of a workspace that was cleaned up. It need not exist. */
export function keptFolder(context: Context, operation: OperationId, slug: string): string {
  return `${context.place.stateDir}/kept/${operation}/${slug}`;
}

/** As `keptFolder`, for an archive entry; null where no operation is known. */
export function keptFolderOf(context: Context, { id, operation }: ArchiveEntry): string | null {
  return operation === null ? null : keptFolder(context, operation, id.slice(operation.length + 1));
}

/** Ref of the staged content of an archived workspace, where that was neither its HEAD nor its files. */
export function stagedRef({ operation, id }: { operation: OperationId; id: string }): string {
  return OWN_REFS.aside(operation, `${id.slice(operation.length + 1)}-index`);
}
