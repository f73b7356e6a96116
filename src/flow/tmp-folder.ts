// Scratch files that live no longer than their process stand in a folder named after that process, so that a later
// clean-up knows whose they are: by owner, not by age. `<state>/tmp/<pid>+<boot>+<namespace>+<start>`.

import { join } from 'node:path';
import type { ProcessMark } from '../ports/ledger.ts';

/** The name of a process's folder of scratch files. */
export function tmpNameOf({ pid, started }: ProcessMark): string {
  return [String(pid), ...started.split('/').map(encodeURIComponent)].join('+');
}

/** The folder of a process's scratch files below the state folder. */
export function tmpFolderOf(stateDir: string, mark: ProcessMark): string {
  return join(stateDir, 'tmp', tmpNameOf(mark));
}

/** The process that a folder below `<state>/tmp` belongs to; undefined for a name that is none. */
export function parseTmpOwner(name: string): ProcessMark | undefined {
  const [pid = '', ...started] = name.split('+');
  if (!/^[1-9]\d*$/.test(pid) || started.length === 0) return undefined;
  try {
    return { pid: Number(pid), started: started.map(decodeURIComponent).join('/') };
  } catch {
    return undefined; // not written by tmpFolderOf
  }
}
