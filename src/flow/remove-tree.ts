import { chmod, lstat, readdir, rm } from 'node:fs/promises';

/** Deletes a folder with all that is in it, also where a program left folders that it may not write to. Links are
 * deleted, not followed. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    await openFolders(Buffer.from(path));
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Gives this user the right to change every folder below a path. */
async function openFolders(path: Buffer): Promise<void> {
  if ((await lstat(path).catch(() => undefined))?.isDirectory() !== true) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path, { encoding: 'buffer' })) {
    await openFolders(Buffer.concat([path, Buffer.from('/'), name]));
  }
}
