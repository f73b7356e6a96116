// Replays the merge commits of a real repository. For each two-parent merge: the target is a branch at parent 1, the
// source is parent 2, and what Sennit would land is compared with git's own merge of the same parents and with the
// tree that was recorded. The clone that is named is only read: everything happens in a scratch clone that borrows its
// objects.
//
//   node bench/replay/replay.mjs --repository <clone> [--newest 1000] [--skip 0] [--tip HEAD] [--command 25]
//                                [--dist dist] [--json <file>] [--verbose]
//
// `--command N` runs the real `sennit land` for N of the merges, spread evenly; the rest runs through the flow in this
// process as a dry run, so that nothing is written. Exit code 1 when Sennit landed a tree that is not git's although
// git merged cleanly, or when a command failed in a way that is no refusal.

import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { git, gitText, openCommands, openPlace, openProgram, start } from '../place.mjs';
import { mergePairs } from './plain-git.mjs';

const { values: options } = parseArgs({
  options: {
    repository: { type: 'string' },
    newest: { type: 'string', default: '1000' },
    skip: { type: 'string', default: '0' },
    tip: { type: 'string', default: 'HEAD' },
    command: { type: 'string', default: '25' },
    dist: { type: 'string' },
    json: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
if (options.repository === undefined) {
  console.error('Name a clone with full history: --repository <path>');
  process.exit(2);
}

const BRANCH = 'replay-target';
const program = openProgram(options.dist);
const place = openPlace();

/** Two-parent merges, newest first: `{ merge, target, change, recorded }`. */
function readMerges(repository) {
  const text = gitText(
    place,
    [
      'log',
      '--min-parents=2',
      '--max-parents=2',
      `--max-count=${options.newest}`,
      `--skip=${options.skip}`,
      '--format=%H %P %T',
      options.tip,
    ],
    { cwd: repository },
  );
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [merge, target, change, recorded] = line.split(' ');
      return { merge, target, change, recorded };
    });
}

function pointTarget(repository, oid) {
  writeFileSync(join(repository, 'refs', 'heads', BRANCH), `${oid}\n`);
}

/** Lands in this process, as a dry run. */
async function landInProcess(commands, repository, { target, change }) {
  pointTarget(repository, target);
  try {
    return outcomeOf(await commands.landDry([change], BRANCH));
  } catch (error) {
    if (typeof error.code !== 'string') throw error;
    return errorOutcome(error);
  }
}

function errorOutcome({ code, message, paths }) {
  return { outcome: 'error', tree: null, reasons: [{ kind: code, message, paths: paths ?? [] }] };
}

function outcomeOf(report) {
  const findings = report.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ check, message, paths }) => ({ kind: check, message, paths: paths ?? [] }));
  const conflicts = report.conflicts.map(({ path, kind, message }) => ({
    kind,
    message: message ?? '',
    paths: [path],
  }));
  const reasons = [...findings, ...conflicts];
  if (report.result === 'nothing_new') return { outcome: 'nothing', tree: null, reasons };
  return { outcome: reasons.length > 0 ? 'refused' : 'landed', tree: report.tree, reasons };
}

/** Lands with the real command on a branch of its own. */
async function landByCommand(repository, { target, change }) {
  pointTarget(repository, target);
  const { code, stdout, stderr, ms } = await start(
    place,
    process.execPath,
    [program.main, 'land', change, '--into', BRANCH, '--no-gate', '-m', 'replay', '--json'],
    { cwd: repository },
  );
  let answer;
  try {
    answer = JSON.parse(stdout.toString('utf8'));
  } catch {
    throw new Error(`sennit land ended with ${code} and no answer: ${stderr}`);
  }
  if (code === 0 && answer.result === 'landed') {
    const tree = gitText(place, ['rev-parse', `refs/heads/${BRANCH}^{tree}`], { cwd: repository });
    const parents = gitText(place, ['rev-parse', `refs/heads/${BRANCH}^@`], { cwd: repository });
    if (parents !== target) throw new Error(`landed on ${parents}, not on ${target}`);
    return { outcome: 'landed', tree, reasons: [], ms };
  }
  if (answer.result === 'conflicts') {
    await start(place, process.execPath, [program.main, 'abort', '--json'], { cwd: repository });
    return { ...outcomeOf(answer), ms };
  }
  return { ...(answer.error ? errorOutcome(answer.error) : outcomeOf(answer)), ms };
}

