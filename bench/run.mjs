// Measures Sennit against plain git on a generated repository and writes the figures to bench/results/ as JSON and as a
// Markdown table. Nothing outside of a temporary folder and bench/results/ is changed, docs/performance.md only with
// `--write-docs`. Needs a quiet machine: figures are ratios of medians over alternating rounds, and still move with load.
//
//   npm run bench -- [--only forecast,land,snapshot,start,counts,sizes] [--rounds 9] [--few-rounds 3]
//                    [--dist dist] [--folder <where the temporary folder goes>] [--memory /dev/shm] [--write-docs]
//
// With `--memory` forecasts and landings are measured a second time in a folder of a memory file system: on a disk much of
// what plain git takes goes into making files, and how long that takes depends on the disk.
//
// Ends with exit code 1 when a limit is missed. See also bench/speed/prove-overlap.mjs and bench/replay/replay.mjs.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gitText, openPlace, openProgram } from './place.mjs';
import { measureCounts, measureSizes } from './speed/growth.mjs';
import {
  measureForecast,
  measureLanding,
  measureSnapshot,
  measureStart,
  SOURCES,
} from './speed/measures.mjs';
import { makeRepository } from './speed/repository.mjs';
import { renderTables, rowsMissed, writeIntoDocs } from './speed/tables.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'forecast,land,snapshot,start,counts,sizes' },
    rounds: { type: 'string', default: '9' },
    'few-rounds': { type: 'string', default: '3' },
    dist: { type: 'string' },
    folder: { type: 'string' },
    memory: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
});

const say = (text) => process.stderr.write(`${text}\n`);
const place = openPlace(options.folder);
const program = openProgram(options.dist);
const rounds = Number(options.rounds);
const fewRounds = Number(options['few-rounds']);
const wanted = new Set(options.only.split(','));

const openBench = (at) => ({ place: at, program, rounds, fewRounds, repositories: {} });

/** Makes a repository when the first measure needs it. */
async function need(bench, shape, branches) {
  if (bench.repositories[shape] !== undefined) return;
  say(`making the repository: ${shape}, ${branches} branches`);
  bench.repositories[shape] = await makeRepository(bench.place, { name: shape, shape, branches });
}

async function measurePairs(bench, add) {
  for (const shape of ['sparse', 'dense']) {
    if (!wanted.has('forecast') && !wanted.has('land')) return;
    await need(bench, shape, SOURCES + 1);
    if (wanted.has('forecast')) add(await measureForecast(bench, shape));
    if (wanted.has('land')) add(await measureLanding(bench, shape));
  }
}

async function measureInMemory(add) {
  if (options.memory === undefined) return;
  const memory = openPlace(options.memory);
  try {
    mkdirSync(`${memory.root}/rounds`);
    await measurePairs(openBench(memory), (rows) => add(rows.map((row) => ({ ...row, where: 'memory' }))));
  } finally {
    memory.close();
  }
}

async function measure() {
  const bench = openBench(place);
  const ratios = [];
  const add = (rows) => {
    for (const row of rows)
      say(`${row.what}, ${row.shape}: ${row.ratio.toFixed(2)} (limit ${row.limit ?? 'none'})`);
    ratios.push(...rows);
  };
  await measurePairs(bench, add);
  await measureInMemory(add);
  if (wanted.has('snapshot') || wanted.has('start')) await need(bench, 'sparse', SOURCES + 1);
  if (wanted.has('snapshot')) add(await measureSnapshot(bench));
  if (wanted.has('start')) add(await measureStart(bench));
  if (wanted.has('counts')) await need(bench, 'chain', 1000);
  const counts = wanted.has('counts') ? await measureCounts(bench) : [];
  const sizes = wanted.has('sizes') ? await measureSizes(bench) : [];
  return { ratios, counts, sizes };
}

try {
  mkdirSync(`${place.root}/rounds`);
  const figures = {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memory: totalmem(),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
      git: gitText(place, ['version']),
    },
    rounds,
    ...(await measure()),
  };
  const results = fileURLToPath(new URL('./results/', import.meta.url));
  mkdirSync(results, { recursive: true });
  writeFileSync(`${results}speed.json`, `${JSON.stringify(figures, null, 2)}\n`);
  const tables = renderTables(figures);
  writeFileSync(`${results}speed.md`, tables);
  console.log(tables);
  if (options['write-docs']) {
    const docs = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
    writeFileSync(docs, writeIntoDocs(readFileSync(docs, 'utf8'), tables));
  }
  const missed = rowsMissed(figures);
  for (const row of missed) say(`missed: ${row}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  place.close();
}
