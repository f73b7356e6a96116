// Captures of real workspaces for tests: the code under test behind the port, with git in the sealed environment.

import { Buffer } from 'node:buffer';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { matchPaths } from '../../src/config/path-patterns.ts';
import { createWorkspaces } from '../../src/git/capture.ts';
import { findRepository } from '../../src/git/repository.ts';
import { GitSpawner } from '../../src/git/spawn.ts';
import { readWorktrees } from '../../src/git/worktree-list.ts';
import { type ErrorCode, SennitError } from '../../src/model/errors.ts';
import type { Finding } from '../../src/model/finding.ts';
import { asOid, type Oid } from '../../src/model/ids.ts';
import type { WorktreeInfo } from '../../src/model/source.ts';
import type { Capture, CaptureRequest, Workspaces } from '../../src/ports/workspaces.ts';
import type { Repository } from './repo.ts';

export interface CaptureOptions extends Partial<Omit<CaptureRequest, 'worktree'>> {
  /** More variables of the caller's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Starts this instead of git. */
  readonly program?: string;
}

function spawnerOf(repo: Repository, { env, program }: CaptureOptions = {}): GitSpawner {
  return new GitSpawner({ env: repo.place.env(env), ...(program === undefined ? {} : { program }) });
}

/** What the repository's own records say about the workspace in a directory. */
async function worktreeOf(repo: Repository, dir: string): Promise<WorktreeInfo> {
  const { commonDir, primary } = await findRepository(spawnerOf(repo), repo.dir);
  const all = await readWorktrees(commonDir, primary, async (refs) =>
    refs.map((ref) => {
      const found = repo.tryGit(['rev-parse', '-q', '--verify', ref]);
      return found.code === 0 ? asOid(found.stdout.trim()) : undefined;
    }),
  );
  const found = all.find(({ path }) => path === dir);
  if (found === undefined)
    throw new Error(`no worktree ${dir} among ${all.map(({ path }) => path).join(', ')}`);
  return found;
}

export async function workspacesOf(repo: Repository, options: CaptureOptions = {}): Promise<Workspaces> {
  const place = await findRepository(spawnerOf(repo), repo.dir);
  return createWorkspaces(spawnerOf(repo, options), place, matchPaths);
}

export async function requestFor(
  repo: Repository,
  workspace: Repository,
  options: CaptureOptions = {},
): Promise<CaptureRequest> {
  const { env: _env, program: _program, ...given } = options;
  return {
    base: options.base ?? asOid(repo.oid('main')),
    maxFileBytes: 1_000_000,
    filters: [],
    exclude: [],
    scratch: join(
      repo.place.root,
      'scratch',
      workspace.dir.slice(repo.place.root.length).replaceAll('/', '-'),
    ),
    ...given,
    worktree: await worktreeOf(repo, workspace.dir),
  };
}

/** Captures a workspace. Checks that its own index is not touched and that no try leaves anything behind. */
export async function capture(
  repo: Repository,
  workspace: Repository,
  options: CaptureOptions = {},
): Promise<Capture> {
  const request = await requestFor(repo, workspace, options);
  return (await workspacesOf(repo, options)).capture(request);
}

/** The error that a capture must end with. */
export async function refusedCapture(
  repo: Repository,
  workspace: Repository,
  code: ErrorCode,
  options: CaptureOptions = {},
): Promise<SennitError> {
  const outcome = await capture(repo, workspace, options).then(
    (taken) => JSON.stringify(taken),
    (error: unknown) => error,
  );
  if (!(outcome instanceof SennitError))
    throw outcome instanceof Error ? outcome : new Error(`not refused: ${outcome}`);
  expect(outcome.code, outcome.message).toBe(code);
  expect(outcome.hint).toMatch(/\S/);
  return outcome;
}

/** A tree as `path` to `mode content`; a submodule shows its commit. Paths are byte strings. */
export function contents(repo: Repository, tree: Oid | string): Record<string, string> {
  const found: Record<string, string> = {};
  const listing = repo.tryGit(['ls-tree', '-r', '-z', '--full-tree', tree]);
  if (listing.code !== 0) throw new Error(listing.stderr);
  for (const record of listing.stdout.split('\0').filter(Boolean)) {
    const tab = record.indexOf('\t');
    const [mode = '', type, oid = ''] = record.slice(0, tab).split(' ');
    const content = type === 'commit' ? oid : repo.tryGit(['cat-file', 'blob', oid]).stdout;
    found[record.slice(tab + 1)] = mode === '100644' ? content : `${mode} ${content}`;
  }
  return found;
}

/** The tree that `git add -A` gives for a workspace, by plain git with an index of its own. */
export function plainTree(workspace: Repository): string {
  const index = join(workspace.place.root, 'plain-index');
  rmSync(index, { force: true });
  const env = { GIT_INDEX_FILE: index };
  workspace.gitWith({ env }, 'read-tree', 'HEAD');
  workspace.gitWith({ env }, 'add', '-A', '--sparse');
  return workspace.gitWith({ env }, 'write-tree');
}

export function findingsOf(taken: Capture, check: string): readonly Finding[] {
  return taken.findings.filter((finding) => finding.check === check);
}

/** The names of all findings, sorted. */
export function checksOf(taken: Capture): string[] {
  return taken.findings.map(({ check }) => check).sort();
}

/** A file of a workspace by its bytes. */
export function bytePath(workspace: Repository, name: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${workspace.dir}/`), name]);
}

/** A program that is started instead of git: shell lines that see git's arguments, then git itself. */
export function gitWrapper(repo: Repository, lines: string): string {
  const program = join(repo.place.root, 'git-wrapper');
  writeFileSync(program, `#!/bin/sh\n${lines}\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}
