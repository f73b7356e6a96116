// A small repository whose branches do to one another what merges stumble over: edits of shared files, renames with
// and without edits, moved and deleted folders, files where others have folders, changed modes, links, equal and
// different additions, branches on different bases, on top of one another and with the target merged in.

import { join } from 'node:path';
import { git } from '../place.mjs';
import { randomFrom } from './repository.mjs';

const FOLDERS = ['a', 'a/b', 'a/b/c', 'd', 'd/e', 'f', 'g', 'g/h', 'i', 'j/k', 'l', 'm/n/o'];
const PER_FOLDER = 8;

function linesOf(random, count) {
  return Array.from({ length: count }, (_, at) => `line ${at} ${Math.floor(random() * 1e9)}`);
}

/** The files of one commit: path to `{ mode, lines }`. */
class Tree {
  constructor(files) {
    this.files = new Map(files);
  }

  copy() {
    return new Tree(this.files);
  }

  /** Puts a file where nothing is; whatever is in the way goes. */
  put(path, file) {
    for (const other of [...this.files.keys()])
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) this.files.delete(other);
    this.files.set(path, file);
  }
}

const OPERATIONS = {
  edit(tree, { pick, random, label }) {
    const path = pick([...tree.files.keys()]);
    const { mode, lines } = tree.files.get(path);
    const at = Math.floor(random() * lines.length);
    tree.files.set(path, { mode, lines: lines.toSpliced(at, random() < 0.5 ? 1 : 0, `${label} ${at}`) });
  },
  editEnds(tree, { pick, random, label }) {
    const path = pick([...tree.files.keys()]);
    const { mode, lines } = tree.files.get(path);
    tree.files.set(path, {
      mode,
      lines: random() < 0.5 ? [`first ${label}`, ...lines] : [...lines, `last ${label}`],
    });
  },
  sameEdit(tree, { pick }) {
    const path = pick([...tree.files.keys()]);
    const { mode, lines } = tree.files.get(path);
    tree.files.set(path, { mode, lines: lines.with(0, 'the same for all') });
  },
  rename(tree, { pick, random, label, names }) {
    const path = pick([...tree.files.keys()]);
    const file = tree.files.get(path);
    tree.files.delete(path);
    const lines = random() < 0.5 ? file.lines : file.lines.toSpliced(3, 1, `moved by ${label}`);
    tree.put(`${pick(FOLDERS)}/${pick(names)}`, { ...file, lines });
  },
  moveFolder(tree, { pick, label, random }) {
    const from = pick(FOLDERS);
    const to = random() < 0.5 ? `moved-${label}` : pick(FOLDERS);
    if (from === to || to.startsWith(`${from}/`)) return;
    for (const [path, file] of [...tree.files]) {
      if (!path.startsWith(`${from}/`)) continue;
      tree.files.delete(path);
      tree.put(to + path.slice(from.length), file);
    }
  },
  remove(tree, { pick }) {
    if (tree.files.size > 20) tree.files.delete(pick([...tree.files.keys()]));
  },
  removeFolder(tree, { pick }) {
    const folder = pick(FOLDERS);
    const inside = [...tree.files.keys()].filter((path) => path.startsWith(`${folder}/`));
    if (tree.files.size - inside.length > 20) for (const path of inside) tree.files.delete(path);
  },
  add(tree, { pick, random, names }) {
    const lines = random() < 0.4 ? ['added by several'] : linesOf(random, 5);
    tree.put(`${pick(FOLDERS)}/${pick(names)}`, { mode: '100644', lines });
  },
  fileForFolder(tree, { pick, random }) {
    tree.put(pick(FOLDERS), { mode: '100644', lines: linesOf(random, 4) });
  },
  folderForFile(tree, { pick, random }) {
    tree.put(`${pick([...tree.files.keys()])}/inner.txt`, { mode: '100644', lines: linesOf(random, 4) });
  },
  mode(tree, { pick }) {
    const path = pick([...tree.files.keys()]);
    const file = tree.files.get(path);
    if (file.mode !== '120000')
      tree.files.set(path, { ...file, mode: file.mode === '100644' ? '100755' : '100644' });
  },
  link(tree, { pick }) {
    tree.files.set(pick([...tree.files.keys()]), { mode: '120000', lines: ['readme'] });
  },
};

/** Makes the repository; gives its git dir and the names of its branches. */
export function makeWildRepository(place, { name, seed, branches }) {
  const repository = join(place.root, `${name}.git`);
  git(place, ['init', '-q', '--bare', repository]);
  const random = randomFrom(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const names = Array.from({ length: PER_FOLDER + 3 }, (_, n) => `file-${n}.txt`);
  const parts = [];
  let mark = 0;
  const commit = (ref, tree, parents, label) => {
    mark += 1;
    const when = 1767225600 + mark * 60;
    parts.push(
      `commit ${ref}\nmark :${mark}\ncommitter Bench <bench@sennit.invalid> ${when} +0000\ndata ${label.length}\n${label}\n`,
    );
    for (const [i, parent] of parents.entries()) parts.push(`${i === 0 ? 'from' : 'merge'} :${parent}\n`);
    parts.push('deleteall\n');
    for (const [path, { mode, lines }] of tree.files) {
      const text = mode === '120000' ? lines.join('') : `${lines.join('\n')}\n`;
      parts.push(`M ${mode} inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
    }
    return mark;
  };
  const base = new Tree([['readme', { mode: '100644', lines: ['readme'] }]]);
  for (const folder of FOLDERS) {
    for (const file of names.slice(0, PER_FOLDER))
      base.files.set(`${folder}/${file}`, {
        mode: '100644',
        lines: linesOf(random, 12 + Math.floor(random() * 20)),
      });
  }
  const operations = Object.keys(OPERATIONS);
  const work = (tree, label, count) => {
    for (let n = 0; n < count; n += 1) {
      const kind = random() < 0.35 ? 'edit' : pick(operations);
      OPERATIONS[kind](tree, { pick, random, label, names });
    }
    return tree;
  };
  // The target moves on twice, so that there are three bases to start from.
  const trunk = [{ tree: base, mark: commit('refs/heads/main', base, [], 'base') }];
  for (let n = 1; n <= 2; n += 1) {
    const tree = work(trunk.at(-1).tree.copy(), `main${n}`, 2);
    trunk.push({ tree, mark: commit('refs/heads/main', tree, [trunk.at(-1).mark], `main ${n}`) });
  }
  const tips = [];
  for (let n = 1; n <= branches; n += 1) {
    const label = `b${n}`;
    const from = random() < 0.1 && tips.length > 0 ? pick(tips) : random() < 0.75 ? trunk[0] : pick(trunk);
    const tree = work(from.tree.copy(), label, 1 + Math.floor(random() * 4));
    let at = commit(`refs/heads/${label}`, tree, [from.mark], label);
    // A branch that took the target in without taking over anything of it: its history has two ways out.
    if (random() < 0.05)
      at = commit(`refs/heads/${label}`, tree, [at, trunk[1].mark], `${label} merges main`);
    tips.push({ tree, mark: at });
  }
  git(place, ['fast-import', '--quiet', '--force'], { cwd: repository, input: parts.join('') });
  return { repository, names: tips.map((_, i) => `b${i + 1}`) };
}