/** The word for what happened, from what git, Sennit and history say. */
function judge({ recorded, plain, ours, targetTree }) {
  const tree = ours.outcome === 'nothing' ? targetTree : ours.tree;
  const lands = ours.outcome === 'landed' || ours.outcome === 'nothing';
  if (plain.failed !== undefined) return lands ? 'git refuses, Sennit lands' : 'git refuses, Sennit too';
  if (!plain.clean) {
    if (!lands) return 'both conflict';
    return tree === recorded
      ? 'git conflicts, Sennit lands the recorded tree'
      : 'git conflicts, Sennit lands another tree';
  }
  if (!lands)
    return plain.tree === recorded ? 'refused, git clean = recorded' : 'refused, git clean, recorded differs';
  if (tree !== plain.tree) return 'LANDED ANOTHER TREE THAN GIT';
  return tree === recorded ? 'landed = git = recorded' : 'landed = git, recorded differs';
}

const WRONG = 'LANDED ANOTHER TREE THAN GIT';

function tally(items, nameOf) {
  const counts = new Map();
  for (const item of items)
    for (const name of [nameOf(item)].flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}

async function main() {
  const source = resolve(options.repository);
  const repository = join(place.root, 'clone.git');
  git(place, ['clone', '-q', '--shared', '--bare', source, repository], {
    env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
  });
  mkdirSync(join(place.root, 'quarantine'));
  mkdirSync(join(repository, 'refs', 'heads'), { recursive: true });
  const merges = readMerges(repository);
  const plain = mergePairs(
    place,
    repository,
    merges.map(({ target, change }) => [target, change]),
  );
  const treesOfTargets = gitText(place, ['rev-parse', ...merges.map(({ target }) => `${target}^{tree}`)], {
    cwd: repository,
  }).split('\n');

  const results = [];
  const commands = await openCommands(place, program, repository);
  const began = performance.now();
  for (const [i, one] of merges.entries()) {
    const ours = await landInProcess(commands, repository, one);
    const result = {
      ...one,
      plain: plain[i],
      ours,
      verdict: judge({ ...one, plain: plain[i], ours, targetTree: treesOfTargets[i] }),
    };
    results.push(result);
    if (options.verbose)
      console.error(`${i + 1}/${merges.length} ${one.merge.slice(0, 12)} ${result.verdict}`);
  }
  const took = performance.now() - began;

  const sample = Math.min(Number(options.command), merges.length);
  const differing = [];
  let incomplete = 0;
  for (let k = 0; k < sample; k += 1) {
    const i = Math.floor((k * merges.length) / sample);
    const ours = await landByCommand(repository, merges[i]);
    const same =
      ours.outcome === results[i].ours.outcome &&
      (ours.outcome !== 'landed' || ours.tree === results[i].ours.tree);
    // A clone can lack objects that a checkout for conflicts needs and a merge does not.
    if (ours.reasons.some(({ kind }) => kind === 'object_missing')) incomplete += 1;
    else if (!same) differing.push({ merge: merges[i].merge, command: ours, flow: results[i].ours });
  }

  const refused = results.filter(({ verdict }) => verdict.startsWith('refused'));
  const summary = {
    repository: basename(source) === 'repo' ? basename(dirname(source)) : basename(source),
    merges: merges.length,
    gitClean: plain.filter(({ clean }) => clean === true).length,
    verdicts: tally(results, ({ verdict }) => verdict),
    refusedFor: tally(refused, ({ ours }) =>
      [...new Set(ours.reasons.map(({ kind }) => kind))].sort().join('+'),
    ),
    msPerMerge: Math.round(took / Math.max(1, merges.length)),
    command: { runs: sample, incomplete, differing },
  };
  console.log(JSON.stringify(summary, null, 2));
  for (const { merge, verdict, ours, plain: its } of results) {
    if (!/^refused|LANDED|lands/.test(verdict)) continue;
    console.log(`${merge.slice(0, 12)} ${verdict}`);
    for (const { kind, message, paths } of ours.reasons)
      console.log(`    ${kind} ${paths.join(' ')}: ${message}`);
    for (const { type, paths } of its.conflicts ?? []) console.log(`    git: ${type} ${paths.join(' ')}`);
  }
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ summary, results }));
  if (differing.length > 0 || results.some(({ verdict }) => verdict === WRONG)) process.exitCode = 1;
}

try {
  await main();
} finally {
  place.close();
}
