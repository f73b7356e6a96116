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

/** A worktree of all 20,000 files in which ten are changed: eight edited, one new, one deleted. */
function makeWorktree(place, repository) {
  const copy = copyRepository(place, repository, 'snapshot');
  const worktree = join(place.root, 'rounds', 'worktree');
  git(place, ['worktree', 'add', '-q', '--detach', worktree, 'main'], { cwd: copy });
  const tracked = gitText(place, ['ls-files'], { cwd: worktree }).split('\n');
  for (let n = 1; n <= 8; n += 1) appendFileSync(join(worktree, tracked[n * 2000]), `// changed ${n}\n`);
  rmSync(join(worktree, tracked[100]));
  mkdirSync(join(worktree, 'packages', 'new'));
  writeFileSync(join(worktree, 'packages', 'new', 'file.ts'), 'export const added = true;\n');
  return { copy, worktree };
}

const BY_HAND = 'git status --porcelain > "$TMPDIR/status" && git add -A && git write-tree';

/** A snapshot (captured, committed, on the disk, under a ref) against status, add and write-tree in the same worktree.
 * Both start from the same index and write objects into an empty folder of their own. */
export async function measureSnapshot(bench) {
  const { place, program } = bench;
  const { copy, worktree } = makeWorktree(place, bench.repositories.sparse.repository);
  const index = join(copy, 'worktrees', 'worktree', 'index');
  // Entries as young as the index itself would be read again by everybody.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  git(place, ['update-index', '-q', '--refresh'], { cwd: worktree, accept: [0, 1] });
  cpSync(index, `${index}.bench`, { preserveTimestamps: true });
  const restore = () => cpSync(`${index}.bench`, index, { preserveTimestamps: true });
  const trees = new Set();
  const same = (tree) => {
    trees.add(tree.trim());
    if (trees.size > 1) throw new Error(`the snapshots differ: ${[...trees].join(' ')}`);
  };
  const plain = {
    prepare(name) {
      restore();
      return quarantine(place, join(copy, 'objects'), name);
    },
    run: (env) => must(start(place, 'sh', ['-c', BY_HAND], { cwd: worktree, env })),
    check: (_, { stdout }) => same(stdout.toString('utf8')),
  };
  const { openContext } = await program.load('compose.js');
  const { DEFAULT_SETTINGS } = await program.load('config/defaults.js');
  const silent = { step() {}, done() {} };
  const context = await openContext({
    cwd: worktree,
    env: place.env,
    narrator: silent,
    settings: DEFAULT_SETTINGS,
  });
  const [info] = (await context.refs.listWorktrees()).filter(({ path }) => path === worktree);
  const head = gitText(place, ['rev-parse', 'HEAD'], { cwd: worktree });
  const library = {
    async prepare(name) {
      restore();
      const objects = await context.openObjects({ quarantine: true });
      return { name, objects, scratch: join(place.root, 'rounds', `${name}.scratch`) };
    },
    async run({ name, objects, scratch }) {
      const { snapshot } = DEFAULT_SETTINGS;
      const { tree } = await context.workspaces.capture({
        worktree: info,
        base: head,
        maxFileBytes: snapshot.maxFileBytes,
        filters: snapshot.filters,
        exclude: snapshot.exclude,
        scratch,
        objectsDir: objects.objectsDir,
      });
      const commit = await objects.writeCommit({ tree, parents: [head], message: 'snapshot\n' });
      await objects.makeDurable([commit], [head]);
      await context.refs.updateRefs([{ ref: `refs/sennit/bench/${name}`, to: commit, from: null }], 'bench');
      return tree;
    },
    async check({ objects }, tree) {
      same(tree);
      await objects.close();
    },
  };
  const inProcess = await compareArms({ plain, ours: library }, bench.rounds);
  const command = {
    prepare: restore,
    run: () =>
      sennit(bench, worktree, [
        'land',
        worktree,
        '--into',
        'bench-target',
        '--no-gate',
        '-m',
        'x',
        '--dry-run',
        '--json',
      ]),
  };
  const whole = await compareArms({ plain, ours: command }, bench.rounds);
  context.close();
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
