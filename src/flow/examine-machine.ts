import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ailment, ailment } from './ailment.ts';
import type { Context } from './context.ts';

/** From this version on git loses no file silently when it follows renames. */
const RENAMES_MENDED = [2, 51, 1] as const;
/** Room below which work is likely to stop half-way. */
const LOW_BYTES = 1024 ** 3;
const LOW_INODES = 10_000;

const GIGABYTE = 1024 ** 3;

/** Programs that Sennit uses where they are, and for what. */
const TOOLS: readonly (readonly [name: string, use: string])[] = [
  ['gh', 'pull requests (--pr)'],
  ['git-lfs', 'workspaces with large files in git-lfs'],
  ['bwrap', 'confining agents, which this version does not do'],
  ['mergiraf', 'structural merges, which this version does not do'],
];

/** Looks at the system, git, the disk and the tools. */
export async function examineMachine(context: Context): Promise<Ailment[]> {
  return [
    ...examinePlatform(context),
    ...examineGit(context),
    ...(await examineDisk(context)),
    ...examineTools(context),
  ];
}

function examinePlatform({ system }: Context): Ailment[] {
  if (system.platform === 'linux' || system.platform === 'darwin') return [];
  const windows = system.platform === 'win32';
  return [
    ailment({
      check: 'platform_unsupported',
      severity: 'error',
      message: windows
        ? 'Windows is not supported. What does not work: gates (they need /bin/sh, process groups and signals), ending what a gate left running, executable bits and symbolic links in snapshots, names that are not Unicode, clean-up of folders that a program holds open. Landing is not tested at all.'
        : `${system.platform} is not supported and was never tried: processes cannot be listed there, so what a gate leaves running is not found, and nobody is seen at work in a workspace.`,
      remedy: windows
        ? 'Use Sennit inside WSL, on a repository in its own file system.'
        : 'Use Linux or macOS.',
    }),
  ];
}

function isBefore(version: readonly number[], wanted: readonly number[]): boolean {
  for (const [i, part] of wanted.entries()) {
    const own = version[i] ?? 0;
    if (own !== part) return own < part;
  }
  return false;
}

function examineGit({ place }: Context): Ailment[] {
  if (!isBefore(place.gitVersion, RENAMES_MENDED)) return [];
  return [
    ailment({
      check: 'git_old',
      severity: 'warning',
      message: `git ${place.gitVersion.join('.')} can silently lose a file in a merge that follows renamed directories, and can crash on renames. Sennit switches the first off and checks every merged tree; merges by hand are not guarded.`,
      remedy: `Install git ${RENAMES_MENDED.join('.')} or newer.`,
    }),
  ];
}

async function examineDisk(context: Context): Promise<Ailment[]> {
  const { place, system, gateRoot } = context;
  const found: Ailment[] = [];
  for (const [path, use] of [
    [place.commonDir, 'the repository'],
    [gateRoot, 'gate worktrees'],
  ] as const) {
    const { bytes, inodes } = system.readFreeSpace(path);
    if (bytes < LOW_BYTES) {
      found.push(
        ailment({
          check: 'disk_low',
          severity: 'warning',
          message: `Only ${(bytes / GIGABYTE).toFixed(2)} GiB are free for ${use} (${path}).`,
          remedy: 'Free some space; `sennit gc` shows what of Sennit can go.',
        }),
      );
    }
    if (inodes < LOW_INODES) {
      found.push(
        ailment({
          check: 'inodes_low',
          severity: 'warning',
          message: `Only ${inodes} more files can be made for ${use} (${path}).`,
          remedy: 'Delete what is not needed there.',
        }),
      );
    }
  }
  if (!(await isWritable(place.commonDir))) {
    found.push(
      ailment({
        check: 'repository_readonly',
        severity: 'error',
        message: `${place.commonDir} cannot be written: nothing can be landed.`,
        remedy: 'Check who owns it and whether its file system is mounted read-only.',
      }),
    );
  }
  if (await foldsCase(place.commonDir)) {
    found.push(
      ailment({
        check: 'names_fold_case',
        severity: 'info',
        message:
          'The file system does not tell README from readme: names that differ in case alone cannot be checked out side by side.',
      }),
    );
  }
  return found;
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** True when `HEAD` and `head` are one file. */
async function foldsCase(commonDir: string): Promise<boolean> {
  const [upper, lower] = await Promise.all(
    ['HEAD', 'head'].map((name) => lstat(join(commonDir, name)).catch(() => undefined)),
  );
  return upper !== undefined && lower !== undefined && upper.ino === lower.ino;
}

function examineTools({ system }: Context): Ailment[] {
  return TOOLS.map(([name, use]) => {
    const file = system.findProgram(name);
    return ailment({
      check: file === undefined ? 'tool_absent' : 'tool_present',
      severity: 'info',
      message: file === undefined ? `${name} is not installed; it is used for ${use}.` : `${name}: ${file}`,
    });
  });
}
