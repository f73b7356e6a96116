// What the measures share: running the command, copies of a repository for one round, and the bare ways of plain git.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { git, start } from '../place.mjs';

/** Waits for a started program and throws unless it ended with one of the codes. */
export async function must(running, codes = [0]) {
  const result = await running;
  if (codes.includes(result.code)) return result;
  throw new Error(
    `ended with ${result.code}: ${result.stderr.slice(-1000)}${result.stdout.toString('utf8').slice(0, 1000)}`,
  );
}

/** Runs the built `sennit` to its end. */
export function sennit({ place, program }, cwd, args, { codes, env } = {}) {
  return must(start(place, process.execPath, [program.main, ...args], { cwd, env }), codes);
}

const PEAK = fileURLToPath(new URL('./peak-memory.mjs', import.meta.url));

/** The same, and the peak memory of its process in megabytes (git's processes not counted). */
export async function sennitWithPeak({ place, program }, cwd, args, { codes } = {}) {
  const file = join(place.root, 'peak');
  rmSync(file, { force: true });
  const result = await must(
    start(place, process.execPath, ['--import', PEAK, program.main, ...args], {
      cwd,
      env: { SENNIT_BENCH_PEAK: file },
    }),
    codes,
  );
  return { ...result, peak: Number(readFileSync(file, 'utf8')) / 1024 };
}

/** A copy of a repository for one round: its own refs and its own new objects; only the packs that were there before
 * are shared, by hard links. */
export function copyRepository(place, repository, name) {
  const copy = join(place.root, 'rounds', `${name}.git`);
  rmSync(copy, { recursive: true, force: true });
  git(place, ['clone', '-q', '--mirror', '--local', repository, copy]);
  git(place, ['update-ref', 'refs/heads/bench-target', 'refs/heads/main'], { cwd: copy });
  return copy;
}

/** The variables that send new objects into an empty folder of one round. */
export function quarantine(place, objects, name) {
  const folder = join(place.root, 'rounds', `${name}.objects`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
}

/** Each source merged onto the accumulated commit, then one commit on the target and the branch moved. */
const BARE_LOOP = `
old=$(git rev-parse refs/heads/bench-target)
acc=$old
for source in "$@"; do
  tree=$(git merge-tree --write-tree "$acc" "$source") || exit 1
  acc=$(git commit-tree "$tree" -p "$acc" -p "$source" -m merge)
done
landing=$(git commit-tree "$tree" -p "$old" -m x)
git update-ref refs/heads/bench-target "$landing" "$old"
`;

export function landByHand(place, copy, sources) {
  return must(start(place, 'sh', ['-c', BARE_LOOP, 'sh', ...sources], { cwd: copy }));
}

export const landArguments = (sources) => [
  'land',
  ...sources,
  '--into',
  'bench-target',
  '--no-gate',
  '-m',
  'x',
  '--json',
];

export function pairsOf(names) {
  return names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
}
