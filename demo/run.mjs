/**
 * The demonstration: four agents have worked on a small shop, each in a worktree of its own, and one landing makes one
 * commit of their work. Everything is real: a repository in a temporary folder, git, and the built `sennit` command.
 *
 *   node demo/run.mjs           shows it and removes the folder
 *   node demo/run.mjs --keep    leaves the folder there to look around in
 *
 * It touches nothing outside that folder: its home and its git configuration are its own, and of the caller's
 * environment only a few variables get in. It ends with 0 only when everything came as it says; so it is a test too.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { AGENTS, RESOLVED_TOTAL, SHOP } from './shop.mjs';

const SENNIT = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** The demonstration did not go as it should. */
class DemoFailure extends Error {}

const keep = readKeep();
const color = process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
const bold = (text) => (color ? `\u001b[1m${text}\u001b[22m` : text);
const dim = (text) => (color ? `\u001b[2m${text}\u001b[22m` : text);
const print = (text = '') => process.stdout.write(`${text}\n`);

let child;
let root;
let steps = 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => leave(128 + constants.signals[signal]));
// The reader of a pipe has gone: nobody is left to show anything to.
process.stdout.on('error', () => leave(128 + constants.signals.SIGPIPE));

try {
  if (!existsSync(SENNIT)) {
    throw new DemoFailure(`${SENNIT} is missing. \`npm ci\` builds it, and so does \`npm run build\`.`);
  }
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sennit-demo-')));
  await show();
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  process.stderr.write(`\ndemo: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  cleanUp();
}

function readKeep() {
  try {
    return parseArgs({ options: { keep: { type: 'boolean', default: false } } }).values.keep;
  } catch (error) {
    process.stderr.write(`demo: ${error.message}\nUsage: npm run demo [-- --keep]\n`);
    process.exit(2);
  }
}

function cleanUp() {
  if (root === undefined) return;
  if (keep) print(`\nKept: ${join(root, 'shop')}`);
  else rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  root = undefined;
}

/** Ends early: what runs is ended first, so that nothing writes into the folder while it goes. */
function leave(code) {
  const end = () => {
    cleanUp();
    process.exit(code);
  };
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) end();
  child.once('close', end);
  child.kill('SIGTERM');
  setTimeout(end, 15_000);
}

async function show() {
  const shop = join(root, 'shop');
  const agents = AGENTS.map((agent) => ({ ...agent, dir: join(root, 'wt', agent.name) }));
  await build(shop, agents);

  title('What four agents left behind');
  print(
    'A shop with a cart and a search. Each agent worked in a worktree of its own, and was told nothing of Sennit.',
  );
  await run(shop, 'git', ['log', '--oneline']);
  await run(shop, 'git', ['worktree', 'list']);
  for (const { name, dir, left } of agents) {
    print(`\n${bold(name)}: ${left}`);
    await run(dir, 'git', ['log', '--oneline', 'main..'], { cd: true });
    await run(dir, 'git', ['status', '--short', '--untracked-files=all'], { cd: true });
  }
  const main = (await quiet(shop, 'git', ['rev-parse', 'HEAD'])).trim();
  const before = agents.map(fingerprint);

  title('What will collide, before anything is merged');
  const forecast = await sennit(shop, ['forecast', '../wt/*']);
  requireText(forecast, /1 pair of 6 will collide/, 'the forecast finds the one collision');

  title('The landing stops at the conflict, and nothing has changed');
  const stopped = await sennit(shop, ['land', '../wt/*'], 3);
  requireText(stopped, /src\/cart\.js/, 'the landing names the conflict');
  requireThat((await quiet(shop, 'git', ['rev-parse', 'HEAD'])).trim() === main, 'main has not moved');
  requireThat((await quiet(shop, 'git', ['status', '--porcelain'])) === '', 'the checkout is clean');

  title('What waits for a decision');
  await sennit(shop, ['conflicts']);
  const { handover } = JSON.parse(await quiet(shop, process.execPath, [SENNIT, 'conflicts', '--json']));
  requireThat(existsSync(handover.packet), 'the packet is there');
  const file = join(handover.worktree, 'src', 'cart.js');
  await run(shop, 'cat', [file]);
  requireText(readFileSync(file, 'utf8'), /^<{7} /m, 'the file holds markers');

  title('You settle it in place: vouchers first, shipping on top');
  print(dim('(`sennit resolve src/cart.js --take target` or `--take change` would take one side instead.)'));
  const marked = readFileSync(file, 'utf8');
  writeFileSync(file, marked.replace(/^<{7} [\s\S]*?^>{7} .*\n/m, RESOLVED_TOTAL));
  await run(shop, 'tail', ['-n', '11', file]);

  title('It goes on: the gate of sennit.yaml runs on the merged tree, and one commit lands');
  await run(shop, 'cat', ['sennit.yaml']);
  const landed = await sennit(shop, ['continue']);
  requireText(landed, /Landed 4 sources on main/, 'all four have landed');

  title('One commit');
  await run(shop, 'git', ['log', '--graph', '--oneline', '--decorate', '--exclude=refs/sennit/*', '--all']);
  await run(shop, 'git', ['show', '--stat', '--format=%an <%ae>%n%n%B', 'HEAD']);

  title('And nothing else has changed');
  const parents = (await quiet(shop, 'git', ['show', '-s', '--format=%P', 'HEAD'])).trim();
  prove(parents === main, 'main has exactly one commit more');
  prove(
    (await quiet(shop, 'git', ['status', '--porcelain'])) === '',
    'your checkout of main is up to date and clean',
  );
  prove((await exitOf(shop, process.execPath, ['--test'])) === 0, 'the tests pass in it');
  for (const [i, agent] of agents.entries()) {
    prove(fingerprint(agent) === before[i], `the worktree of ${agent.name} is as its agent left it`);
  }
  const records = (await quiet(shop, 'git', ['worktree', 'list'])).trim().split('\n').length;
  prove(records === agents.length + 1, 'no worktree of Sennit is left over');
}

/** Builds the repository and the four worktrees, as other tools would. */
async function build(shop, agents) {
  for (const folder of ['home', 'tmp', 'state', 'wt']) mkdirSync(join(root, folder));
  const config = '[user]\n\tname = Sam Keeper\n\temail = sam@shop.invalid\n[init]\n\tdefaultBranch = main\n';
  writeFileSync(join(root, 'gitconfig'), config);
  mkdirSync(shop);
  await quiet(shop, 'git', ['init', '--quiet', '--template=']);
  writeFiles(shop, SHOP);
  await commit(shop, 'A shop with a cart and a search');
  for (const { name, dir, commits, uncommitted } of agents) {
    await quiet(shop, 'git', ['worktree', 'add', '--quiet', '-b', `agent/${name}`, dir]);
    const author = { GIT_AUTHOR_NAME: `Agent ${name}`, GIT_AUTHOR_EMAIL: `${name}@agents.invalid` };
    for (const { message, files } of commits) {
      writeFiles(dir, files);
      await commit(dir, message, author);
    }
    writeFiles(dir, uncommitted);
  }
}

async function commit(dir, message, env = {}) {
  await quiet(dir, 'git', ['add', '--all']);
  await quiet(dir, 'git', ['commit', '--quiet', '--message', message], env);
}

/** Writes files; a value that is a function gets the text that is there. */
function writeFiles(dir, files) {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'function' ? content(readFileSync(path, 'utf8')) : content);
  }
}

/** Everything in a worktree and in its private git dir: names, contents and times of change of the files. */
function fingerprint({ dir }) {
  const gitDir = /^gitdir: (.*)$/m.exec(readFileSync(join(dir, '.git'), 'utf8'))?.[1] ?? '';
  const hash = createHash('sha256');
  for (const top of [dir, gitDir]) {
    for (const name of readdirSync(top, { recursive: true }).sort()) {
      const path = join(top, name);
      const { mtimeMs } = statSync(path);
      hash.update(`${path} ${mtimeMs}\n`);
      if (statSync(path).isFile()) hash.update(readFileSync(path));
    }
  }
  return hash.digest('hex');
}

// ---- commands ----------------------------------------------------------------------------------------------

/** What a child sees: its own home and git configuration, and the few variables of the caller that it needs. */
function environment(extra) {
  const passed = ['LD_LIBRARY_PATH', 'LANG', 'LC_ALL', 'TZ', 'SYSTEMROOT'];
  return {
    ...Object.fromEntries(
      passed.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
    ),
    // The gate finds the Node that runs this.
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    XDG_CONFIG_HOME: join(root, 'home'),
    XDG_STATE_HOME: join(root, 'state'),
    GIT_CONFIG_GLOBAL: join(root, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: root,
    GIT_TERMINAL_PROMPT: '0',
    NO_COLOR: '1',
    TERM: 'dumb',
    ...extra,
  };
}

/** Starts a program and gives its end; `onText` hears all that it writes. */
function start(cwd, program, args, { env = {}, onText }) {
  return new Promise((done, fail) => {
    child = spawn(program, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText);
    child.once('error', (error) =>
      fail(new DemoFailure(`${program} could not be started: ${error.message}`)),
    );
    child.once('close', (code, signal) => done(code ?? signal));
  });
}

function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}

/** Shows a command and what it says; fails unless it ends with `exit`. */
async function run(cwd, program, args, { shown = [program, ...args], exit = 0, cd = false } = {}) {
  const where = cd ? `${dim(cwd.slice(root.length + 1))} ` : '';
  print(`\n${where}${bold(`$ ${shown.map(shellWord).join(' ')}`)}`);
  let said = '';
  const code = await start(cwd, program, args, {
    onText: (text) => {
      said += text;
      process.stdout.write(text);
    },
  });
  if (exit !== 0) print(dim(`(exit code ${code})`));
  if (code !== exit) throw new DemoFailure(`${shown.join(' ')} ended with ${code}, not with ${exit}.`);
  return said;
}

/** Shows one call of the built command. */
function sennit(cwd, args, exit = 0) {
  return run(cwd, process.execPath, [SENNIT, ...args], { shown: ['sennit', ...args], exit });
}

/** Runs a command without showing it; gives what it says. */
async function quiet(cwd, program, args, env = {}) {
  let said = '';
  const code = await start(cwd, program, args, {
    env,
    onText: (text) => {
      said += text;
    },
  });
  if (code !== 0) throw new DemoFailure(`${program} ${args.join(' ')} ended with ${code}:\n${said}`);
  return said;
}

function exitOf(cwd, program, args) {
  return start(cwd, program, args, { onText: () => undefined });
}

// ---- words -------------------------------------------------------------------------------------------------

function title(text) {
  steps += 1;
  print(`\n${bold(`── ${steps}. ${text} `.padEnd(100, '─'))}`);
}

function requireThat(holds, what) {
  if (!holds) throw new DemoFailure(`not as it should be: ${what}.`);
}

function requireText(text, pattern, what) {
  requireThat(pattern.test(text), what);
}

/** Says what holds, once it has been looked at. */
function prove(holds, what) {
  requireThat(holds, what);
  print(`  ok  ${what}`);
}
