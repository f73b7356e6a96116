import { Buffer } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A full git object id in lower-case hex: 40 digits (SHA-1) or 64 (SHA-256). */
export type Oid = Brand<string, 'Oid'>;

/** A path inside a git tree as a *byte string*: one UTF-16 unit for each byte (latin1), because git paths are
 * bytes and need not be UTF-8. Compare and sort it as it is; show it with `displayPath`; hand it to the file
 * system with `pathBytes`. */
export type GitPath = Brand<string, 'GitPath'>;

/** The id of one Sennit operation, e.g. `20261130-142501-k3f9`: sorts by time, unique in a repository. */
export type OperationId = Brand<string, 'OperationId'>;

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isOid(text: string): text is Oid {
  return OID.test(text);
}

/** Checks that `text` is a full object id. Throws TypeError otherwise: a parser gave something else. */
export function asOid(text: string): Oid {
  if (!isOid(text)) throw new TypeError(`not a full object id: ${JSON.stringify(text)}`);
  return text;
}

export function isZeroOid(oid: Oid): boolean {
  return /^0+$/.test(oid);
}

export function asGitPath(byteString: string): GitPath {
  return byteString as GitPath;
}

/** The git path for bytes read from git or from the disk. */
export function gitPathOf(bytes: Buffer): GitPath {
  return bytes.toString('latin1') as GitPath;
}

/** The git path for text that a person or a configuration wrote (UTF-8). */
export function gitPathOfText(text: string): GitPath {
  return Buffer.from(text, 'utf8').toString('latin1') as GitPath;
}

/** The raw bytes of a git path, for the file system and for git's standard input. */
export function pathBytes(path: GitPath): Buffer {
  return Buffer.from(path, 'latin1');
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Characters that make a name look like something else on a screen: control characters, line separators and marks
 * that turn the direction of writing; and those that quoting needs. */
const UNSHOWABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"\\]/;

/** A git path as text: UTF-8 where it is, else quoted as git quotes it (`"caf\351.ts"`). Names with control
 * characters, a double quote or a backslash are quoted too, so that one path is always one line. */
export function displayPath(path: GitPath): string {
  const bytes = pathBytes(path);
  try {
    const text = decoder.decode(bytes);
    if (!UNSHOWABLE.test(text)) return text;
  } catch {
    // not UTF-8: quoted below
  }
  let out = '"';
  for (const byte of bytes) {
    if (byte === 0x22) out += '\\"';
    else if (byte === 0x5c) out += '\\\\';
    else if (byte === 0x0a) out += '\\n';
    else if (byte === 0x09) out += '\\t';
    else if (byte === 0x0d) out += '\\r';
    else if (byte >= 0x20 && byte < 0x7f) out += String.fromCharCode(byte);
    else out += `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `${out}"`;
}

/** The inverse of `displayPath`: what a person typed, or copied from an answer, to a git path. */
export function parseDisplayPath(text: string): GitPath {
  if (!(text.length >= 2 && text.startsWith('"') && text.endsWith('"'))) return gitPathOfText(text);
  const bytes: number[] = [];
  const body = Buffer.from(text.slice(1, -1), 'utf8').toString('latin1');
  const named: Record<string, number> = { n: 10, t: 9, r: 13, '"': 34, '\\': 92, a: 7, b: 8, v: 11, f: 12 };
  for (let i = 0; i < body.length; i += 1) {
    if (body[i] !== '\\') {
      bytes.push(body.charCodeAt(i));
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(body.slice(i + 1, i + 4));
    if (octal !== null) {
      bytes.push(Number.parseInt(octal[0], 8));
      i += 3;
    } else {
      const next = body[i + 1] ?? '\\';
      bytes.push(named[next] ?? next.charCodeAt(0));
      i += 1;
    }
  }
  return gitPathOf(Buffer.from(bytes));
}

/** A new operation id for `now`: UTC date and time, then four random base-36 digits. */
export function newOperationId(now: Date): OperationId {
  const iso = now.toISOString(); // 2026-11-30T14:25:01.123Z
  const stamp = `${iso.slice(0, 10).replaceAll('-', '')}-${iso.slice(11, 19).replaceAll(':', '')}`;
  const tail = (randomBytes(4).readUInt32BE(0) % 36 ** 4).toString(36).padStart(4, '0');
  return `${stamp}-${tail}` as OperationId;
}

const OPERATION = /^\d{8}-\d{6}-[0-9a-z]{4}$/;

export function isOperationId(text: string): text is OperationId {
  return OPERATION.test(text);
}

/** Longest slug. */
const SLUG_LIMIT = 80;

/** A name that can be one component of a ref and of a file name, made from any text; never empty, and never a whole
 * object id, which git would take for that object. Different long texts give different names. */
export function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[-.]+|[-.]+$/g, '')
    .replace(/\.lock$/i, '-lock');
  if (slug === '') return 'source';
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(slug)) return `id-${slug}`;
  if (slug.length <= SLUG_LIMIT) return slug;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${slug.slice(0, SLUG_LIMIT - hash.length - 1)}-${hash}`;
}
