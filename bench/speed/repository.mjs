// The repository that everything is measured on: 20,000 files in 200 folders, made by `git fast-import` from a fixed
// seed, so that it is the same on every machine. Branches start from one base and change ten files each; `main` has
// moved on by one commit since. What two branches share is a long file that both edit in regions far apart.
//
// Shapes of overlap:
//   sparse   one pair in twenty shares a file; which pairs is drawn at random, so nearly every branch meets one
//   dense    two long files are changed by every branch, so all pairs share them
//   chain    two branches in ten share a file with each other: the number of overlaps grows with the number of branches

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { git } from '../place.mjs';

const FILES = 20_000;
const FOLDERS = 200;
const CHANGED = 10;
/** Files that only shared edits use. They are long, so that every branch has a region of its own. */
const LONG_FILES = 64;
const REGION_LINES = 14;
const NAMES = [
  '',
  'src',
  'src/core',
  'src/core/io',
  'src/ui',
  'src/ui/forms',
  'test',
  'test/unit',
  'docs',
  'tools',
];
const WORDS =
  'account build cache data entry field graph handler index job kind list merge node order path query range state tree unit value window zone'.split(
    ' ',
  );

/** Numbers in [0, 1) from a seed, the same everywhere (mulberry32). */
export function randomFrom(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function pathOf(file) {
  const folder = file % FOLDERS;
  const within = NAMES[Math.floor(folder / 20) % NAMES.length];
  const name = `${WORDS[file % WORDS.length]}-${Math.floor(file / FOLDERS)}.ts`;
  return [
    'packages',
    `p${String(folder % 20).padStart(2, '0')}`,
    ...(within === '' ? [] : [within]),
    name,
  ].join('/');
}

const longPath = (n) => `packages/p${String(n % 20).padStart(2, '0')}/src/registry-${n}.ts`;

function line(random, at) {
  const word = () => WORDS[Math.floor(random() * WORDS.length)];
  return `${'  '.repeat(Math.floor(random() * 3))}const ${word()}${at} = ${word()}(${word()}, ${Math.floor(random() * 1000)});`;
}

/** Half of the files have fewer than 70 lines, one in a hundred more than 500. */
function contentOf(file) {
  const random = randomFrom(file + 1);
  const normal = Math.sqrt(-2 * Math.log(random() + 1e-9)) * Math.cos(2 * Math.PI * random());
  const count = Math.min(2000, Math.max(5, Math.round(70 * Math.exp(normal * 0.9))));
  return Array.from({ length: count }, (_, at) => line(random, at));
}

function longContent(n, regions) {
  const random = randomFrom(1_000_000 + n);
  return Array.from({ length: Math.max(600, regions * REGION_LINES) }, (_, at) => line(random, at));
}

function editedRegion(lines, region, name) {
  const at = region * REGION_LINES + 4;
  const next = [...lines];
  next.splice(at, 3, `// ${name} was here`, `export const ${name} = ${region};`, ...lines.slice(at, at + 2));
  return next;
}

function editedFile(lines, name, random) {
  const next = [...lines];
  for (let n = 0; n < 3; n += 1) {
    const at = Math.floor(random() * next.length);
    next.splice(at, 1, `const ${name}${n} = ${at};`, `use(${name}${n});`);
  }
  return next;
}

/** For each branch the long files that it shares, with its region: `[{ file, region }]`. */
function sharedFiles(shape, count, random) {
  const shares = Array.from({ length: count }, () => []);
  let next = 0;
  const join = (a, b) => {
    shares[a].push({ file: next, region: 1 });
    shares[b].push({ file: next, region: 30 });
    next += 1;
  };
  if (shape === 'dense')
    for (const [i, own] of shares.entries()) own.push({ file: 0, region: i }, { file: 1, region: i });
  if (shape === 'chain') for (let i = 0; i + 1 < count; i += 10) join(i, i + 1);
  if (shape === 'sparse') {
    const pairs = [];
    for (let a = 0; a < count; a += 1) for (let b = a + 1; b < count; b += 1) pairs.push([a, b]);
    const wanted = Math.round(pairs.length / 20);
    while (next < wanted) {
      const [[a, b]] = pairs.splice(Math.floor(random() * pairs.length), 1);
      if (shares[a].length < CHANGED - 2 && shares[b].length < CHANGED - 2) join(a, b);
    }
  }
  return shares;
}

/** Makes the repository and gives its git dir and the names of its branches (b1, b2, …). */
export async function makeRepository(place, { name, shape, branches, files = FILES }) {
  const repository = join(place.root, `${name}.git`);
  git(place, ['init', '-q', '--bare', repository]);
  const random = randomFrom(42);
  const shares = sharedFiles(shape, branches, random);
  const longs = Math.max(LONG_FILES, ...shares.flat().map(({ file }) => file + 1));
  const regions = shape === 'dense' ? branches : 40;
  const importer = spawn('git', ['fast-import', '--quiet', '--depth=10'], {
    cwd: repository,
    env: place.env,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const closed = once(importer, 'close');
  const write = async (chunk) => {
    if (!importer.stdin.write(chunk)) await once(importer.stdin, 'drain');
  };
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  let second = 1767225600;
  const commit = async (ref, message, parent, changes) => {
    second += 60;
    await write(
      `commit ${ref}\nmark :${second}\ncommitter Bench <bench@sennit.invalid> ${second} +0000\n${data(message)}`,
    );
    if (parent !== undefined) await write(`from :${parent}\n`);
    for (const [path, lines] of changes) {
      await write(
        lines === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(`${lines.join('\n')}\n`)}`,
      );
    }
    await write('\n');
    return second;
  };
  function* all() {
    for (let file = 0; file < files - longs; file += 1) yield [pathOf(file), contentOf(file)];
    for (let n = 0; n < longs; n += 1) yield [longPath(n), longContent(n, regions)];
  }
  const base = await commit('refs/heads/main', 'base', undefined, all());
  // Each file is changed by one branch at most, but for the long ones.
  const pool = Array.from({ length: files - longs }, (_, i) => i);
  const draw = () => {
    const at = Math.floor(random() * pool.length);
    const picked = pool[at];
    pool[at] = pool[pool.length - 1];
    pool.pop();
    return picked;
  };
  const own = (label, count) => {
    const changes = [
      [`packages/p${String(Math.floor(random() * 20)).padStart(2, '0')}/src/${label}.ts`, contentOf(draw())],
    ];
    while (changes.length < count) {
      const file = draw();
      changes.push([pathOf(file), editedFile(contentOf(file), label, random)]);
    }
    return changes;
  };
  const names = [];
  for (const [i, shared] of shares.entries()) {
    const label = `b${i + 1}`;
    const changes = shared.map(({ file, region }) => [
      longPath(file),
      editedRegion(longContent(file, regions), region, label),
    ]);
    await commit(`refs/heads/${label}`, `work of ${label}`, base, [
      ...changes,
      ...own(label, CHANGED - changes.length),
    ]);
    names.push(label);
  }
  await commit('refs/heads/main', 'main moved on', base, own('main', CHANGED));
  importer.stdin.end('done\n');
  const [code] = await closed;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  git(place, ['pack-refs', '--all'], { cwd: repository });
  return { repository, names };
}
