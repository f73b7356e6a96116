// Real repositories for tests, driven with git directly and never with the code under test. `Repository` is one
// checkout (or bare repository) in a sealed place. Commits on other branches are written with `git fast-import`:
// one process, and no checkout is touched. `repositoryTemplate` builds a repository once for a test file and
// hands out copies.

import { Buffer } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { type Located, SealedPlace, sealedPlace, USER } from './sealed.ts';

/** What a path shall hold: text, bytes, `null` for nothing, or an entry with a mode. The content of a symbolic
 * link is its target, that of a submodule (160000) the commit id. */
export type Content =
  | string
  | Uint8Array
  | null
  | { readonly mode: '100644' | '100755' | '120000' | '160000'; readonly content: string | Uint8Array };

export type Files = Readonly<Record<string, Content>>;

export interface GitRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface GitOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A symbolic link to `target`, as a path's content. */
export function linkTo(target: string): Content {
  return { mode: '120000', content: target };
}

/** An executable file, as a path's content. */
export function executable(content: string): Content {
  return { mode: '100755', content };
}

/** Numbered lines `name 1` … `name count`, some of them replaced: `lines('cart', 30, { 3: 'changed' })`. */
export function lines(name: string, count: number, replaced: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: count }, (_, i) => `${replaced[i + 1] ?? `${name} ${i + 1}`}\n`).join('');
}

export class Repository implements Located {
  readonly place: SealedPlace;
  readonly dir: string;

  constructor(place: SealedPlace, dir: string) {
    this.place = place;
    this.dir = place.inside(dir);
  }

  /** Makes a new repository at `root/<name>`, with an unborn branch `main`. */
  static create(place: SealedPlace, name = 'repo', options: { bare?: boolean } = {}): Repository {
    const repo = new Repository(place, join(place.root, name));
    mkdirSync(repo.dir, { recursive: true });
    repo.git('init', '-q', '--template=', ...(options.bare === true ? ['--bare'] : []));
    // git's own template has it, and `git sparse-checkout` silently does nothing without it.
    mkdirSync(join(repo.commonDir(), 'info'), { recursive: true });
    return repo;
  }

  /** Runs git here whatever comes of it. */
  tryGit(args: readonly string[], options: GitOptions = {}): GitRun {
    const run = spawnSync('git', args, {
      cwd: this.place.inside(this.dir),
      env: this.place.env({ GIT_OPTIONAL_LOCKS: '0', ...options.env }),
      input: options.input ?? '',
      maxBuffer: 256 * 1024 * 1024,
    });
    if (run.error !== undefined) throw run.error;
    return { code: run.status, stdout: run.stdout.toString('utf8'), stderr: run.stderr.toString('utf8') };
  }

  /** Runs git here and gives its output without the last newline; throws when git fails. */
  git(...args: string[]): string {
    return this.gitWith({}, ...args);
  }

  /** As `git`, with standard input or more variables. */
  gitWith(options: GitOptions, ...args: string[]): string {
    const run = this.tryGit(args, options);
    if (run.code !== 0)
      throw new Error(`git ${args.join(' ')} in ${this.dir}: exit ${run.code}\n${run.stderr}`);
    return run.stdout.replace(/\n$/, '');
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  /** Writes one file (folders are made), link or deletion into the work tree. */
  write(name: string, content: Content): void {
    const path = this.path(name);
    if (content === null) {
      rmSync(path, { recursive: true, force: true });
      return;
    }
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) {
      writeFileSync(path, content);
    } else if (content.mode === '120000') {
      rmSync(path, { recursive: true, force: true });
      symlinkSync(Buffer.from(content.content), path);
    } else if (content.mode === '160000') {
      throw new Error('a submodule is written with commitTo, not into a work tree');
    } else {
      writeFileSync(path, content.content);
      chmodSync(path, content.mode === '100755' ? 0o755 : 0o644);
    }
  }

