// What is measured against plain git in the same run. A measure gives rows `{ what, shape, ours, plain, ratio, limit }`,
// times in milliseconds.

import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, gitText, start } from '../place.mjs';
import { copyRepository, landArguments, landByHand, must, pairsOf, quarantine, sennit } from './arms.mjs';
import { compareArms } from './compare.mjs';

/** Branches that a forecast or a landing takes: 990 pairs. */
export const SOURCES = 45;

const SHAPES = { sparse: 'one pair in twenty overlaps', dense: 'all pairs overlap' };

/** Forecast against one bare `merge-tree --stdin` over the same pairs; both throw their objects away. */
export async function measureForecast(bench, shape) {
  const { place } = bench;
  const { repository, names } = bench.repositories[shape];
  const sources = names.slice(0, SOURCES);
  const input = pairsOf(sources)
    .map(([a, b]) => `${a} ${b}\n`)
    .join('');
  const result = await compareArms(
    {
      plain: {
        prepare: (name) => quarantine(place, join(repository, 'objects'), name),
        run: (env) =>
          must(
            start(place, 'git', ['merge-tree', '--write-tree', '--stdin'], { cwd: repository, env, input }),
          ),
        check: (env) => rmSync(env.GIT_OBJECT_DIRECTORY, { recursive: true }),
      },
      ours: {
        run: () => sennit(bench, repository, ['forecast', ...sources, '--into', 'main', '--json']),
        check(_, { stdout }) {
          const { collisions } = JSON.parse(stdout.toString('utf8')).forecast;
          if (!Array.isArray(collisions) || collisions.length > 0)
            throw new Error('pairs that merge clean were forecast to collide');
        },
      },
    },
    bench.rounds,
  );
  const limit = { sparse: 0.3, dense: 1.3 }[shape];
  return [
    {
      what: `forecast of ${SOURCES} sources (${(SOURCES * (SOURCES - 1)) / 2} pairs)`,
      shape: SHAPES[shape],
      ...result,
      limit,
    },
  ];
}

/** Landing without a gate against the bare loop; both must come to the same tree. */
export async function measureLanding(bench, shape) {
  const { place } = bench;
  const { repository, names } = bench.repositories[shape];
  const sources = names.slice(0, SOURCES);
  const trees = new Set();
  const prepare = (name) => copyRepository(place, repository, name);
  const check = (copy) => {
    trees.add(gitText(place, ['rev-parse', 'refs/heads/bench-target^{tree}'], { cwd: copy }));
    if (trees.size > 1) throw new Error('the loop and Sennit landed different trees');
    rmSync(copy, { recursive: true });
  };
  const result = await compareArms(
    {
      plain: { prepare, check, run: (copy) => landByHand(place, copy, sources) },
      ours: { prepare, check, run: (copy) => sennit(bench, copy, landArguments(sources)) },
    },
    bench.rounds,
  );
  const limit = { sparse: 1.0, dense: 1.5 }[shape];
  return [{ what: `landing of ${SOURCES} clean sources`, shape: SHAPES[shape], ...result, limit }];
}

/** A worktree of all 20,000 files, and a way to change ten of them: eight edited, one new, one deleted. */
function makeWorktree(place, repository) {
  const copy = copyRepository(place, repository, 'snapshot');
  const worktree = join(place.root, 'rounds', 'worktree');
  git(place, ['worktree', 'add', '-q', '--detach', worktree, 'main'], { cwd: copy });
  const tracked = gitText(place, ['ls-files'], { cwd: worktree }).split('\n');
  rmSync(join(worktree, tracked[100]));
  mkdirSync(join(worktree, 'packages', 'new'));
  const change = (name) => {
    for (let n = 1; n <= 8; n += 1)
      appendFileSync(join(worktree, tracked[n * 2000]), `// changed for ${name}\n`);
    writeFileSync(join(worktree, 'packages', 'new', 'file.ts'), `export const added = '${name}';\n`);
  };
  return { copy, worktree, change };
}

