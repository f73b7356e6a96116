/**
 * Runs every check of the project in order and counts it: the static checks (one test each), then the
 * vitest projects. The last line is `N passed, N failed`.
 *
 *   node test/run-all.mjs                    everything
 *   node test/run-all.mjs --static           the static checks alone
 *   node test/run-all.mjs --project unit     the named vitest project alone (may be repeated)
 *   node test/run-all.mjs --totals FILE      writes the sums to FILE as well, and words the last line
 *                                            differently: for a caller that adds up several runs
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitestJson = join(root, 'test-results', 'vitest.json');

const STATIC_CHECKS = [
  { name: 'build', script: 'build' },
  { name: 'types', script: 'types' },
  { name: 'lint', script: 'lint' },
  { name: 'dependency directions', script: 'deps' },
  { name: 'dead code', script: 'dead' },
];
const STATIC_CHECK_TIMEOUT_MS = 180_000;

const { values: options } = parseArgs({
  options: {
    static: { type: 'boolean', default: false },
    project: { type: 'string', multiple: true, default: [] },
    totals: { type: 'string' },
  },
});

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const rows = [];

/** Waits until the text is out: the commands started here write to the same output. */
function print(text) {
  return new Promise((done) => process.stdout.write(`${text}\n`, done));
}

async function runStaticCheck({ name, script }) {
  const start = performance.now();
  const result = spawnSync('npm', ['run', '--silent', script], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: STATIC_CHECK_TIMEOUT_MS,
  });
  const ok = result.status === 0;
  await print(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds(start)})`);
  if (!ok) {
    await print([result.stdout, result.stderr, result.error?.message].filter(Boolean).join('\n').trim());
  }
  rows.push({ name, passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
}

/** The vitest project that a test file belongs to, as vitest.config.ts lays them out. */
function projectOf(file) {
  const [top, folder] = relative(root, file).split(sep);
  if (top === 'src') return 'unit';
  return folder === 'end-to-end' ? 'e2e' : folder;
}

async function runVitest(projects) {
  rmSync(vitestJson, { force: true });
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      ...projects.flatMap((project) => ['--project', project]),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, SENNIT_VITEST_JSON: vitestJson },
    },
  );

  let report;
  try {
    report = JSON.parse(readFileSync(vitestJson, 'utf8'));
  } catch (error) {
    await print(`vitest left no report: ${error.message}`);
    rows.push({ name: 'vitest', passed: 0, failed: 1, skipped: 0 });
    return [];
  }

  const skipped = [];
  const byProject = new Map();
  for (const file of report.testResults) {
    const name = projectOf(file.name);
    const row = byProject.get(name) ?? { name, passed: 0, failed: 0, skipped: 0 };
    byProject.set(name, row);
    let failedHere = 0;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') row.passed += 1;
      else if (test.status === 'failed') failedHere += 1;
      else {
        row.skipped += 1;
        skipped.push(`${relative(root, file.name)}: ${test.fullName}`);
      }
    }
    // A file that does not load, or whose hooks fail, has no failed test of its own.
    if (file.status === 'failed' && failedHere === 0) failedHere = 1;
    row.failed += failedHere;
  }
  const found = [...byProject.values()];
  rows.push(...found);
  if (result.status !== 0 && found.every((row) => row.failed === 0)) {
    await print(`vitest failed outside of any test (exit ${result.status ?? result.signal})`);
    rows.push({ name: 'vitest', passed: 0, failed: 1, skipped: 0 });
  }
  return skipped;
}

if (options.project.length === 0) for (const check of STATIC_CHECKS) await runStaticCheck(check);
const skipped = options.static ? [] : await runVitest(options.project);

const width = Math.max(...rows.map((row) => row.name.length), 'check'.length);
await print(`\n${'check'.padEnd(width)}  passed  failed  skipped`);
for (const row of rows) {
  const counts = `${String(row.passed).padStart(6)}  ${String(row.failed).padStart(6)}`;
  await print(`${row.name.padEnd(width)}  ${counts}  ${String(row.skipped).padStart(7)}`);
}

if (skipped.length > 0) {
  await print('\nskipped:');
  for (const name of skipped) await print(`  ${name}`);
}

const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
const totals = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
if (options.totals === undefined) {
  await print(`\n${totals.passed} passed, ${totals.failed} failed`);
} else {
  const file = resolve(options.totals);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${totals.passed} ${totals.failed} ${totals.skipped}\n`);
  await print(`\nthis run on Node ${process.versions.node}: ${totals.passed} ok, ${totals.failed} not ok`);
}
process.exitCode = totals.failed === 0 ? 0 : 1;
