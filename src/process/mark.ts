// Tells a process from any later one with the same number. A mark is the pid and, as one text, the boot of the
// machine, the process namespace and the start time: `<boot>/<namespace>/<start>`. A process of an earlier boot
// is dead. One of another namespace (a container) cannot be seen from here and counts as alive: taking over the
// work of a living process is worse than asking. Where that matters, hold a lock (src/ledger/locks.ts) as well:
// the kernel frees it with its process, in whatever namespace that was.

import type { ProcessMark } from '../ports/ledger.ts';
import { readLife, readProcessWorld } from './platform.ts';

/** The mark of this process. */
export function currentProcessMark(): ProcessMark {
  const { boot, namespace } = readProcessWorld();
  const life = readLife(process.pid);
  return {
    pid: process.pid,
    started: `${boot}/${namespace}/${life.state === 'running' ? life.started : ''}`,
  };
}

/** Whether the process of `mark` still runs. True also where that cannot be known. */
export function isAlive(mark: ProcessMark): boolean {
  const [boot, namespace, started] = mark.started.split('/');
  const here = readProcessWorld();
  if (boot !== here.boot) return false;
  if (namespace !== here.namespace) return true;
  if (!Number.isSafeInteger(mark.pid) || mark.pid <= 0) return false;
  const life = readLife(mark.pid);
  if (life.state !== 'running') return life.state === 'unseen';
  return started === '' || life.started === started;
}
