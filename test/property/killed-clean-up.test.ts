// A clean-up, and the undo of it, killed at any moment whatever: what the workspace held is there, at its place or in
// the archive, and the next command brings everything to an end.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gc, openFlows, recoverIn, takeBack } from '../support/flows.ts';
import { buildProject, type Repository, readFiles, repositoryTemplate } from '../support/repo.ts';
import { source, startSource } from '../support/source-process.ts';

const newProject = repositoryTemplate(buildProject);

const RUNS = 8;
/** Milliseconds within which a clean-up and its undo have ended. */
const LONGEST = 1_600;

/** Cleans up and takes it back again in a child that is killed after so many milliseconds. */
async function killedAfter(repo: Repository, ms: number): Promise<void> {
  const child = startSource(
    `const { openContext } = await import(${source('compose.ts')});
    const { DEFAULT_SETTINGS: settings } = await import(${source('config/defaults.ts')});
    const { cleanUp } = await import(${source('flow/clean-up.ts')});
    const { undo } = await import(${source('flow/undo.ts')});
    const narrator = { step() {}, done() {} };
    const context = await openContext({ cwd: process.cwd(), env: process.env, narrator, settings });
    const objects = await context.openObjects({ quarantine: false });
    console.log('begun');
    await cleanUp(context, { names: ['../a'], apply: true, archive: true });
    await undo(context, objects, { operation: null, dryRun: false });
    console.log('ended');`,
    repo,
  );
  await child.said('begun');
  await new Promise((resolve) => setTimeout(resolve, ms));
  await child.kill();
}

test('killed at any time, a clean-up and its undo lose nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: LONGEST }), async (ms) => {
      const repo = newProject();
      const a = repo.worktree('a', { branch: 'agent' });
      a.commit('work', { committed: 'committed\n' });
      a.writeAll({ loose: 'loose\n', 'src/cart.ts': null, 'notes.log': 'only here\n' });
      for (let i = 0; i < 60; i += 1) a.write(`deep/${i}/file`, `${i}\n`);
      const [files, status] = [readFiles(a.dir), a.status()];
      await killedAfter(repo, ms);

      await recoverIn(repo);
      const context = await openFlows(repo);
      expect(context.readLedger()?.listOperations({ states: ['running'] }) ?? []).toEqual([]);
      if (!existsSync(a.dir)) await takeBack(context);
      expect(readFiles(a.dir)).toEqual(files);
      expect(a.status()).toEqual(status);
      expect(a.git('symbolic-ref', 'HEAD')).toBe('refs/heads/agent');
      expect(readdirSync(repo.place.root).filter((name) => name.startsWith('.sennit-'))).toEqual([]);
      expect(readdirSync(join(repo.commonDir(), 'worktrees'))).toHaveLength(1);
      repo.requireSound();
      // And it can be done again.
      expect((await gc(await openFlows(repo), ['../a'], true)).failure).toBeNull();
      expect(existsSync(a.dir)).toBe(false);
    }),
    { numRuns: RUNS },
  );
});
