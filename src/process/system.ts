import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { System } from '../ports/system.ts';
import { readFreeSpace } from './disk.ts';
import { isAlive } from './mark.ts';
import { listOccupants } from './platform.ts';

/** The machine that this process runs on; `env` gives the search path. */
export function openSystem(env: NodeJS.ProcessEnv): System {
  return {
    platform: process.platform,
    listOccupants,
    isAlive,
    readFreeSpace,
    findProgram: (name) => findProgram(name, env['PATH'] ?? ''),
  };
}

/** The first executable file of that name in the absolute folders of a search path. */
function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return statSync(file).isFile();
      } catch {
        return false;
      }
    });
}
