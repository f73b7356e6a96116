// How time and memory grow: with the number of sources, and with the size of files. Rows are
// `{ what, size, ms, peak, ... }`, memory in megabytes of Sennit's own process.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../place.mjs';
import { copyRepository, landArguments, landByHand, sennitWithPeak } from './arms.mjs';
import { median } from './compare.mjs';
import { randomFrom } from './repository.mjs';

const COUNTS = [250, 500, 1000];
const MEGABYTES = [1, 4, 7.9, 10, 50];

/** Time and peak memory for 250, 500 and 1,000 sources. */
export async function measureCounts(bench) {
  const { place } = bench;
  const { repository, names } = bench.repositories.chain;
  const rows = [];
  for (const what of ['forecast', 'land']) {
    for (const count of COUNTS) {
      const sources = names.slice(0, count);
      const runs = [];
      for (let round = 0; round < bench.fewRounds; round += 1) {
        const copy = copyRepository(place, repository, `${what}-${count}-${round}`);
        const args =
          what === 'land' ? landArguments(sources) : ['forecast', ...sources, '--into', 'main', '--json'];
        runs.push(await sennitWithPeak(bench, copy, args));
        rmSync(copy, { recursive: true });
      }
      const ms = median(runs.map((run) => run.ms));
      rows.push({ what, count, ms, perSource: ms / count, peak: Math.max(...runs.map(({ peak }) => peak)) });
    }
  }
  const copy = copyRepository(place, repository, 'loop');
  const { ms } = await landByHand(place, copy, names.slice(0, COUNTS.at(-1)));
  rmSync(copy, { recursive: true });
  rows.push({ what: 'bare loop', count: COUNTS.at(-1), ms, perSource: ms / COUNTS.at(-1), peak: null });
  return rows;
}

function bigText(megabytes, seed) {
  const random = randomFrom(seed);
  const lines = [];
  for (let bytes = 0; bytes < megabytes * 1e6; bytes += 50)
    lines.push(
      `${String(Math.floor(random() * 1e15)).padEnd(16, '0')} ${String(lines.length).padStart(32, '.')}`,
    );
  return lines;
}

/** A small repository whose four worktrees each hold one new file of this size, uncommitted. */
function makeHeavyWorktrees(place, megabytes) {
  const main = join(place.root, 'rounds', `heavy-${megabytes}`);
  git(place, ['init', '-q', main]);
  writeFileSync(join(main, 'readme.md'), 'heavy\n');
  git(place, ['add', '-A'], { cwd: main });
  git(place, ['commit', '-q', '-m', 'base'], { cwd: main });
  git(place, ['branch', 'bench-target'], { cwd: main });
  const worktrees = [];
  for (let n = 1; n <= 4; n += 1) {
    const path = join(place.root, 'rounds', `heavy-${megabytes}-wt${n}`);
    git(place, ['worktree', 'add', '-q', '--detach', path], { cwd: main });
    writeFileSync(join(path, `data-${n}.txt`), `${bigText(megabytes, n).join('\n')}\n`);
    worktrees.push(path);
  }
  return { cwd: main, sources: worktrees, codes: [0] };
}

/** A small repository with one file of this size that two branches edit far apart. */
function makeHeavyMerge(place, megabytes) {
  const main = join(place.root, 'rounds', `joint-${megabytes}`);
  git(place, ['init', '-q', main]);
  const lines = bigText(megabytes, 1);
  const commit = (message) => {
    git(place, ['add', '-A'], { cwd: main });
    git(place, ['commit', '-q', '-m', message], { cwd: main });
  };
  writeFileSync(join(main, 'data.txt'), `${lines.join('\n')}\n`);
  commit('base');
  git(place, ['branch', 'bench-target'], { cwd: main });
  for (const [n, at] of [100, lines.length - 100].entries()) {
    git(place, ['checkout', '-q', '-b', `edit-${n}`, 'bench-target'], { cwd: main });
    writeFileSync(join(main, 'data.txt'), `${lines.with(at, `edited by ${n}`).join('\n')}\n`);
    commit(`edit ${n}`);
  }
  // Above a size Sennit hands such a file over instead of checking it line by line: a conflict, exit code 3.
  return { cwd: main, sources: ['edit-0', 'edit-1'], codes: [0, 3] };
}

/** Peak memory while files of 1, 10 and 50 MB are landed. */
export async function measureSizes(bench) {
  const rows = [];
  const kinds = [
    ['four worktrees, each with one new file', makeHeavyWorktrees],
    ['two branches that edit one file', makeHeavyMerge],
  ];
  for (const [what, make] of kinds) {
    for (const megabytes of MEGABYTES) {
      const { cwd, sources, codes } = make(bench.place, megabytes);
      const { ms, peak, code } = await sennitWithPeak(bench, cwd, landArguments(sources), { codes });
      rows.push({ what, megabytes, ms, peak, outcome: code === 0 ? 'landed' : 'handed over' });
    }
  }
  return rows;
}
