// All that differs between the systems about processes: how they are listed, how one is told from a later one
// with the same number, and how a named pipe is made. Linux answers from /proc, macOS from `ps`; elsewhere
// nothing can be listed, `canListProcesses` says so, and only the process group of a command is ended.
// What stays true: an answer that cannot be had is `undefined` or an empty list, never a guess.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';

/** The variable that each process of a run inherits. Its value is the markers of all runs around it, outermost
 * first, joined by `:`, so that a Sennit that runs inside a gate hides nothing from the Sennit outside. */
export const RUN_VARIABLE = 'SENNIT_RUN';

/** A living process (zombies are not listed). */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Session id, where the system tells it. */
  readonly session: number | undefined;
  /** Start time as the system tells it: equal text for the same process only. */
  readonly started: string;
  /** Value of RUN_VARIABLE; empty where unset or unreadable (another user's process). */
  readonly runs: string;
}

/** Whether processes can be listed here, and so every process of a run be found, wherever it put itself. */
export function canListProcesses(): boolean {
  return process.platform === 'darwin' || (process.platform === 'linux' && existsSync('/proc/self/stat'));
}

/** The shell that runs commands: the one that POSIX puts there, not one found on the PATH. */
export const SHELL = '/bin/sh';

/** A file system in memory that every user can write to; undefined where the system has none. */
export const MEMORY_FILE_SYSTEM = process.platform === 'linux' ? '/dev/shm' : undefined;

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined; // the process has ended, or is another user's
  }
}

interface ProcStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly ticks: string;
}

/**
 * Parses `/proc/<pid>/stat`. The name in brackets may hold anything, so fields are counted from the last bracket:
 *
 *     4242 (node) S 1 4242 4242 0 -1 4194560 6112 0 0 0 12 3 0 0 20 0 11 0 8812345 …
 *     4243 (a) b) R 4242 4242 4242 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 8812400 …
 */
export function parseProcStat(text: string): ProcStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  const ticks = fields[19]; // field 22 of the whole line: start time in clock ticks since the boot
  if (state === undefined || ticks === undefined || !/^\d+$/.test(ticks)) return undefined;
  return { state, parent: Number(parent), group: Number(group), session: Number(session), ticks };
}

/** Dead for all purposes: what is left is an entry that its parent has not read yet. */
function isDeadState(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

function listLinux(): ProcessEntry[] {
  const prefix = `${RUN_VARIABLE}=`;
  const found: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = parseProcStat(readProc(`/proc/${name}/stat`) ?? '');
    if (stat === undefined || isDeadState(stat.state)) continue;
    const variable = (readProc(`/proc/${name}/environ`) ?? '').split('\0').find((v) => v.startsWith(prefix));
    found.push({
      pid: Number(name),
      parent: stat.parent,
      group: stat.group,
      session: stat.session,
      started: stat.ticks,
      runs: variable?.slice(prefix.length) ?? '',
    });
  }
  return found;
}

/**
 * Parses `ps -A -E -ww -o pid=,ppid=,pgid=,stat=,lstart=,command=` of macOS; the environment follows the command:
 *
 *       501     1   501 Ss   Mon Nov 30 14:25:01 2026     /bin/sh -c make SENNIT_RUN=ab12 HOME=/Users/a
 *       502   501   501 Z    Mon Nov 30 14:25:02 2026     (cc)
 */
export function parsePs(text: string): ProcessEntry[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d{4})(?:\s+(.*))?$/;
  const variable = new RegExp(`(?:^|\\s)${RUN_VARIABLE}=(\\S*)`);
  const found: ProcessEntry[] = [];
  for (const row of text.split('\n')) {
    const [, pid, parent, group, state, started, command] = line.exec(row) ?? [];
    if (pid === undefined || state === undefined || started === undefined || isDeadState(state)) continue;
    found.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: undefined,
      started: started.replace(/\s+/g, ' '),
      runs: variable.exec(command ?? '')?.[1] ?? '',
    });
  }
  return found;
}

