// Payloads that an agent could leave in a workspace, for tests that none of it runs. Each tries to create a file, the
// canary; `springs` shows with plain git that the payload is live, so that a test that sees no canary means something.

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { linkTo, Repository } from './repo.ts';
import { runSennit } from './sennit.ts';

export interface Scene {
  readonly repo: Repository;
  /** The hostile workspace. */
  readonly wt: Repository;
  /** Shell command that creates the forbidden file. */
  readonly touch: string;
  /** Path of an executable file that runs `touch`, whatever its arguments. */
  readonly program: string;
}

export interface Payload {
  readonly name: string;
  readonly lay: (scene: Scene) => void;
  /** True when it can be laid into a worktree of Sennit's own as well. */
  readonly anywhere?: true;
  /** Plain git that runs the payload; absent where plain git never would. */
  readonly springs?: (scene: Scene) => void;
}

/** A repository of its own inside the workspace. */
function repositoryIn({ repo, wt }: Scene, folder: string): Repository {
  return Repository.create(repo.place, relative(repo.place.root, join(wt.dir, folder)));
}

/** Configuration that makes many git commands run a program. */
function evilConfig(repo: Repository, file: string, { touch, program }: Scene): void {
  const settings: Record<string, string> = {
    'core.fsmonitor': program,
    'core.pager': touch,
    'core.editor': touch,
    'core.sshCommand': touch,
    'core.alternateRefsCommand': touch,
    'sequence.editor': touch,
    'diff.external': program,
    'diff.evil.textconv': program,
    'diff.evil.command': program,
    'merge.evil.driver': `${touch}; cp %B %A`,
    'filter.evil.clean': `${touch}; cat`,
    'filter.evil.smudge': `${touch}; cat`,
    'filter.evil.required': 'true',
    'filter.proc.process': program,
    'gpg.program': program,
    'commit.gpgSign': 'true',
    'credential.helper': `!${touch}`,
    'alias.status': `!${touch}`,
    'uploadpack.packObjectsHook': program,
    'trailer.evil.command': touch,
  };
  for (const [key, value] of Object.entries(settings)) repo.git('config', '--file', file, key, value);
}

function evilHooks(folder: string, { touch }: Scene): void {
  mkdirSync(folder, { recursive: true });
  for (const hook of [
    'pre-commit',
    'commit-msg',
    'post-commit',
    'pre-merge-commit',
    'post-merge',
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'pre-auto-gc',
    'fsmonitor-watchman',
    'post-rewrite',
    'applypatch-msg',
  ]) {
    writeFileSync(join(folder, hook), `#!/bin/sh\n${touch}\nexit 0\n`);
    chmodSync(join(folder, hook), 0o755);
  }
}

