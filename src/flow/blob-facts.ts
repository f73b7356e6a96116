import { lineEndsOf } from '../merge/line-ends.ts';
import { countMarkers } from '../merge/markers.ts';
import type { Oid } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';

/** What is known of one file's content without keeping it. */
export interface BlobFact {
  /** Bytes; -1 for content that was too large to be read. */
  readonly size: number;
  /** Pairs of conflict markers. */
  readonly markers: number;
  readonly lineEnds: 'lf' | 'crlf' | undefined;
}

/** Larger contents are not read. Bytes. */
const SIZE_LIMIT = 8 * 1024 * 1024;
const TOO_LARGE: BlobFact = { size: -1, markers: 0, lineEnds: undefined };

/** Reads each blob once in a run, many at a time, and keeps only what the checks ask for. */
export class BlobFacts {
  readonly #objects: Objects;
  readonly #known = new Map<Oid, BlobFact>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Learns about all of these that are not known yet. */
  async learn(oids: Iterable<Oid>): Promise<void> {
    const fresh = [...new Set(oids)].filter((oid) => !this.#known.has(oid));
    await this.#objects.readBlobs(fresh, SIZE_LIMIT, (oid, content) => {
      this.#known.set(oid, content === null ? TOO_LARGE : factOf(content));
    });
  }

  /** What is known of a blob that was learnt. */
  of(oid: Oid): BlobFact {
    return this.#known.get(oid) ?? TOO_LARGE;
  }
}

function factOf(content: Uint8Array): BlobFact {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  return { size: content.byteLength, markers: countMarkers(text), lineEnds: lineEndsOf(text) };
}
