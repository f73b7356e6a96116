import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isOperationId, type OperationId } from '../model/ids.ts';
import type { Context } from './context.ts';

/** True for a path that is the folder or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The operation that a worktree of Sennit's own belongs to (for a gate, for conflicts); undefined for the user's. */
export function findScratchOwner(
  context: Pick<Context, 'place' | 'gateRoot'>,
  path: string,
): OperationId | undefined {
  for (const root of [join(context.place.stateDir, 'operations'), context.gateRoot]) {
    if (path === root || !isWithin(path, root)) continue;
    const [id = ''] = path.slice(root.length + 1).split(sep);
    if (isOperationId(id)) return id;
  }
  return undefined;
}

/** The names in a folder; none where it is not there. */
export async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