function ps(args: readonly string[]): string {
  try {
    return execFileSync('/bin/ps', args, {
      encoding: 'latin1',
      env: { LC_ALL: 'C', TZ: 'UTC' }, // one text for one start time, whoever asks
      maxBuffer: 1024 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return ''; // `ps -p` ends with 1 where there is no such process
  }
}

/** All living processes that can be seen. */
export function listProcesses(): ProcessEntry[] {
  if (process.platform === 'linux') return listLinux();
  if (process.platform === 'darwin') {
    return parsePs(ps(['-A', '-E', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command=']));
  }
  return [];
}

/** The living processes that hold the file `path` open, which may be unlinked by now. Linux only. */
export function listHolders(path: string): ProcessEntry[] {
  if (process.platform !== 'linux') return [];
  return listLinux().filter(({ pid }) => {
    try {
      const dir = `/proc/${pid}/fd`;
      return readdirSync(dir).some((fd) => readlinkSync(`${dir}/${fd}`).startsWith(path));
    } catch {
      return false; // it has ended, closed a file meanwhile, or is another user's
    }
  });
}

/** What can be known of one process: `unseen` where the system hides it or cannot tell. */
export type ProcessLife =
  | { readonly state: 'running'; readonly started: string }
  | { readonly state: 'ended' }
  | { readonly state: 'unseen' };

/** Asks for the process `pid`, with its start time as in `ProcessEntry.started`. */
export function readLife(pid: number): ProcessLife {
  try {
    process.kill(pid, 0);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EPERM') return { state: 'ended' }; // EPERM: it is there, and another user's
  }
  if (process.platform === 'linux') {
    const stat = parseProcStat(readProc(`/proc/${pid}/stat`) ?? '');
    if (stat === undefined) return { state: 'unseen' };
    return isDeadState(stat.state) ? { state: 'ended' } : { state: 'running', started: stat.ticks };
  }
  if (process.platform === 'darwin') {
    const [state, ...started] = ps(['-p', String(pid), '-o', 'stat=,lstart='])
      .trim()
      .split(/\s+/);
    if (state === undefined || state === '') return { state: 'unseen' };
    return isDeadState(state) ? { state: 'ended' } : { state: 'running', started: started.join(' ') };
  }
  return { state: 'unseen' };
}

/** What a process number is unique in: this boot of this machine, and the process namespace (container). */
export interface ProcessWorld {
  readonly boot: string;
  readonly namespace: string;
}

/** The world of this process; empty texts where the system has no such thing. */
export function readProcessWorld(): ProcessWorld {
  if (process.platform !== 'linux') return { boot: '', namespace: '' };
  let namespace = '';
  try {
    namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    // a kernel without process namespaces
  }
  return { boot: (readProc('/proc/sys/kernel/random/boot_id') ?? '').trim(), namespace };
}

const execute = promisify(execFile);

/** Makes a named pipe that only this user can open. Node cannot, and the sockets that it gives to children are
 * no pipes: in them `echo > /dev/stderr` fails. */
export async function makeNamedPipe(path: string): Promise<void> {
  await execute('mkfifo', ['-m', '600', path]);
}

/** A process with its place in a folder: see `listOccupants`. */
export interface FolderOccupant {
  readonly pid: number;
  readonly name: string;
}

/** The living processes, but for this one and what it started, whose current directory is `path` or below it, or which
 * have a file there open for writing; null where the system does not tell. Processes of other users are not seen.
 * Linux only. */
export function listOccupants(path: string): FolderOccupant[] | null {
  if (process.platform !== 'linux') return null;
  const isInside = (place: string): boolean => place === path || place.startsWith(`${path}/`);
  const all = listLinux();
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isOwn = (pid: number | undefined): boolean => {
    for (let at = pid; at !== undefined; at = parents.get(at)) if (at === process.pid) return true;
    return false;
  };
  return all
    .filter(({ pid }) => !isOwn(pid))
    .filter(({ pid }) => isInside(linkOf(`/proc/${pid}/cwd`)) || writesTo(pid, isInside))
    .map(({ pid }) => ({ pid, name: (readProc(`/proc/${pid}/comm`) ?? '').trim() }));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // it has ended, or is another user's
  }
}

function writesTo(pid: number, isInside: (place: string) => boolean): boolean {
  let files: string[];
  try {
    files = readdirSync(`/proc/${pid}/fd`);
  } catch {
    return false;
  }
  return files.some((fd) => {
    if (!isInside(linkOf(`/proc/${pid}/fd/${fd}`))) return false;
    // flags:	0100001, octal: the two lowest bits are how it was opened
    const flags = /^flags:\s+(\d+)/m.exec(readProc(`/proc/${pid}/fdinfo/${fd}`) ?? '')?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & 3) !== 0;
  });
}
