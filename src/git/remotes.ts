// Remotes: push without force, fetch into a private ref so that nothing shared moves, pull requests through `gh`.

import { spawn } from 'node:child_process';
import { SennitError } from '../model/errors.ts';
import type { Oid } from '../model/ids.ts';
import type { RepositoryPlace } from '../ports/git.ts';
import type { PullRequest, PushOutcome, Remotes } from '../ports/remotes.ts';
import { DURABLE_CONFIG, type GitSpawner, scrubbedEnv } from './spawn.ts';

/** Reasons in brackets for which fetching and merging again helps (source: git's push output). */
const RACE =
  /fetch first|non-fast-forward|failed to update ref|cannot lock ref|stale info|incorrect old value|needs force/;

export function openRemotes(spawner: GitSpawner, place: RepositoryPlace, env: NodeJS.ProcessEnv): Remotes {
  const gitDir = place.commonDir;
  // A remote's relative address starts at the top of the checkout.
  const cwd = place.primary ?? place.topLevel ?? place.commonDir;
  const config = async (key: string): Promise<string | undefined> => {
    const { code, stdout } = await spawner.run({ args: ['config', '--get', key], gitDir, accept: [0, 1] });
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  };
  return {
    async findRemote(branchRef, wanted) {
      const short = branchRef.replace(/^refs\/heads\//, '');
      const { stdout } = await spawner.run({ args: ['remote'], gitDir });
      const names = stdout.toString('utf8').split('\n').filter(Boolean);
      const tracked = await config(`branch.${short}.remote`);
      const only = names.length === 1 ? names[0] : undefined;
      const name =
        wanted ?? (tracked === '.' ? undefined : tracked) ?? (names.includes('origin') ? 'origin' : only);
      if (name === undefined || !names.includes(name)) {
        throw new SennitError(
          'remote_missing',
          name === undefined ? 'There is no remote to push to.' : `There is no remote called ${name}.`,
          {
            hint: 'Add one with `git remote add origin <url>`, or land without --push.',
          },
        );
      }
      const merge = name === tracked ? await config(`branch.${short}.merge`) : undefined;
      return { name, branch: (merge ?? branchRef).replace(/^refs\/heads\//, '') };
    },

    async push(remote, commit, branch, { hooksFolder }): Promise<PushOutcome> {
      const { code, stdout, stderr } = await spawner.run({
        args: [
          'push',
          '--porcelain',
          '--no-follow-tags',
          '--recurse-submodules=no',
          remote,
          `${commit}:refs/heads/${branch}`,
        ],
        gitDir,
        cwd,
        accept: [0, 1, 128],
        ...(hooksFolder !== null ? { config: [['core.hooksPath', hooksFolder] as const] } : {}),
      });
      if (code === 0) return { outcome: 'pushed' };
      const said = `${stdout.toString('utf8')}\n${stderr}`;
      const remoteSaid = [...stderr.matchAll(/^remote: ?(.*\S)\s*$/gm)].map((match) => match[1]).join(' / ');
      const rejection = /^!\t[^\t]*\t\[(?:remote )?rejected\] ?\(?([^)\n]*)/m.exec(said);
      if (rejection !== null && RACE.test(rejection[1] ?? ''))
        return { outcome: 'rejected', message: rejection[1] ?? '' };
      throw new SennitError(
        'push_failed',
        `Pushing to ${remote} failed: ${[rejection?.[1] ?? stderr.trim().split('\n').slice(-3).join(' / '), remoteSaid].filter(Boolean).join(': ')}`,
        {
          hint: 'Nothing has moved locally. Check the remote and your credentials, then run `sennit continue`.',
          retryable: true,
        },
      );
    },

    async fetch(remote, branch, into): Promise<Oid | null> {
      const { code, stderr } = await spawner.run({
        args: [
          'fetch',
          '--quiet',
          '--refmap=',
          '--no-write-fetch-head',
          '--no-tags',
          '--no-auto-maintenance',
          '--recurse-submodules=no',
          remote,
          `+refs/heads/${branch}:${into}`,
        ],
        gitDir,
        cwd,
        config: DURABLE_CONFIG,
        accept: [0, 1, 128],
      });
      if (code !== 0) {
        if (/couldn't find remote ref/.test(stderr)) return null;
        throw new SennitError(
          'push_failed',
          `Fetching from ${remote} failed: ${stderr.trim().split('\n').slice(-3).join(' / ')}`,
          {
            hint: 'Check the remote and your credentials.',
            retryable: true,
          },
        );
      }
      const { stdout } = await spawner.run({ args: ['rev-parse', '--verify', into], gitDir });
      return stdout.toString('utf8').trim() as Oid;
    },

    async openPullRequest({ head, base, title, body }): Promise<PullRequest> {
      const gh = (
        args: readonly string[],
      ): Promise<{ code: number | null; stdout: string; stderr: string }> =>
        runGh(args, place.topLevel ?? place.commonDir, env, body);
      const listed = await gh([
        'pr',
        'list',
        '--head',
        head,
        '--base',
        base,
        '--state',
        'open',
        '--json',
        'number,url',
      ]);
      if (listed.code !== 0) throw ghFailure(listed.stderr);
      const [open] = JSON.parse(listed.stdout || '[]') as { number: number; url: string }[];
      const answer =
        open === undefined
          ? await gh(['pr', 'create', '--head', head, '--base', base, '--title', title, '--body-file', '-'])
          : await gh(['pr', 'edit', String(open.number), '--title', title, '--body-file', '-']);
      if (answer.code !== 0) throw ghFailure(answer.stderr);
      return { url: open?.url ?? answer.stdout.trim().split('\n').at(-1) ?? '', created: open === undefined };
    },
  };
}

function ghFailure(stderr: string): SennitError {
  return new SennitError(
    'pull_request_failed',
    `gh could not open the pull request: ${stderr.trim().split('\n').slice(-2).join(' / ')}`,
    {
      hint: 'The branch is pushed; open the pull request by hand, or mend what gh says and run the command again.',
      retryable: true,
    },
  );
}

function runGh(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  input: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('gh', args, {
      cwd,
      env: { ...scrubbedEnv(env), GH_PROMPT_DISABLED: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => undefined).end(input);
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT'
          ? new SennitError('pull_request_failed', 'The program gh is not installed.', {
              hint: 'Install the GitHub CLI (https://cli.github.com) and run `gh auth login`, or land with --branch and --push.',
            })
          : error,
      );
    });
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
