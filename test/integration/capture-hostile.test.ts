// Nothing in a workspace runs while it is read. Each payload would create a file; afterwards plain git shows that the
// payload was live.

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SennitError } from '../../src/model/errors.ts';
import { requestFor, workspacesOf } from '../support/captures.ts';
import { linkTo, Repository, repositoryTemplate } from '../support/repo.ts';

const newRepo = repositoryTemplate((repo) => {
  repo.commit('start', { f: 'v1\n', 'a.x': 'x\n' });
});

interface Scene {
  readonly repo: Repository;
  readonly a: Repository;
  /** An executable file that creates the forbidden file, whatever its arguments. */
  readonly program: string;
}

interface Payload {
  readonly name: string;
  readonly lay: (scene: Scene) => void;
  /** Plain git that runs the payload. */
  readonly springs: (scene: Scene) => void;
}

function arm(file: string, { repo, program }: Scene): void {
  for (const [key, value] of Object.entries({
    'core.fsmonitor': program,
    'filter.evil.clean': program,
    'filter.evil.smudge': program,
    'filter.evil.required': 'true',
    'filter.long.process': program,
    'diff.external': program,
    'core.alternateRefsCommand': program,
    'core.sshCommand': program,
  })) {
    repo.git('config', '--file', file, key, value);
  }
}

function nestedIn(scene: Scene, path: string, prepare: () => void = () => undefined): Repository {
  const nested = Repository.create(scene.repo.place, `a/${path}`);
  nested.commit('inner', { inner: 'inner\n' });
  prepare();
  nested.write('.gitattributes', '* filter=evil\n');
  nested.write('inner', 'INNER\n'); // of the same size: only its content can tell
  arm(nested.path('.git/config'), scene);
  return nested;
}

const addAll = ({ a }: Scene): void => {
  a.tryGit(['add', '-A']);
};