/** Payloads for any workspace. */
export const PAYLOADS: readonly Payload[] = [
  {
    name: 'a nested repository with a file-system monitor and a filter',
    anywhere: true,
    lay: (scene) => {
      const nested = repositoryIn(scene, 'nested');
      nested.commit('inner', { inner: 'inner\n' });
      nested.write('.gitattributes', '* filter=evil\n');
      nested.write('inner', 'changed\n');
      evilConfig(nested, join(nested.dir, '.git/config'), scene);
    },
    springs: ({ wt }) => wt.tryGit(['-C', 'nested', 'status']),
  },
  {
    name: 'a nested repository that is a gitlink in the index, with a filter',
    anywhere: true,
    lay: (scene) => {
      const nested = repositoryIn(scene, 'nested');
      nested.commit('inner', { inner: 'inner\n' });
      scene.wt.git('add', '-A');
      nested.write('.gitattributes', '* filter=evil\n');
      nested.write('inner', 'changed\n');
      evilConfig(nested, join(nested.dir, '.git/config'), scene);
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a .git that was replaced by a repository of its own',
    anywhere: true,
    lay: (scene) => {
      rmSync(scene.wt.path('.git'));
      const own = repositoryIn(scene, '.');
      evilConfig(own, join(own.dir, '.git/config'), scene);
      evilHooks(own.path('.git/hooks'), scene);
      own.write('.gitattributes', '* filter=evil\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a .git file that points to a git dir inside the workspace',
    anywhere: true,
    lay: (scene) => {
      rmSync(scene.wt.path('.git'));
      const own = repositoryIn(scene, '.');
      evilConfig(own, join(own.dir, '.git/config'), scene);
      renameSync(own.path('.git'), own.path('gitdir'));
      own.write('.git', 'gitdir: gitdir\n');
    },
    springs: ({ wt }) => wt.tryGit(['status']),
  },
  {
    name: 'a private config.worktree',
    anywhere: true,
    lay: (scene) => {
      scene.repo.git('config', 'extensions.worktreeConfig', 'true');
      const hooks = join(scene.repo.place.root, 'evil-hooks');
      evilHooks(hooks, scene);
      const file = join(scene.wt.gitDir(), 'config.worktree');
      evilConfig(scene.repo, file, scene);
      scene.repo.git('config', '--file', file, 'core.hooksPath', hooks);
      scene.wt.write('.gitattributes', '* filter=evil\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'filters, drivers and monitors in the shared configuration',
    anywhere: true,
    lay: (scene) => {
      evilConfig(scene.repo, join(scene.repo.commonDir(), 'config'), scene);
      scene.wt.write('.gitattributes', '* filter=evil\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a filter that only info/attributes asks for',
    lay: (scene) => {
      scene.repo.git('config', 'filter.evil.clean', `${scene.touch}; cat`);
      scene.repo.git('config', 'filter.evil.smudge', `${scene.touch}; cat`);
      mkdirSync(join(scene.repo.commonDir(), 'info'), { recursive: true });
      writeFileSync(join(scene.repo.commonDir(), 'info/attributes'), '* filter=evil\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a long-running filter process',
    anywhere: true,
    lay: (scene) => {
      scene.repo.git('config', 'filter.proc.process', scene.program);
      scene.wt.write('.gitattributes', '* filter=proc\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a filter that calls itself lfs',
    lay: (scene) => {
      scene.repo.git('config', 'filter.lfs.clean', `${scene.touch}; cat`);
      scene.repo.git('config', 'filter.lfs.smudge', `${scene.touch}; cat`);
      scene.repo.git('config', 'filter.lfs.process', scene.program);
      scene.wt.write('.gitattributes', '* filter=lfs\n');
    },
    springs: ({ wt }) => wt.tryGit(['add', '-A']),
  },
  {
    name: 'a merge driver',
    lay: (scene) => {
      scene.repo.git('config', 'merge.evil.driver', `${scene.touch}; cp %B %A`);
      scene.wt.write('a.x', 'W\n2\n3\n4\n5\n');
      scene.repo.commit('main too', { 'a.x': '1\n2\n3\n4\nM\n' });
    },
    springs: ({ wt }) => {
      wt.commit('work');
      wt.tryGit(['merge', '-q', 'main']);
    },
  },
  {
    name: 'a textconv and a diff command',
    lay: (scene) => {
      scene.repo.git('config', 'diff.evil.textconv', scene.program);
      scene.repo.git('config', 'diff.external', scene.program);
      scene.wt.write('a.x', 'changed\n');
    },
    springs: ({ wt }) => wt.tryGit(['diff', '--ext-diff', '--textconv']),
  },
  {
    name: 'hooks in the shared git dir',
    anywhere: true,
    lay: (scene) => evilHooks(join(scene.repo.commonDir(), 'hooks'), scene),
    springs: ({ wt }) => wt.tryGit(['commit', '-q', '--allow-empty', '-m', 'x']),
  },
  {
    name: 'hooks that core.hooksPath finds in the workspace',
    lay: (scene) => {
      scene.repo.git('config', 'core.hooksPath', 'tools/hooks');
      evilHooks(scene.wt.path('tools/hooks'), scene);
    },
    springs: ({ wt }) => wt.tryGit(['commit', '-q', '--allow-empty', '-m', 'x']),
  },
  {
    name: 'an own sennit.yaml with gates and a regenerating command',
    lay: ({ wt, touch }) => {
      wt.write(
        'sennit.yaml',
        `gates:\n  root: ${JSON.stringify(touch)}\ngenerated:\n  - paths: ["f"]\n    by: ${JSON.stringify(touch)}\nsnapshot:\n  filters: [evil]\n`,
      );
    },
  },
  {
    name: 'submodules with an update command and an ext:: address',
    lay: ({ wt, touch, repo }) => {
      wt.write(
        '.gitmodules',
        `[submodule "sub"]\n\tpath = sub\n\turl = "ext::sh -c ${touch.replaceAll(' ', '% ')}"\n\tupdate = !${touch}\n`,
      );
      wt.git('add', '.gitmodules');
      wt.git('update-index', '--add', '--cacheinfo', `160000,${repo.oid('main')},sub`);
    },
  },
  {
    name: 'file names that a shell or an option parser would act on',
    lay: ({ wt, touch }) => {
      const command = touch.replaceAll('/', '$(printf "\\057")');
      for (const name of [
        `$(${command})`,
        `;${command};`,
        `\`${command}\``,
        `'; ${command}; '`,
        '--output=x',
        '-x',
      ]) {
        wt.write(name, 'content\n');
      }
    },
  },
  {
    name: 'links where folders and files were',
    lay: ({ wt, repo }) => {
      repo.place.at('outside');
      wt.write('f', linkTo(join(repo.place.root, 'outside/target')));
      wt.write('dir', linkTo(join(repo.place.root, 'outside')));
      wt.write('dangling', linkTo('/nowhere/at/all'));
    },
  },
];

/** Lays a payload into the workspace `wt` of `repo`. */
export function laySceneOf(
  payload: Payload,
  repo: Repository,
  wt: Repository,
): Scene & { readonly canary: string } {
  const canary = join(repo.place.at('canary').dir, 'sprung');
  const program = join(repo.place.root, 'evil-program');
  const touch = `touch ${canary}`;
  writeFileSync(program, `#!/bin/sh\n${touch}\ncat\n`);
  chmodSync(program, 0o755);
  const scene = { repo, wt, touch, program, canary };
  payload.lay(scene);
  // Setting it up may have sprung it.
  rmSync(canary, { force: true });
  return scene;
}

/** Runs commands one after the other; after each the canary must be missing and the answer must be one. */
export async function expectNothingSprung(
  canary: string,
  repo: Repository,
  commands: readonly (readonly string[])[],
): Promise<void> {
  for (const args of commands) {
    const run = await runSennit([...args, '--json'], { cwd: repo });
    expect(existsSync(canary), run.story()).toBe(false);
    expect([0, 1, 2, 3], run.story()).toContain(run.code);
    expect(() => run.json()).not.toThrow();
  }
}
