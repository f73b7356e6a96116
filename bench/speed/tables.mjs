// Figures to Markdown, and what of them misses its limit.

/** Megabytes of memory that no landing or forecast of 1,000 sources may need. */
const MEMORY_LIMIT = 300;
/** How much a source may cost more among 1,000 than among 250: linear with room for the disk; quadratic would be 4. */
const GROWTH_LIMIT = 1.5;

const number = (value, digits = 0) => (value === null ? '' : value.toFixed(digits));
const table = (head, rows) => [
  `| ${head.join(' | ')} |`,
  `| ${head.map((_, i) => (i === 0 ? '---' : '---:')).join(' | ')} |`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];

/** Cost of one source among the most against that among the fewest. */
function growthOf(rows) {
  const [first, last] = [rows.at(0), rows.at(-1)];
  return first === undefined || last === undefined ? 0 : last.perSource / first.perSource;
}

const countsOf = ({ counts }, what) => counts.filter((row) => row.what === what);

const peaksOf = (sizes, what) => sizes.filter((row) => row.what === what).map(({ peak }) => peak);

/** How far memory rises from the smallest to the largest files of one kind, in megabytes. */
function riseOf(sizes, what) {
  const peaks = peaksOf(sizes, what);
  return peaks.length === 0 ? 0 : peaks.at(-1) - peaks[0];
}

export function renderTables(figures) {
  const { machine, rounds, ratios, counts, sizes } = figures;
  const lines = [
    `Machine: ${machine.cpu}, ${machine.cores} cores, ${number(machine.memory / 2 ** 30)} GB; ${machine.platform}; Node ${machine.node.slice(1)}; ${machine.git}; ${rounds} alternating rounds.`,
  ];
  if (ratios.length > 0) {
    lines.push(
      '',
      ...table(
        ['what', 'of', 'Sennit, ms', 'plain, ms', 'ratio', 'limit'],
        ratios.map((row) => [
          row.what,
          row.where === undefined ? row.shape : `${row.shape}, in ${row.where}`,
          number(row.ours),
          number(row.plain),
          `${row.limit !== null && row.ratio > row.limit ? '**missed** ' : ''}${number(row.ratio, 2)}`,
          row.limit === null ? '' : `≤ ${row.limit}`,
        ]),
      ),
    );
  }
  if (counts.length > 0) {
    lines.push(
      '',
      ...table(
        ['what', 'sources', 'ms', 'ms a source', 'peak memory, MB'],
        counts.map((row) => [
          row.what,
          row.count,
          number(row.ms),
          number(row.perSource, 2),
          number(row.peak),
        ]),
      ),
    );
  }
  if (sizes.length > 0) {
    lines.push(
      '',
      ...table(
        ['landing of', 'MB a file', 'outcome', 'ms', 'peak memory, MB'],
        sizes.map((row) => [row.what, row.megabytes, row.outcome, number(row.ms), number(row.peak)]),
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}

/** A sentence for each limit that is missed. */
export function rowsMissed(figures) {
  const missed = figures.ratios
    .filter(({ ratio, limit }) => limit !== null && ratio > limit)
    .map(({ what, shape, ratio, limit }) => `${what}, ${shape}: ${ratio.toFixed(2)} > ${limit}`);
  for (const what of ['forecast', 'land']) {
    const growth = growthOf(countsOf(figures, what));
    if (growth > GROWTH_LIMIT)
      missed.push(`${what}: a source costs ${growth.toFixed(2)} times as much among 1,000`);
  }
  for (const { what, count, peak } of figures.counts)
    if (peak !== null && peak >= MEMORY_LIMIT) missed.push(`${what} of ${count}: ${peak.toFixed(0)} MB`);
  for (const what of new Set(figures.sizes.map((row) => row.what))) {
    const rise = riseOf(figures.sizes, what);
    if (rise > 32 || peaksOf(figures.sizes, what).some((peak) => peak >= MEMORY_LIMIT))
      missed.push(
        `${what}: memory rises by ${rise.toFixed(0)} MB with the size of files, to at most ${Math.max(...peaksOf(figures.sizes, what)).toFixed(0)} MB`,
      );
  }
  return missed;
}

const BEGIN = '<!-- figures: written by `npm run bench -- --write-docs` -->';
const END = '<!-- end of figures -->';

/** The page with its figures replaced. Throws when the marks are missing. */
export function writeIntoDocs(page, tables) {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from === -1 || to < from)
    throw new Error('docs/performance.md lacks the marks between which figures go');
  return `${page.slice(0, from + BEGIN.length)}\n\n${tables}\n${page.slice(to)}`;
}