const PAYLOADS: readonly Payload[] = [
  {
    name: 'a nested repository with a file-system monitor and a filter',
    lay: (scene) => {
      nestedIn(scene, 'nested');
    },
    springs: ({ a }) => a.tryGit(['-C', 'nested', 'status']),
  },
  {
    name: 'a gitlink in the index whose repository has a filter',
    lay: (scene) => {
      nestedIn(scene, 'nested', () => scene.a.git('add', '-A'));
    },
    springs: addAll,
  },
  {
    name: 'a submodule with a filter, a monitor and hooks',
    lay: (scene) => {
      const library = Repository.create(scene.repo.place, 'library');
      library.commit('library', { l: 'l\n' });
      scene.a.git('submodule', '--quiet', 'add', library.dir, 'sub');
      scene.a.git('commit', '-qm', 'submodule');
      const sub = new Repository(scene.repo.place, scene.a.path('sub'));
      arm(join(sub.gitDir(), 'config'), scene);
      sub.write('.gitattributes', '* filter=evil\n');
      sub.write('l', 'L\n'); // of the same size: only its content can tell
    },
    springs: addAll,
  },
  {
    name: 'a .git directory of its own',
    lay: (scene) => {
      rmSync(scene.a.path('.git'));
      nestedIn(scene, '.');
    },
    springs: addAll,
  },
  {
    name: 'a .git that is a link to a git dir of its own',
    lay: (scene) => {
      rmSync(scene.a.path('.git'));
      nestedIn(scene, '.');
      renameSync(scene.a.path('.git'), scene.a.path('gitdir'));
      scene.a.write('.git', linkTo('gitdir'));
    },
    springs: addAll,
  },
  {
    name: 'a .git file that names a git dir of its own',
    lay: (scene) => {
      rmSync(scene.a.path('.git'));
      nestedIn(scene, '.');
      renameSync(scene.a.path('.git'), scene.a.path('gitdir'));
      scene.a.write('.git', 'gitdir: gitdir\n');
    },
    springs: addAll,
  },
  {
    name: 'a private config.worktree',
    lay: (scene) => {
      scene.repo.git('config', 'extensions.worktreeConfig', 'true');
      arm(join(scene.a.gitDir(), 'config.worktree'), scene);
      scene.a.write('.gitattributes', '* filter=evil\n');
    },
    springs: addAll,
  },
  {
    name: 'a commondir file that leads to a git dir of the workspace',
    lay: (scene) => {
      scene.a.write('.gitattributes', '* filter=evil\n');
      const own = Repository.create(scene.repo.place, 'a/own');
      arm(own.path('.git/config'), scene);
      writeFileSync(join(scene.a.gitDir(), 'commondir'), `${own.path('.git')}\n`);
    },
    springs: addAll,
  },
  {
    name: 'a filter of the shared configuration that runs a script of the workspace',
    lay: ({ repo, a, program }) => {
      repo.git('config', 'filter.evil.clean', './tools/clean.sh');
      repo.git('config', 'filter.evil.required', 'true');
      a.write('.gitattributes', '* filter=evil\n');
      a.write('tools/clean.sh', { mode: '100755', content: `#!/bin/sh\nexec '${program}'\n` });
    },
    springs: addAll,
  },
  {
    name: 'a filter that only an ignored attributes file asks for',
    lay: ({ repo, a, program }) => {
      repo.git('config', 'filter.evil.clean', program);
      a.write('.gitignore', '.gitattributes\n');
      a.write('.gitattributes', '* filter=evil\n');
    },
    springs: addAll,
  },
  {
    name: 'a filter process for a file that was merely touched',
    lay: ({ repo, a, program }) => {
      repo.git('config', 'filter.long.process', program);
      a.write('.gitattributes', '* filter=long\n');
      rmSync(a.path('f'));
      a.write('f', 'v1\n');
    },
    springs: addAll,
  },
  {
    name: 'hooks in the shared git dir and where core.hooksPath leads',
    lay: ({ repo, a, program }) => {
      for (const folder of [join(repo.commonDir(), 'hooks'), a.path('hooks')]) {
        mkdirSync(folder, { recursive: true });
        for (const hook of [
          'post-index-change',
          'pre-commit',
          'fsmonitor-watchman',
          'reference-transaction',
        ]) {
          writeFileSync(join(folder, hook), `#!/bin/sh\nexec '${program}'\n`);
          chmodSync(join(folder, hook), 0o755);
        }
      }
      repo.git('config', 'core.hooksPath', 'hooks');
    },
    springs: addAll,
  },
  {
    name: 'a monitor with an index that trusts it',
    lay: ({ repo, a, program }) => {
      a.git('update-index', '--fsmonitor');
      repo.git('config', 'core.fsmonitor', program);
    },
    springs: addAll,
  },
  {
    name: 'programs in the folder where git starts',
    lay: ({ a, program }) => {
      for (const name of ['git', 'sh', 'git-update-index', 'git-lfs']) {
        a.write(name, { mode: '100755', content: `#!/bin/sh\nexec '${program}'\n` });
      }
    },
    springs: ({ a }) => {
      const { PATH = '' } = process.env;
      a.gitWith({ env: { PATH: `.:${PATH}` } }, '-c', 'alias.x=!git-lfs', 'x');
    },
  },
];

for (const payload of PAYLOADS) {
  test(`nothing of the workspace runs: ${payload.name}`, async () => {
    const repo = newRepo();
    const a = repo.worktree('a');
    const canary = join(repo.place.root, 'sprung');
    const program = join(repo.place.root, 'evil-program');
    writeFileSync(program, `#!/bin/sh\n: > '${canary}'\ncat\n`);
    chmodSync(program, 0o755);
    const scene: Scene = { repo, a, program };
    a.write('new', 'new\n');
    payload.lay(scene);
    rmSync(canary, { force: true });

    const env = { PATH: `.::bin:${repo.place.env()['PATH'] ?? ''}` };
    const request = await requestFor(repo, a);
    const store = await workspacesOf(repo, { env });
    const calls = [
      () => store.capture(request),
      () => store.compare(request, request.base),
      () => store.capture({ ...request, filters: ['evil'] }),
      () => store.listLeftovers(request.worktree),
    ];
    for (const call of calls) {
      // Complete, or refused with a reason: both are fine here.
      await call().catch((error: unknown) => expect(error).toBeInstanceOf(SennitError));
      // A filter that settings name may run, unless it is a file of the workspace.
      if (payload.name.includes('shared configuration') || call !== calls[2])
        expect(existsSync(canary)).toBe(false);
      rmSync(canary, { force: true });
    }

    payload.springs(scene);
    expect(existsSync(canary), 'the payload must be live, else this test shows nothing').toBe(true);
  });
}
