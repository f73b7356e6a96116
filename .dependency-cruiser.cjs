/**
 * The import directions of the source. Each layer names the only layers it may import besides itself;
 * everything that a layer does not name is forbidden, so a new folder is out of bounds until listed here.
 */
const ADAPTERS = ['git', 'workspaces', 'agents', 'process', 'ledger', 'gates'];

const LAYERS = {
  model: [],
  merge: ['model'],
  ports: ['model'],
  metrics: ['model'],
  report: ['model', 'metrics'],
  config: ['model', 'ports'],
  flow: ['model', 'merge', 'ports', 'metrics'],
  ...Object.fromEntries(ADAPTERS.map((adapter) => [adapter, ['model', 'ports', 'process']])),
};

const TESTS = '[.]test[.]ts$';
const folders = (names) => `^src/(${names.join('|')})/`;
const COMPOSE = '^src/compose(-context)?[.]ts$';
const INDEX = '^src/index[.]ts$';
const PUBLIC_MERGE = '^src/merge/index[.]ts$';

const LISTED = [folders([...Object.keys(LAYERS), 'cli', 'mcp']), COMPOSE, INDEX];

const directions = Object.entries(LAYERS).map(([layer, allowed]) => ({
  name: `${layer}-imports`,
  severity: 'error',
  comment:
    allowed.length === 0
      ? `${layer} imports nothing else of the source`
      : `${layer} imports only ${allowed.join(', ')}`,
  from: { path: folders([layer]), pathNot: TESTS },
  to: { path: '^src/', pathNot: folders([layer, ...allowed]) },
}));

module.exports = {
  forbidden: [
    ...directions,
    {
      name: 'compose-imports',
      severity: 'error',
      comment: 'compose.ts joins flows with adapters and knows no front end',
      from: { path: COMPOSE },
      to: { path: ['^src/(cli|mcp)/', INDEX] },
    },
    {
      name: 'cli-imports',
      severity: 'error',
      comment: 'cli imports compose, config, report, model and the public surface, and starts the mcp server',
      from: { path: '^src/cli/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: [folders(['cli', 'mcp', 'config', 'report', 'model']), COMPOSE, INDEX, PUBLIC_MERGE],
      },
    },
    {
      name: 'mcp-imports',
      severity: 'error',
      comment: 'mcp imports compose, config, report, model and the public surface',
      from: { path: '^src/mcp/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: [folders(['mcp', 'config', 'report', 'model']), COMPOSE, INDEX, PUBLIC_MERGE],
      },
    },
    {
      name: 'index-imports',
      severity: 'error',
      comment: 'the library does not load a front end',
      from: { path: INDEX },
      to: { path: '^src/(cli|mcp)/' },
    },
    {
      name: 'unlisted-layer',
      severity: 'error',
      comment: 'every source file belongs to a layer that is listed here',
      from: { path: '^src/', pathNot: LISTED },
      to: {},
    },
    {
      name: 'unlisted-layer-imported',
      severity: 'error',
      comment: 'every source file belongs to a layer that is listed here',
      from: {},
      to: { path: '^src/', pathNot: LISTED },
    },
    {
      name: 'merge-is-pure',
      severity: 'error',
      comment: 'merge computes on values: no file, process, clock or network of Node',
      from: { path: '^src/merge/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'model-built-ins',
      severity: 'error',
      comment: 'of Node, model uses only node:crypto and node:buffer',
      from: { path: '^src/model/', pathNot: TESTS },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer)$' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'a source file that imports nothing and that nothing imports is dead',
      from: { orphan: true, path: '^src/', pathNot: [TESTS, '^src/cli/main[.]ts$'] },
      to: {},
    },
    {
      name: 'no-tests-in-source',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: ['^(test|bench|demo)/', TESTS] },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      comment: 'an installed package has no dev dependencies',
      from: { path: '^src/', pathNot: TESTS },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm'],
        pathNot: '^node_modules/@types/',
      },
    },
    {
      name: 'no-unlisted-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
