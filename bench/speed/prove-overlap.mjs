// Proves that a forecast says of every pair what git says of that pair: pairs that Sennit does not ask git about
// because they can meet nowhere must merge clean, and the others must collide in the same paths. Then a sample of pairs
// is landed (as a dry run) and the tree compared with git's merge of one after the other. Ends with exit code 1 on any
// difference.
//
//   node bench/speed/prove-overlap.mjs [--repositories 6] [--branches 36] [--seed 1] [--land 60] [--dist dist]

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { git, gitText, openCommands, openPlace, openProgram } from '../place.mjs';
import { mergePairs } from '../replay/plain-git.mjs';
import { pairsOf } from './arms.mjs';
import { randomFrom } from './repository.mjs';
import { makeWildRepository } from './wild-repository.mjs';

const { values: options } = parseArgs({
  options: {
    repositories: { type: 'string', default: '6' },
    branches: { type: 'string', default: '36' },
    seed: { type: 'string', default: '1' },
    land: { type: 'string', default: '60' },
    dist: { type: 'string' },
  },
});

const place = openPlace();
const program = openProgram(options.dist);
const differences = [];
const counts = { pairs: 0, asked: 0, collide: 0, landed: 0, refused: 0 };

/** Files that were moved aside are called `<path>~<label>`, and the labels differ. */
const plainPath = (path) => path.replace(/~[^~/]*$/, '');
const setOf = (paths) => [...new Set(paths.map(plainPath))].sort().join(' ');

function compareForecast(report, pairs, plain, where) {
  const said = new Map();
  for (const { sources, paths } of report.collisions) said.set([...sources].sort().join(' '), paths);
  for (const [i, pair] of pairs.entries()) {
    const collision = said.get([...pair].sort().join(' '));
    const its = plain[i];
    if (its.failed !== undefined) {
      if (collision === undefined)
        differences.push(`${where} ${pair.join(' ')}: git refuses, forecast says clean: ${its.failed}`);
      continue;
    }
    if (its.clean === (collision === undefined)) {
      if (its.clean) continue;
      counts.collide += 1;
      const ours = setOf(collision.map(({ path }) => path));
      const theirs = setOf(its.stages);
      if (ours !== theirs)
        differences.push(`${where} ${pair.join(' ')}: forecast names ${ours}, git ${theirs}`);
    } else
      differences.push(
        `${where} ${pair.join(' ')}: git says ${its.clean ? 'clean' : 'conflict'}, forecast the opposite`,
      );
  }
}

/** One pair landed by Sennit, and by git one after the other with true parents. */
async function compareLanding(commands, repository, [a, b], where) {
  const merge = (onto, source) => {
    const bytes = git(
      place,
      ['-c', 'merge.directoryRenames=false', 'merge-tree', '--write-tree', onto, source],
      {
        cwd: repository,
        accept: [0, 1],
      },
    );
    const tree = bytes.toString('utf8').split('\n')[0];
    const clean = bytes.toString('utf8').trim() === tree;
    return clean
      ? gitText(place, ['commit-tree', tree, '-p', onto, '-p', source, '-m', 'm'], { cwd: repository })
      : undefined;
  };
  const main = gitText(place, ['rev-parse', 'main'], { cwd: repository });
  const first = merge(main, a);
  const both = first === undefined ? undefined : merge(first, b);
  if (both === undefined) return;
  const tree = gitText(place, ['rev-parse', `${both}^{tree}`], { cwd: repository });
  try {
    const report = await commands.landDry([a, b], 'main');
    const landed = report.tree ?? gitText(place, ['rev-parse', 'main^{tree}'], { cwd: repository });
    if (report.conflicts.length > 0) counts.refused += 1;
    else if (landed === tree) counts.landed += 1;
    else differences.push(`${where} ${a} ${b}: landed ${landed}, git has ${tree}`);
  } catch (error) {
    if (typeof error.code !== 'string') throw error;
    counts.refused += 1;
  }
}

try {
  mkdirSync(join(place.root, 'quarantine'));
  for (let n = 0; n < Number(options.repositories); n += 1) {
    const seed = Number(options.seed) + n;
    const { repository, names } = makeWildRepository(place, {
      name: `wild-${seed}`,
      seed,
      branches: Number(options.branches),
    });
    const where = `seed ${seed}`;
    const pairs = pairsOf(names);
    const plain = mergePairs(place, repository, pairs, ['-c', 'merge.directoryRenames=false']);
    const commands = await openCommands(place, program, repository);
    const { forecast: report } = await commands.forecast(names, 'main');
    counts.pairs += report.pairs;
    counts.asked += report.merged;
    compareForecast(report, pairs, plain, where);
    const random = randomFrom(seed);
    for (let k = 0; k < Number(options.land); k += 1)
      await compareLanding(commands, repository, pairs[Math.floor(random() * pairs.length)], where);
    rmSync(repository, { recursive: true });
  }
} finally {
  place.close();
}
console.log(
  `${counts.pairs} pairs: ${counts.asked} asked of git, ${counts.pairs - counts.asked} known to be clean, ${counts.collide} collide. ` +
    `Landed ${counts.landed} pairs as git merges them, handed over or refused ${counts.refused} that git calls clean. ` +
    `${differences.length} differences.`,
);
for (const difference of differences) console.log(difference);
if (differences.length > 0) process.exitCode = 1;