/** What the product's flows work with, for one directory. */
async function openContext({ place, program }, cwd) {
  const [{ openContext }, { DEFAULT_SETTINGS }] = await Promise.all([
    program.load('compose-context.js'),
    program.load('config/defaults.js'),
  ]);
  const narrator = { step() {}, done() {} };
  return openContext({ cwd, env: place.env, narrator, settings: DEFAULT_SETTINGS });
}

const BY_HAND = 'git status --porcelain > "$TMPDIR/status" && git add -A && git write-tree';

/** A snapshot (captured, committed, on the disk, under a ref) against status, add and write-tree in the same worktree.
 * Both start from the same index. Every round changes the files anew, so that nobody finds objects of an earlier one. */
export async function measureSnapshot(bench) {
  const { place } = bench;
  const { copy, worktree, change } = makeWorktree(place, bench.repositories.sparse.repository);
  const index = join(copy, 'worktrees', 'worktree', 'index');
  // Entries as young as the index itself would be read again by everybody.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  git(place, ['update-index', '-q', '--refresh'], { cwd: worktree, accept: [0, 1] });
  cpSync(index, `${index}.bench`, { preserveTimestamps: true });
  const prepare = (name) => {
    change(name);
    cpSync(`${index}.bench`, index, { preserveTimestamps: true });
    return name;
  };
  const byHand = () => must(start(place, 'sh', ['-c', BY_HAND], { cwd: worktree }));
  const context = await openContext(bench, worktree);
  const objects = await context.openObjects({ quarantine: false });
  const [info] = (await context.refs.listWorktrees()).filter(({ path }) => path === worktree);
  const head = gitText(place, ['rev-parse', 'HEAD'], { cwd: worktree });
  const { maxFileBytes, filters, exclude } = context.settings.snapshot;
  let tree;
  const snapshot = async (name) => {
    const scratch = join(place.root, 'rounds', `${name}.scratch`);
    ({ tree } = await context.workspaces.capture({
      worktree: info,
      base: head,
      maxFileBytes,
      filters,
      exclude,
      scratch,
    }));
    const commit = await objects.writeCommit({ tree, parents: [head], message: 'snapshot\n' });
    await objects.makeDurable([commit], [head]);
    await context.refs.updateRefs([{ ref: `refs/sennit/bench/${name}`, to: commit, from: null }], 'bench');
  };
  const plain = { prepare, run: byHand };
  const inProcess = await compareArms({ plain, ours: { prepare, run: snapshot } }, bench.rounds);
  const landing = ['land', worktree, '--into', 'bench-target', '--no-gate', '-m', 'x', '--dry-run', '--json'];
  const command = { prepare, run: () => sennit(bench, worktree, landing) };
  const whole = await compareArms({ plain, ours: command }, bench.rounds);

  const name = prepare('last');
  await snapshot(name);
  const { stdout } = await byHand();
  if (stdout.toString('utf8').trim() !== tree) throw new Error('the snapshot is not what git adds by hand');
  await objects.close();
  await context.close();
  const shape = '10 changed files of 20,000';
  return [
    { what: 'snapshot of a worktree, in one process', shape, ...inProcess, limit: 1.5 },
    { what: 'whole command `sennit land --dry-run` of that worktree', shape, ...whole, limit: null },
  ];
}

/** Start-up against an empty Node program. */
export async function measureStart(bench) {
  const { place } = bench;
  const { repository } = bench.repositories.sparse;
  const copy = copyRepository(place, repository, 'start');
  const plain = { run: () => must(start(place, process.execPath, ['-e', '0'], { cwd: copy })) };
  const rows = [];
  for (const args of [['--version'], ['status']]) {
    const ours = { run: () => sennit(bench, copy, args) };
    const result = await compareArms({ plain, ours }, bench.rounds * 3);
    rows.push({ what: `\`sennit ${args.join(' ')}\``, shape: 'against `node -e 0`', ...result, limit: 3 });
  }
  return rows;
}
