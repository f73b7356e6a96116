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
  /** Asked for and not known yet, with the reading that will tell. */
  readonly #reading = new Map<Oid, Promise<void>>();
  #wanted: Oid[] = [];
  #next: Promise<void> | undefined;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Learns about all of these that are not known yet. What is asked for in one turn is read together. */
  async learn(oids: Iterable<Oid>): Promise<void> {
    const waiting = new Set<Promise<void>>();
    for (const oid of oids) {
      if (this.#known.has(oid)) continue;
      let reading = this.#reading.get(oid);
      if (reading === undefined) {
        this.#next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#readNext());
        reading = this.#next;
        this.#reading.set(oid, reading);
        this.#wanted.push(oid);
      }
      waiting.add(reading);
    }
    await Promise.all(waiting);
  }

  async #readNext(): Promise<void> {
    const wanted = this.#wanted;
    [this.#wanted, this.#next] = [[], undefined];
    await this.#objects.readBlobs(wanted, SIZE_LIMIT, (oid, content) => {
      this.#known.set(oid, content === null ? TOO_LARGE : factOf(content));
      this.#reading.delete(oid);
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
