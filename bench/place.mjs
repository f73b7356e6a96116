// A temporary folder of a bench run and the environment of every child in it: an empty home, its own git
// configuration, no GIT_* variable of the caller, a fixed identity and fixed dates. Both plain git and Sennit run in
// it, so that neither profits from the machine's set-up.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const GIT_CONFIG = `[user]
\tname = Bench User
\temail = bench@sennit.invalid
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[core]
\tautocrlf = false
`;

/** @param {string | undefined} base folder to make the place in; the system's temporary folder unless given */
export function openPlace(base = tmpdir()) {
  const root = realpathSync(mkdtempSync(join(base, 'sennit-bench-')));
  for (const folder of ['home', 'tmp', 'state']) mkdirSync(join(root, folder));
  const config = join(root, 'gitconfig');
  writeFileSync(config, GIT_CONFIG);
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    XDG_STATE_HOME: join(root, 'state'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NO_COLOR: '1',
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_DATE: '1767225600 +0000',
    GIT_COMMITTER_DATE: '1767225600 +0000',
  };
  return { root, env, close: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Runs a program to its end and gives its standard output as bytes. Throws for an exit code that is not accepted. */
function run(place, program, args, { cwd, input, env, accept = [0] } = {}) {
  const result = spawnSync(program, args, {
    cwd: cwd ?? place.root,
    env: { ...place.env, ...env },
    input,
    maxBuffer: 1 << 30,
  });
  if (result.error) throw result.error;
  if (!accept.includes(result.status)) {
    throw new Error(`${program} ${args.slice(0, 6).join(' ')} ended with ${result.status}: ${result.stderr}`);
  }
  return result.stdout;
}

export const git = (place, args, options) => run(place, 'git', args, options);

/** Standard output as text without the line end. */
export const gitText = (place, args, options) => git(place, args, options).toString('utf8').trim();

/** Runs a program without blocking this process. Resolves to its code, outputs and wall time in milliseconds. */
export function start(place, program, args, { cwd, input, env } = {}) {
  return new Promise((done, fail) => {
    const began = process.hrtime.bigint();
    const child = spawn(program, args, { cwd: cwd ?? place.root, env: { ...place.env, ...env } });
    const out = [];
    const err = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => err.push(chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', fail);
    child.once('close', (code) =>
      done({
        code,
        stdout: Buffer.concat(out),
        stderr: Buffer.concat(err).toString('utf8'),
        ms: Number(process.hrtime.bigint() - began) / 1e6,
      }),
    );
  });
}

const BUILT = fileURLToPath(new URL('../dist/', import.meta.url));

/** The compiled program: `dist/` of this project, or another folder. */
export function openProgram(folder = BUILT) {
  const root = resolve(folder);
  const main = join(root, 'cli', 'main.js');
  if (!existsSync(main)) throw new Error(`${main} is not there. Run: npm run build`);
  return { main, load: (path) => import(pathToFileURL(join(root, path)).href) };
}

/** The commands of the library for a repository, silent. Answers are those of `--json`. */
export async function openCommands(place, program, repository) {
  const { createCommands } = await program.load('index.js');
  const narrator = { step() {}, done() {} };
  const commands = createCommands({ cwd: repository, env: place.env, narrator });
  const landing = {
    gates: [],
    noGate: true,
    dropCulprits: false,
    message: 'x',
    branch: undefined,
    push: false,
    pr: false,
    verify: undefined,
    dryRun: true,
  };
  return {
    forecast: async (sources, into) => (await commands.forecast({ sources, into })).answer,
    /** Lands as a dry run: nothing is written. */
    landDry: async (sources, into) => (await commands.land({ ...landing, sources, into })).answer,
  };
}
