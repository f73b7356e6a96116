// How the command speaks: help, version, wrong usage, and who gets which text.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { type SealedPlace, sealedPlace } from '../support/sealed.ts';
import { runSennit, SENNIT } from '../support/sennit.ts';

const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

const COMMANDS = [
  'land',
  'forecast',
  'conflicts',
  'resolve',
  'continue',
  'abort',
  'status',
  'gc',
  'archive list',
  'archive show',
  'archive restore',
  'undo',
  'log',
  'doctor',
  'config explain',
  'schema',
  'completion',
];

test('the version is one line', async () => {
  const cwd = sealedPlace();
  for (const args of [['--version'], ['-v'], ['--no-color', '--version']]) {
    const run = (await runSennit(args, { cwd })).expectCode(0);
    expect(run.stdout).toBe(`${VERSION}\n`);
    expect(run.stderr).toBe('');
  }
  const asked = (await runSennit(['--version', '--json'], { cwd })).expectCode(0);
  expect(JSON.parse(asked.stdout)).toMatchObject({ command: 'version', text: `${VERSION}\n` });
});

/** The modules that a call loads: every address that Node resolves. */
async function loadedBy(place: SealedPlace, args: readonly string[]): Promise<string> {
  const log = join(place.root, 'loaded');
  const hooks = join(place.root, 'hooks.mjs');
  writeFileSync(log, '');
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs';
     export async function resolve(specifier, context, next) {
       const found = await next(specifier, context);
       appendFileSync(${JSON.stringify(log)}, found.url + '\\n');
       return found;
     }`,
  );
  const register = `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(hooks).href)});`;
  await runSennit(args, {
    cwd: place,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}` },
  });
  return readFileSync(log, 'utf8');
}

test('the version and the help load no more than they need', async () => {
  const version = await loadedBy(sealedPlace(), ['--version']);
  expect(version).toContain('cli/main.js');
  expect(version).not.toContain('node_modules');
  const help = await loadedBy(sealedPlace(), ['land', '--help']);
  expect(help).toContain('/commander/');
  expect(help).not.toMatch(/\/(zod|yaml|libsql|picomatch|@bomb\.sh)\/|\/(compose|flow|git)\b/);
});

