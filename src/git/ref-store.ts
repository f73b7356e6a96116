// Refs, worktree records and configuration of the repository, always by an explicit git dir. Refs move only in one
// transaction that names every old value; a ref that is not where it was expected changes nothing.

import { createHash } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SennitError } from '../model/errors.ts';
import { isOid, type Oid } from '../model/ids.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Identity, RefOutcome, Refs, RefUpdate, RepositoryPlace } from '../ports/git.ts';
import { type Coprocess, DURABLE_CONFIG, type GitSpawner, gitFailure } from './spawn.ts';
import { readWorktrees } from './worktree-list.ts';

export function openRefs(spawner: GitSpawner, place: RepositoryPlace): Refs {
  return new RefStore(spawner, place);
}

class RefStore implements Refs {
  readonly #spawner: GitSpawner;
  readonly #place: RepositoryPlace;
  #asker: Coprocess | undefined;
  /** Questions without an answer so far. */
  #asking = 0;
  #turn: Promise<void> = Promise.resolve();
  #identity: Promise<{ author: Identity; committer: Identity }> | undefined;

  constructor(spawner: GitSpawner, place: RepositoryPlace) {
    this.#spawner = spawner;
    this.#place = place;
  }

  /** One process answers all questions of a command about revisions, each with the refs as they are by then. */
  #ask<T>(questions: readonly string[], answer: (process: Coprocess) => Promise<T>): Promise<T> {
    this.#asker ??= this.#spawner.coprocess({
      args: ['cat-file', '--batch-command'],
      gitDir: this.#place.commonDir,
    });
    const asker = this.#asker;
    this.#asking += 1;
    asker.keepAlive(true);
    asker.write(questions.map((question) => `${question}\n`).join(''));
    const next = this.#turn.then(() => answer(asker));
    const done = (): void => {
      this.#asking -= 1;
      if (this.#asking === 0) asker.keepAlive(false);
    };
    this.#turn = next.then(done, done);
    return next;
  }

  resolveCommits(revisions: readonly string[]): Promise<(Oid | undefined)[]> {
    if (revisions.length === 0) return Promise.resolve([]);
    // One line a question: a revision with a line break in it can name nothing.
    const asked = revisions.map((name) => `info ${/[\n\0]/.test(name) ? 'refs/none' : name}^{commit}`);
    return this.#ask(asked, async (process) => {
      const found: (Oid | undefined)[] = [];
      for (const _ of asked) {
        // `<oid> commit <size>`, or the question and ` missing`
        const [oid = '', type] = (await process.readUntil('\n')).toString('utf8').split(' ');
        found.push(type === 'commit' && isOid(oid) ? oid : undefined);
      }
      return found;
    });
  }

  async readFileAt(revision: string, path: string): Promise<string | null> {
    return this.#ask([`contents ${revision}:${path}`], async (process) => {
      const head = (await process.readUntil('\n')).toString('utf8');
      const size = /^[0-9a-f]+ (\w+) (\d+)$/.exec(head);
      if (size === null) return null;
      const content = await process.read(Number(size[2]));
      await process.read(1);
      return size[1] === 'blob' ? content.toString('utf8') : null;
    });
  }

  async listRefs(prefix: string): ReturnType<Refs['listRefs']> {
    const { stdout } = await this.#spawner.run({
      args: [
        'for-each-ref',
        '--format=%(refname) %(objectname) %(objecttype) %(*objectname) %(*objecttype)',
        prefix,
      ],
      gitDir: this.#place.commonDir,
    });
    const refs: { ref: string; oid: Oid; commit: Oid | null }[] = [];
    for (const line of stdout.toString('utf8').split('\n')) {
      const [ref = '', oid = '', type, peeled = '', peeledType] = line.split(' ');
      if (!isOid(oid)) continue;
      const commit = type === 'commit' ? oid : peeledType === 'commit' && isOid(peeled) ? peeled : null;
      refs.push({ ref, oid, commit });
    }
    return refs;
  }

  async updateRefs(updates: readonly RefUpdate[], reason: string): Promise<RefOutcome> {
    if (updates.length === 0) return { outcome: 'updated' };
    const zero = '0'.repeat(this.#place.objectFormat === 'sha256' ? 64 : 40);
    const lines = updates.map(({ ref, to, from }) =>
      to === null ? `delete ${ref}\0${from ?? zero}\0` : `update ${ref}\0${to}\0${from ?? zero}\0`,
    );
    const call = {
      args: ['update-ref', '--create-reflog', '-m', reason.replace(/\s+/g, ' '), '--stdin', '-z'],
      gitDir: this.#place.commonDir,
      config: [...DURABLE_CONFIG, ['core.logAllRefUpdates', 'always']] as const,
      stdin: lines.join(''),
      accept: [0, 1, 128],
    };
    for (let attempt = 0; ; attempt += 1) {
      const { code, stderr } = await this.#spawner.run(call);
      if (code === 0) return { outcome: 'updated' };
      // Somebody else holds the ref for a moment: that is not a changed value.
      if (
        /Unable to create '.*\.lock': File exists|could not lock|Resource temporarily unavailable/i.test(
          stderr,
        ) &&
        attempt < 20
      ) {
        await new Promise((resolve) => setTimeout(resolve, 25 + Math.random() * 50));
        continue;
      }
      if (/but expected|reference already exists|unable to resolve reference/.test(stderr)) {
        return { outcome: 'moved', message: stderr.trim() };
      }
      throw gitFailure(call.args, code, null, stderr);
    }
  }

  listWorktrees(): Promise<WorktreeInfo[]> {
    return readWorktrees(this.#place.commonDir, this.#place.primary, (refs) => this.resolveCommits(refs));
  }

  async followRef(ref: string): Promise<string> {
    const { commonDir } = this.#place;
    // A ref that stands for another is a file of its own: packed refs cannot hold one.
    const text = await readFile(join(commonDir, ref), 'utf8').catch(() => '');
    if (text.startsWith('ref: ')) return text.slice(5).trim();
    const reftable =
      text === '' && (await lstat(join(commonDir, 'reftable')).catch(() => undefined)) !== undefined;
    return reftable ? ((await this.#readSymbolic(ref)) ?? ref) : ref;
  }

  readHead(): Promise<string | null> {
    return this.#readSymbolic('HEAD');
  }

  async #readSymbolic(ref: string): Promise<string | null> {
    const { code, stdout } = await this.#spawner.run({
      args: ['symbolic-ref', '--quiet', ref],
      gitDir: this.#place.commonDir,
      accept: [0, 1, 128],
    });
    return code === 0 ? stdout.toString('utf8').trim() : null;
  }

  async mendConfig(key: string, value: string | null): Promise<void> {
    await this.#spawner.run({
      args: ['config', '--local', ...(value === null ? ['--unset-all', key] : [key, value])],
      gitDir: this.#place.commonDir,
    });
  }

  async readFingerprint(): Promise<string> {
    const { commonDir } = this.#place;
    const hash = createHash('sha256');
    for (const file of ['config', 'config.worktree']) {
      hash.update(await readFile(join(commonDir, file)).catch(() => file));
    }
    return hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#asker?.close();
    this.#asker = undefined;
  }

  async readConfig(key: string): Promise<string | undefined> {
    const { code, stdout } = await this.#spawner.run({
      args: ['config', '-z', '--get', key],
      gitDir: this.#place.commonDir,
      accept: [0, 1],
    });
    return code === 0 ? stdout.toString('utf8').replace(/\0$/, '') : undefined;
  }

  async readHooksFolder(): Promise<string> {
    const { commonDir, primary, topLevel } = this.#place;
    const { stdout } = await this.#spawner.run({
      args: ['config', '-z', '--get-all', '--type=path', 'core.hooksPath'],
      gitDir: commonDir,
      accept: [0, 1],
    });
    // The last value is the one that keeps hooks from running in every call of ours.
    const configured = stdout
      .toString('utf8')
      .split('\0')
      .filter((path) => path !== '' && path !== '/dev/null')
      .at(-1);
    return configured === undefined
      ? join(commonDir, 'hooks')
      : resolve(primary ?? topLevel ?? commonDir, configured);
  }

  readIdentity(): Promise<{ author: Identity; committer: Identity }> {
    this.#identity ??= this.#askIdentity();
    return this.#identity;
  }

  async #askIdentity(): Promise<{ author: Identity; committer: Identity }> {
    const read = async (name: string): Promise<Identity> => {
      const { code, stdout, stderr } = await this.#spawner.run({
        args: ['var', name],
        gitDir: this.#place.commonDir,
        config: [['user.useConfigOnly', 'true']], // no identity made up from the machine's name
        accept: [0, 128],
      });
      const match = /^(.*) <(.*)> \d+ [+-]\d{4}$/.exec(stdout.toString('utf8').trim());
      if (code !== 0 || match === null) {
        throw new SennitError(
          'identity_missing',
          `git does not know who you are: ${stderr.trim().split('\n').at(-1) ?? ''}`,
          {
            hint: 'Set it with: git config --global user.name "Your Name" && git config --global user.email you@example.com',
          },
        );
      }
      return { name: match[1] ?? '', email: match[2] ?? '' };
    };
    const [author, committer] = await Promise.all([read('GIT_AUTHOR_IDENT'), read('GIT_COMMITTER_IDENT')]);
    return { author, committer };
  }
}