  writeAll(files: Files): void {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  /** A file's text; throws when it is not there. */
  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  has(name: string): boolean {
    return lstatSync(this.path(name), { throwIfNoEntry: false }) !== undefined;
  }

  /** Writes files into the work tree and commits all that differs; gives the commit. */
  commit(message: string, files: Files = {}): string {
    this.writeAll(files);
    this.git('add', '-A');
    this.git('commit', '-q', '--no-verify', '--allow-empty', '-m', message);
    return this.oid('HEAD');
  }

  /** Commits on a branch without touching any checkout; `from` (default `main`, or the branch itself where it
   * exists) is the parent, null for none. Gives the commit. */
  commitTo(branch: string, files: Files, options: { from?: string | null; message?: string } = {}): string {
    const ref = `refs/heads/${branch}`;
    const own = this.tryGit(['rev-parse', '-q', '--verify', ref]).code === 0;
    const from = options.from === undefined ? (own ? branch : 'main') : options.from;
    const message = options.message ?? `work on ${branch}`;
    const chunks: (string | Uint8Array)[] = [
      `commit ${ref}\ncommitter ${USER.name} <${USER.email}> ${this.place.tick()} +0000\n`,
      `data ${Buffer.byteLength(message)}\n${message}\n`,
      from === null ? '' : `from ${this.oid(from)}\n`,
    ];
    for (const [name, content] of Object.entries(files)) {
      const quoted = `"${name.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
      if (content === null) {
        chunks.push(`D ${quoted}\n`);
      } else {
        const plain = typeof content === 'string' || content instanceof Uint8Array;
        const bytes = Buffer.from(plain ? content : content.content);
        const mode = plain ? '100644' : content.mode;
        if (mode === '160000') chunks.push(`M 160000 ${bytes.toString('utf8')} ${quoted}\n`);
        else chunks.push(`M ${mode} inline ${quoted}\ndata ${bytes.length}\n`, bytes, '\n');
      }
    }
    chunks.push('\ndone\n');
    const input = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
    this.gitWith({ input }, 'fast-import', '--quiet', '--done', '--force');
    return this.oid(ref);
  }

  /** Adds a linked worktree `root/<name>`: on a new branch where one is named, else detached. */
  worktree(name: string, options: { branch?: string; at?: string } = {}): Repository {
    const dir = join(this.place.root, name);
    const how = options.branch === undefined ? ['--detach'] : ['--no-track', '-b', options.branch];
    this.git('worktree', 'add', '-q', ...how, dir, options.at ?? 'HEAD');
    return new Repository(this.place, dir);
  }

  /** Full id of the commit (or other object) that a revision names. */
  oid(revision: string): string {
    return this.git('rev-parse', '--verify', '-q', revision);
  }

  tree(revision: string): string {
    return this.oid(`${revision}^{tree}`);
  }

  parents(revision: string): string[] {
    return this.git('show', '-s', '--format=%P', revision).split(' ').filter(Boolean);
  }

  /** The whole commit message. */
  message(revision: string): string {
    return this.git('show', '-s', '--format=%B', revision);
  }

  /** The values of one trailer of a commit, in order. */
  trailers(revision: string, key: string): string[] {
    return this.git('show', '-s', `--format=%(trailers:key=${key},valueonly)`, revision)
      .split('\n')
      .filter(Boolean);
  }

  /** A file's text in a commit, undefined where the path is not there. */
  blob(revision: string, name: string): string | undefined {
    const run = this.tryGit(['cat-file', 'blob', `${revision}:${name}`]);
    return run.code === 0 ? run.stdout : undefined;
  }

  /** All paths of a commit's tree, sorted. */
  files(revision: string): string[] {
    return this.git('ls-tree', '-r', '-z', '--name-only', revision).split('\0').filter(Boolean);
  }

  /** Mode and object id of a path in a commit, undefined where it is not there. */
  entry(revision: string, name: string): { mode: string; oid: string } | undefined {
    const line = this.git('--literal-pathspecs', 'ls-tree', '-z', revision, '--', name).split('\0')[0] ?? '';
    const [mode, , oid] = line.split(/[ \t]/);
    return mode === undefined || oid === undefined ? undefined : { mode, oid };
  }

  /** Paths that differ between two commits. */
  changed(before: string, after: string): string[] {
    return this.git('diff-tree', '-r', '-z', '--name-only', before, after).split('\0').filter(Boolean);
  }

  /** `git status` with every untracked and ignored file, one entry an element. */
  status(): string[] {
    return this.git('status', '--porcelain', '-z', '-uall', '--ignored').split('\0').filter(Boolean);
  }

  /** All refs and what they are at. With a prefix, only those below it. */
  refs(prefix = 'refs/'): Record<string, string> {
    const out = this.git('for-each-ref', '--format=%(refname) %(objectname)', prefix);
    return Object.fromEntries(
      out
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ') as [string, string]),
    );
  }

  /** Absolute path of the git dir that all worktrees share. */
  commonDir(): string {
    return resolve(this.dir, this.git('rev-parse', '--git-common-dir'));
  }

  /** Absolute path of this checkout's own git dir. */
  gitDir(): string {
    return resolve(this.dir, this.git('rev-parse', '--git-dir'));
  }

  /** Checks with fsck that no object is missing or broken. */
  requireSound(): void {
    this.git('fsck', '--no-progress', '--no-dangling', '--connectivity-only');
  }
}

/** What must not change: see `readState`. Compare two with `toEqual`. */
export interface State {
  readonly head: string;
  readonly refs: Readonly<Record<string, string>>;
  readonly config: string;
  readonly stash: string;
  /** Every checkout's own HEAD, and a hash of its index file. */
  readonly worktrees: Readonly<Record<string, string>>;
  /** Every file of the work tree with a hash of its content, ignored and untracked ones included. */
  readonly files: Readonly<Record<string, string>>;
}

/** Reads all that a user would call the state of a repository and of this checkout. Refs below `refs/sennit/` are
 * Sennit's own and are left out unless asked for. */
export function readState(repo: Repository, options: { sennitRefs?: boolean } = {}): State {
  const common = repo.commonDir();
  const refs = Object.entries(repo.refs()).filter(
    ([ref]) => options.sennitRefs === true || !ref.startsWith('refs/sennit/'),
  );
  const admins = join(common, 'worktrees');
  const names = existsSync(admins) ? readdirSync(admins).sort() : [];
  const worktrees = [['', common], ...names.map((name) => [name, join(admins, name)])].map(([name, dir]) => [
    name ?? '',
    `${textOf(join(dir ?? '', 'HEAD'))} ${hashOf(join(dir ?? '', 'index'))}`,
  ]);
  return {
    head: textOf(join(repo.gitDir(), 'HEAD')),
    refs: Object.fromEntries(refs),
    config: textOf(join(common, 'config')),
    stash: textOf(join(common, 'logs/refs/stash')),
    worktrees: Object.fromEntries(worktrees),
    files: repo.git('rev-parse', '--is-bare-repository') === 'true' ? {} : readFiles(repo.dir),
  };
}

/** Every file and link below a directory with a hash of its content; git's own folder is left out. */
export function readFiles(dir: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const item of readdirSync(join(dir, below), { withFileTypes: true })) {
    const name = below === '' ? item.name : `${below}/${item.name}`;
    if (item.name === '.git' && below === '') continue;
    const path = join(dir, name);
    if (item.isDirectory()) Object.assign(found, readFiles(dir, name));
    else if (item.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
    else if (item.isFile()) found[name] = `${lstatSync(path).mode & 0o111 ? 'x' : 'f'} ${hashOf(path)}`;
    else found[name] = 'special';
  }
  return found;
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function hashOf(path: string): string {
  return existsSync(path) ? createHash('sha1').update(readFileSync(path)).digest('hex') : 'absent';
}

/** The small project that most tests start from: `main` with one commit, checked out. */
const PROJECT: Files = {
  'README.md': '# Shop\n\nA small shop.\n',
  'src/cart.ts': lines('cart', 40),
  'src/search.ts': lines('search', 40),
  'src/login.ts': lines('login', 40),
  'docs/guide.md': lines('guide', 20),
  '.gitignore': 'node_modules/\n*.log\n',
};

/** A repository that is built once for a test file, at its first use: each call gives a copy in a sealed place of
 * its own, with the checkout at `root/repo`. Call it at the top of a file, the result inside tests. The built
 * repository must have no linked worktrees: these know where they are. */
export function repositoryTemplate(build: (repo: Repository) => void): () => Repository {
  let template: Repository | undefined;
  afterAll(() => template?.place.cleanUp());
  return () => {
    if (template === undefined) {
      template = Repository.create(new SealedPlace());
      build(template);
    }
    const place = sealedPlace();
    const dir = join(place.root, 'repo');
    cpSync(template.dir, dir, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const copy = new Repository(place, dir);
    // The copies are other files than those that the index knows.
    copy.tryGit(['update-index', '-q', '--refresh']);
    return copy;
  };
}

/** Builds `PROJECT`; for `repositoryTemplate`. */
export function buildProject(repo: Repository): void {
  repo.commit('start', PROJECT);
}