test('the status loads neither the settings parser nor the schemas', async () => {
  const loaded = await loadedBy(sealedPlace(), ['status']);
  expect(loaded).toContain('/compose.js');
  expect(loaded).not.toMatch(/\/(zod|yaml|@bomb\.sh)\//);
});

test('help begins with what it is for and with examples', async () => {
  const cwd = sealedPlace();
  for (const args of [[], ...COMMANDS.map((command) => command.split(' ')), ['archive'], ['config']]) {
    const run = (await runSennit([...args, '--help'], { cwd })).expectCode(0);
    const story = run.story();
    expect(run.stderr).toBe('');
    expect(run.stdout, story).toMatch(/^[A-Z].*\.\n\n/);
    expect(run.stdout.indexOf('\nUsage: sennit'), story).toBeGreaterThan(0);
    if (args.length === 0 || COMMANDS.includes(args.join(' '))) {
      expect(run.stdout.indexOf('\nExamples:'), story).toBeGreaterThan(0);
      expect(run.stdout.indexOf('\nExamples:'), story).toBeLessThan(run.stdout.indexOf('\nUsage:'));
    }
  }
  const whole = (await runSennit(['--help'], { cwd })).stdout;
  for (const command of COMMANDS) expect(whole).toContain(`\n  ${command.split(' ')[0]} `);
  expect((await runSennit(['help', 'land'], { cwd })).stdout).toBe(
    (await runSennit(['land', '--help'], { cwd })).stdout,
  );
});

const WRONG: readonly {
  readonly args: readonly string[];
  readonly command: string;
  readonly says: RegExp;
}[] = [
  { args: [], command: 'sennit', says: /needs a command.*land/ },
  { args: ['lnad', 'x'], command: 'sennit', says: /lnad.*Did you mean land\?/ },
  { args: ['--frobnicate'], command: 'sennit', says: /--frobnicate/ },
  { args: ['archive'], command: 'sennit', says: /list, show, restore/ },
  { args: ['archive', 'shwo'], command: 'sennit', says: /shwo.*Did you mean show\?/ },
  { args: ['land'], command: 'land', says: /source/ },
  { args: ['land', 'a', '--jsno'], command: 'land', says: /--jsno.*Did you mean --json\?/ },
  { args: ['land', 'a', '--into'], command: 'land', says: /--into/ },
  { args: ['land', 'a', '--gate', 'x', '--no-gate'], command: 'land', says: /--gate and --no-gate/ },
  { args: ['land', 'a', '--no-gate', '--gate', 'x'], command: 'land', says: /--gate and --no-gate/ },
  { args: ['land', 'a', '--gate', ' '], command: 'land', says: /--gate/ },
  { args: ['land', 'a', '-m', ' '], command: 'land', says: /message/i },
  { args: ['land', 'a', '--branch', 'a..b'], command: 'land', says: /a\.\.b/ },
  { args: ['resolve', 'f'], command: 'resolve', says: /--take/ },
  { args: ['resolve', 'f', '--take', 'ours'], command: 'resolve', says: /base, target, change, file/ },
  { args: ['resolve', 'f', '--take', 'file'], command: 'resolve', says: /name of a file/ },
  { args: ['resolve', 'f', 'g', '--take', 'base'], command: 'resolve', says: /takes no file/ },
  { args: ['resolve', 'f', 'g', 'h', '--take', 'file'], command: 'resolve', says: /argument/ },
  { args: ['status', 'x'], command: 'status', says: /argument/ },
  { args: ['log', '--limit', '0'], command: 'log', says: /whole number/ },
  { args: ['schema', 'nosuch'], command: 'schema', says: /config, answer, conflicts/ },
  { args: ['completion', 'csh'], command: 'completion', says: /bash, zsh, fish/ },
  { args: ['-C', '/nosuch-directory', 'status'], command: 'status', says: /\/nosuch-directory/ },
];

for (const { args, command, says } of WRONG) {
  test(`wrong usage is refused with a hint: sennit ${args.join(' ')}`, async () => {
    const cwd = sealedPlace();
    const run = (await runSennit(args, { cwd })).expectCode(2);
    expect(run.stdout).toBe('');
    expect(run.stderr.replaceAll('\n', ' ')).toMatch(says);
    expect(run.stderr).toMatch(/^error: /m);
    expect(run.stderr).toMatch(/^hint: \S/m);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    for (const line of [
      [...args, '--json'],
      ['--json', ...args],
    ]) {
      // An option that lacks its value takes the next word for it.
      if (args.at(-1) === '--into' && line[0] !== '--json') continue;
      const asked = (await runSennit(line, { cwd })).expectCode(2);
      expect(asked.stderr).toBe('');
      const answer = asked.json();
      expect(answer).toMatchObject({ command, ok: false, result: 'refused', error: { code: 'usage_wrong' } });
      expect(`${answer.error?.message} ${answer.error?.hint}`).toMatch(says);
    }
  });
}

test('a call without a command shows the help, on standard error', async () => {
  const run = (await runSennit([], { cwd: sealedPlace() })).expectCode(2);
  expect(run.stdout).toBe('');
  expect(run.stderr).toContain('Usage: sennit');
});

test('a name cannot rewrite the terminal', async () => {
  const run = await runSennit(['\u001b[2Jx\u0007'], { cwd: sealedPlace() });
  expect(run.expectCode(2).stderr).toContain('\\u001b[2Jx\\u0007');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  expect(run.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
});

test('a stack trace comes with --debug alone, and never on standard output', async () => {
  const cwd = sealedPlace();
  const plain = await runSennit(['lnad'], { cwd });
  expect(plain.stderr).not.toMatch(/^\s+at /m);
  const debug = await runSennit(['lnad', '--debug', '--json'], { cwd });
  expect(debug.stderr).toMatch(/^\s+at /m);
  expect(debug.json().error?.code).toBe('usage_wrong');
});

/** Runs a line of shell in which `$SENNIT` is the command. */
function shell(place: SealedPlace, line: string): { code: number | null; stdout: string; stderr: string } {
  const env = place.env({ SENNIT: `${process.execPath} ${SENNIT}` });
  const run = spawnSync('sh', ['-c', line], { cwd: place.root, env, encoding: 'utf8' });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

test('a reader that goes away is no error', () => {
  const run = shell(
    sealedPlace(),
    '{ sleep 0.3; $SENNIT schema answer; echo "exit $?" >&2; } | true; { sleep 0.3; $SENNIT --version; echo "exit $?" >&2; } | true; sleep 0.1',
  );
  expect(run.stderr).toBe('exit 0\nexit 0\n');
});

test.skipIf(!existsSync('/dev/full'))('an answer that cannot be written is a failure', () => {
  const run = shell(sealedPlace(), '$SENNIT schema config > /dev/full');
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/no space left/i);
  expect(run.stderr).toContain('[disk_full]');
});

test('a directory that is gone is told, and -C leads out of it', () => {
  const place = sealedPlace();
  const gone = 'mkdir gone && cd gone && rmdir ../gone';
  const run = shell(place, `${gone} && $SENNIT status`);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('[repository_missing]');
  expect(shell(place, `${gone} && $SENNIT --version`).stdout).toBe(`${VERSION}\n`);
  const led = shell(place, `${gone} && $SENNIT -C '${place.root}' -C home status`);
  expect(led.stderr).not.toContain('current directory');
});

test('no colour without a terminal', async () => {
  const run = await runSennit(['land', '--help'], {
    cwd: sealedPlace(),
    env: { NO_COLOR: undefined, TERM: 'xterm' },
  });
  expect(run.stdout).not.toContain('\u001b');
});

test('shells get completions for commands, flags and values', async () => {
  const cwd = sealedPlace();
  for (const shellName of ['bash', 'zsh', 'fish', 'powershell']) {
    const run = (await runSennit(['completion', shellName], { cwd })).expectCode(0);
    expect(run.stdout).toMatch(/sennit complete '?--/);
    expect(run.stderr).toBe('');
  }
  const offered = async (...words: string[]): Promise<string> =>
    (await runSennit(['complete', '--', ...words], { cwd })).expectCode(0).stdout;
  expect(await offered('la')).toMatch(/^land\t/);
  expect(await offered('land', '--drop')).toMatch(/^--drop-culprits\t/);
  expect(await offered('resolve', 'f', '--take', '')).toMatch(/^base\t.*\ntarget\t.*\nchange\t/);
  expect(await offered('archive', 're')).toMatch(/^restore\t/);
  // Sources can be folders: the shell may offer those.
  expect(await offered('land', '../wt')).toBe(':0\n');
});
