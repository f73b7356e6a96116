import type { GitPath } from '../model/ids.ts';

/** Why a snapshot has to be taken again: files changed while they were read, or objects are missing that the index of
 * the workspace names. Never leaves this folder. */
export class Unstable extends Error {
  readonly reason: 'changed' | 'objects';
  readonly paths: readonly GitPath[];

  constructor(reason: 'changed' | 'objects', paths: readonly GitPath[], message = '') {
    super(message);
    this.name = 'Unstable';
    this.reason = reason;
    this.paths = paths;
  }
}
