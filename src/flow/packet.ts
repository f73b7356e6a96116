// The packet: what a person or an agent needs to settle the conflicts of one source, as JSON and as Markdown. Pure.

import type { Conflict } from '../model/conflict.ts';
import { displayPath, type OperationId } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { LandData, OpenMerge } from './land-data.ts';

/** `conflicts.json`, contract version 1. Paths are display paths; versions are `{mode, oid}` or null. */
export interface Packet {
  readonly contract_version: 1;
  readonly operation: OperationId;
  readonly target: string;
  readonly source: string;
  readonly worktree: string;
  readonly merged: readonly string[];
  readonly waiting: readonly string[];
  readonly conflicts: readonly {
    readonly path: string;
    readonly kind: string;
    readonly message: string;
    readonly related: readonly string[];
    readonly sources: readonly string[];
    readonly versions: {
      readonly base: TreeEntry | null;
      readonly target: TreeEntry | null;
      readonly change: TreeEntry | null;
    };
    readonly tried: Conflict['tried'];
    readonly commands: readonly string[];
  }[];
  readonly next: readonly string[];
}

/** How the versions of each kind of conflict are best told apart. */
const ADVICE: Partial<Record<Conflict['kind'], string>> = {
  'modify-delete':
    'One side deleted the file, the other edited it: take the side that is right; the side without it deletes the file.',
  'file-directory':
    'One side has a file where the other has a directory; the file was put aside under this name.',
  'rename-rename':
    'Both sides renamed the file, to different names: keep one of the names and delete the other.',
  binary: 'Binary files are not merged: take one side, or give a file with `--take file <file>`.',
  submodule:
    'Both sides moved the submodule: take the commit that contains the other, or one made in the submodule.',
  symlink: 'Links are not merged: take one side.',
  'lfs-pointer': 'The file is kept by Git LFS and both sides changed it: take one side.',
  generated: 'The file is written by a program: write it anew in the scratch worktree instead of merging it.',
  driver: 'Its attributes ask for a custom merge driver; Sennit does not run such programs.',
  doubtful:
    'git called this clean; a check of Sennit did not believe it. Look at it and keep it, or mend it.',
};

/** Renders the packet of one open merge. */
export function renderPacket(
  operation: OperationId,
  data: LandData,
  open: OpenMerge,
  place: { readonly worktree: string },
): { json: Packet; markdown: string } {
  const next = ['conflicts', 'continue', 'abort'].map((word) => `sennit ${word} --operation ${operation}`);
  const conflicts = open.conflicts.map((conflict) => ({
    path: displayPath(conflict.path),
    kind: conflict.kind,
    message: conflict.message,
    related: conflict.related.map(displayPath),
    sources: conflict.sources,
    versions: conflict.sides,
    tried: conflict.tried,
    commands: commandsFor(conflict),
  }));
  const json: Packet = {
    contract_version: 1,
    operation,
    target: data.target.replace(/^refs\/heads\//, ''),
    source: open.source,
    worktree: place.worktree,
    merged: data.merge?.merged ?? [],
    waiting: data.merge?.waiting ?? [],
    conflicts,
    next,
  };
  return { json, markdown: renderMarkdown(json, open) };
}

/** Quotes a word for a POSIX shell where it needs it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The commands that settle one conflict by one of its versions. */
export function commandsFor({ path, sides }: Conflict): string[] {
  const takes = (['target', 'change', 'base'] as const).filter(
    (side) => side !== 'base' || sides.base !== null,
  );
  const word = shellWord(displayPath(path));
  // What begins with a dash is taken for an option unless a double dash stands before it.
  return takes.map(
    (side) =>
      `sennit resolve ${word.startsWith('-') ? `--take ${side} -- ${word}` : `${word} --take ${side}`}`,
  );
}

function describe(entry: TreeEntry | null): string {
  return entry === null ? 'does not have it' : `${entry.mode} ${entry.oid.slice(0, 12)}`;
}

function renderMarkdown(packet: Packet, open: OpenMerge): string {
  const lines = [
    `# Conflicts of ${packet.source} on ${packet.target}`,
    '',
    `Operation ${packet.operation}. The merge stands in \`${packet.worktree}\`; markers are diff3 style: \`target\` is what`,
    `is merged so far (${packet.merged.length === 0 ? packet.target : `${packet.target} with ${packet.merged.join(', ')}`}), the other side is ${packet.source}.`,
    'Nothing outside that folder has changed.',
    '',
  ];
  for (const [i, conflict] of packet.conflicts.entries()) {
    const kind = open.conflicts[i]?.kind;
    const advice = kind === undefined ? undefined : ADVICE[kind];
    lines.push(`## ${conflict.path}`, '', `Kind: ${conflict.kind}. ${conflict.message}`, '');
    if (advice !== undefined) lines.push(advice, '');
    if (conflict.related.length > 0) lines.push(`Related: ${conflict.related.join(', ')}`, '');
    lines.push(
      `- base: ${describe(conflict.versions.base)}`,
      `- target: ${describe(conflict.versions.target)}`,
      `- change: ${describe(conflict.versions.change)}`,
      ...conflict.tried.map(({ rung, reason }) => `- tried ${rung}: ${reason.replaceAll('\n', ' ')}`),
      '',
      ...conflict.commands.map((command) => `    ${command}`),
      '',
    );
  }
  lines.push('Then:', '', ...packet.next.map((command) => `    ${command}`), '');
  return lines.join('\n');
}
