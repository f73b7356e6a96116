// A landing that is killed, the command that comes next, and what must hold then. Used where it is killed at a known
// point and where it is killed at any time.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildProject, lines, type Repository, readFiles, repositoryTemplate } from './repo.ts';
import { askSennit } from './sennit.ts';

const newProject = repositoryTemplate(buildProject);

export interface Scene {
  readonly repo: Repository;
  readonly sources: readonly Repository[];
  /** Content of every source before. */
  readonly held: readonly Record<string, string>[];
  readonly args: readonly string[];
}

/** The tree that a landing of a scene's sources gives. */
const LANDED = {
  'src/cart.ts': lines('cart', 40, { 2: 'of one' }),
  'src/search.ts': lines('search', 40, { 3: 'of one', 30: 'of two' }),
  'deep/new': 'new\n',
} as const;

/** Two workspaces, one with commits and one without, that meet in one file; the user has loose files of their own. */
export function newScene(more: readonly string[] = []): Scene {
  const repo = newProject();
  const one = repo.worktree('one', { branch: 'one' });
  one.commit('one', { 'src/cart.ts': LANDED['src/cart.ts'] });
  one.write('src/search.ts', lines('search', 40, { 3: 'of one' }));
  const two = repo.worktree('two');
  two.writeAll({ 'src/search.ts': lines('search', 40, { 30: 'of two' }), 'deep/new': 'new\n' });
  two.git('rm', '-q', 'docs/guide.md');
  repo.write('users own', 'loose\n');
  repo.write('README.md', '# edited by the user\n');
  const sources = [one, two];
  return {
    repo,
    sources,
    held: sources.map(({ dir }) => readFiles(dir)),
    args: ['land', '../one', '../two', '--into', 'main', ...more],
  };
}

/** Runs the same landing again and checks that all work is on the target exactly once, and nothing else has changed. */
export async function expectLandedOnce({ repo, sources, held, args }: Scene): Promise<void> {
  const again = await askSennit(args, 0, { cwd: repo });
  expect(['landed', 'nothing_new'], JSON.stringify(again)).toContain(again.result);
  expect((await askSennit(args, 0, { cwd: repo })).result).toBe('nothing_new');
  for (const [path, content] of Object.entries(LANDED)) expect(repo.blob('main', path), path).toBe(content);
  expect(repo.files('main')).not.toContain('docs/guide.md');
  const landings = repo
    .git('log', '--format=%H', '--grep=^Sennit-Source: one ', 'main')
    .split('\n')
    .filter(Boolean);
  expect(landings).toHaveLength(1);
  expect(repo.parents('main')).toHaveLength(1);
  expectUntouched({ repo, sources, held, args });
  // The checkout of the target followed: only the user's own changes differ.
  expect(repo.status().sort()).toEqual([' M README.md', '?? users own']);
}

/** What no kill may touch: the sources, the user's own files, git's records. */
export function expectUntouched({ repo, sources, held }: Scene): void {
  expect(repo.read('users own')).toBe('loose\n');
  expect(repo.read('README.md')).toBe('# edited by the user\n');
  for (const [i, source] of sources.entries()) expect(readFiles(source.dir)).toEqual(held[i]);
  expect(findLocks(repo.commonDir())).toEqual([]);
  const records = readdirSync(join(repo.commonDir(), 'worktrees')).sort();
  expect(records).toEqual(['one', 'two']);
  repo.requireSound();
}

function findLocks(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lock'));
}
