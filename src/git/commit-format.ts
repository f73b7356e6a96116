import { asOid, type Oid } from '../model/ids.ts';
import type { CommitInfo, CommitInput } from '../ports/git.ts';

/** Identity of commits that are Sennit's own bookkeeping and never land. */
const OWN = { name: 'Sennit', email: 'sennit@localhost' } as const;

/** Parses a commit object: `tree <oid>\nparent <oid>\nauthor A <a@b> 1700000000 +0000\n…\n\nmessage`. */
export function parseCommit(oid: Oid, content: Buffer): CommitInfo {
  const text = content.toString('utf8');
  const split = text.indexOf('\n\n');
  const head = (split === -1 ? text : text.slice(0, split)).split('\n');
  const values = (key: string): string[] =>
    head.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const committer = values('committer')[0] ?? '';
  return {
    oid,
    tree: asOid(values('tree')[0] ?? ''),
    parents: values('parent').map(asOid),
    committed: Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1] ?? 0),
    author: values('author')[0] ?? '',
    message: split === -1 ? '' : text.slice(split + 2),
  };
}

/** Characters that git does not allow inside an identity. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/[<>\u0000-\u001f]/g, '').trim();
}

/** The bytes of a commit object. `date` is in seconds and used where the input names no identity. */
export function renderCommit(input: CommitInput, date: number): Buffer {
  const line = (key: string, who: CommitInput['author']): string => {
    const { name, email, date: when } = who ?? { ...OWN, date: `${date} +0000` };
    return `${key} ${clean(name)} <${clean(email)}> ${when}`;
  };
  const lines = [
    `tree ${input.tree}`,
    ...[...new Set(input.parents)].map((parent) => `parent ${parent}`),
    line('author', input.author),
    line('committer', input.committer),
  ];
  const message = input.message.endsWith('\n') ? input.message : `${input.message}\n`;
  return Buffer.from(`${lines.join('\n')}\n\n${message}`, 'utf8');
}
