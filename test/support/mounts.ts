// File systems of a special kind for one command: it is started in a mount namespace of its own, in which a script has
// mounted what the test needs first. Nothing of it is seen outside, and it ends with the command.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SealedPlace } from './sealed.ts';

const NAMESPACE = ['unshare', '--mount'] as const;

/** What to start a command through so that `mounts` (shell, with `$ROOT` as the place) was done first; undefined
 * where this user or system cannot mount. The script stops at its first failure. */
export function throughMounts(place: SealedPlace, mounts: string): string[] | undefined {
  const probe = spawnSync(NAMESPACE[0], [
    ...NAMESPACE.slice(1),
    'mount',
    '-t',
    'tmpfs',
    'tmpfs',
    place.at('probe').dir,
  ]);
  if (probe.status !== 0) return undefined;
  const script = join(place.root, 'with-mounts');
  writeFileSync(script, `set -e\nROOT='${place.root}'\nhere=$(pwd)\n${mounts}\ncd "$here"\nexec "$@"\n`);
  return [...NAMESPACE, 'sh', script];
}
