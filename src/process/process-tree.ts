// Ends every process of a run, wherever it put itself. A process belongs to the run when it carries the run's
// marker in its environment, is in the process group or session of the run's shell, descends from one that does,
// or still writes to the run's output pipe. The search is repeated until it finds nothing, because processes start
// others while they are being ended. What stays true: only processes found so are signalled, each by its own
// number and only while its start time is the one that was found; never this process.

import { setTimeout as sleep } from 'node:timers/promises';
import { canListProcesses, listHolders, listProcesses, type ProcessEntry, readLife } from './platform.ts';

export interface ProcessTree {
  /** Part of the value of RUN_VARIABLE, see platform.ts. */
  readonly marker: string;
  /** The shell's pid, which is also its group and session; undefined when only the marker is known. */
  readonly leader: number | undefined;
  /** Name of the pipe that the run writes to, which may be unlinked. */
  readonly pipe?: string;
}

export interface TreeEnd {
  /** Processes other than the shell that had to be ended. */
  readonly ended: number;
  /** Processes that could not be ended: another user's, or stuck in the kernel. */
  readonly survivors: number;
}

/** What is found just after the shell's end may be ending by itself. */
const SETTLE_MS = 50;
/** From the polite signal to the other one. */
const GRACE_MS = 1000;
const POLL_MS = 20;
/** After the signal that cannot be refused, only a process stuck in the kernel is left for so long. */
const GIVE_UP_MS = 10_000;

/** Of `all`, those that belong to `tree`. */
export function planMembers(
  all: readonly ProcessEntry[],
  tree: ProcessTree,
  options: { readonly leaderEnded: boolean; readonly self: number },
): ProcessEntry[] {
  const { marker, leader } = tree;
  // The number of an ended leader is free again only when its group and session are empty: whoever has it now
  // is somebody else, and so is that one's group.
  const groupGone =
    leader === undefined ||
    (options.leaderEnded && all.some(({ pid, runs }) => pid === leader && !runs.split(':').includes(marker)));
  const members = new Map<number, ProcessEntry>();
  const add = (belongs: (entry: ProcessEntry) => boolean): boolean => {
    const before = members.size;
    for (const entry of all) {
      if (entry.pid !== options.self && !members.has(entry.pid) && belongs(entry))
        members.set(entry.pid, entry);
    }
    return members.size > before;
  };
  add(
    (entry) =>
      entry.runs.split(':').includes(marker) ||
      (!groupGone && (entry.group === leader || entry.session === leader)),
  );
  while (add(({ parent }) => members.has(parent)));
  return [...members.values()];
}

/** Sends `signal` to the process of `entry`, if it is still that process. False where that is not allowed. */
function signalEntry(entry: ProcessEntry, signal: NodeJS.Signals): boolean {
  const life = readLife(entry.pid);
  if (life.state !== 'running' || life.started !== entry.started) return true;
  try {
    process.kill(entry.pid, signal);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EPERM');
  }
}

/** Ends the whole of `tree`: politely, then not. `isLeaderEnded` tells whether the shell has ended by now. With
 * `settle`, what ends by itself within a moment is not counted. */
export async function endTree(
  tree: ProcessTree,
  options: { readonly isLeaderEnded: () => boolean; readonly settle: boolean },
): Promise<TreeEnd> {
  const findOnce = (): ProcessEntry[] => {
    const leaderEnded = options.isLeaderEnded();
    const members = planMembers(listProcesses(), tree, { leaderEnded, self: process.pid });
    if (members.length > 0 || tree.pipe === undefined) return members;
    return listHolders(tree.pipe).filter(({ pid }) => pid !== process.pid);
  };
  const find = (): ProcessEntry[] => {
    const members = findOnce();
    // A listing takes time: a process that started another and ended meanwhile shows neither of the two.
    return members.length > 0 ? members : findOnce();
  };

  if (!canListProcesses()) return endGroup(tree);
  let found = find();
  if (found.length > 0 && options.settle) {
    await sleep(SETTLE_MS);
    found = find();
  }
  const signalled = new Set<string>();
  const idOf = ({ pid, started }: ProcessEntry): string => `${pid} ${started}`;
  const start = performance.now();
  let denied: ProcessEntry[] = [];
  while (found.length > 0) {
    const ms = performance.now() - start;
    if (ms > GRACE_MS + GIVE_UP_MS) break;
    denied = [];
    for (const entry of found) {
      const isNew = !signalled.has(idOf(entry));
      signalled.add(idOf(entry));
      if (ms > GRACE_MS) {
        if (!signalEntry(entry, 'SIGKILL')) denied.push(entry);
      } else if (isNew) {
        signalEntry(entry, 'SIGTERM');
        signalEntry(entry, 'SIGCONT'); // a stopped process takes no other signal
      }
    }
    if (denied.length > 0 && denied.length === found.length) break;
    await sleep(POLL_MS);
    found = find();
  }
  const survivors = found.filter((entry) => entry.pid !== tree.leader).length;
  const strays = [...signalled].filter((id) => !id.startsWith(`${tree.leader} `)).length;
  return { ended: strays - survivors, survivors };
}

/** For systems on which processes cannot be listed. */
function endGroup({ leader }: ProcessTree): TreeEnd {
  if (leader !== undefined) {
    try {
      process.kill(-leader, 'SIGKILL');
    } catch {
      // none of them is left
    }
  }
  return { ended: 0, survivors: 0 };
}
