import type { ProcessMark } from './ledger.ts';

/** A process that works in a folder: its current directory is there, or it has a file there open for writing. */
export interface Occupant {
  readonly pid: number;
  /** Short name of its program, as the system tells it. */
  readonly name: string;
}

/** The machine, as far as clean-up and examination must know it. */
export interface System {
  /** The system's name as Node tells it, e.g. `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** Processes other than this one that work in a folder or on a file; null where that cannot be known. */
  listOccupants(path: string): readonly Occupant[] | null;
  /** Whether the process of a mark still runs; true also where that cannot be known. */
  isAlive(mark: ProcessMark): boolean;
  /** Room for this user on the file system of `path`: bytes, and files that can still be made; Infinity where there is
   * no limit. */
  readFreeSpace(path: string): { readonly bytes: number; readonly inodes: number };
  /** The file of a program on the search path, or undefined. */
  findProgram(name: string): string | undefined;
}
