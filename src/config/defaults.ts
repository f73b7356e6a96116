import { displayPath, type GitPath } from '../model/ids.ts';
import type { GeneratedRule, Settings } from '../model/settings.ts';

const MINUTE_MS = 60_000;
const MEGABYTE = 1_000_000;

/** Names of lock files with the usual command that writes each. The command is told as a hint and never run unless a
 * configuration names it. */
const LOCK_FILES: Readonly<Record<string, string>> = {
  'package-lock.json': 'npm install --package-lock-only --ignore-scripts',
  'npm-shrinkwrap.json': 'npm install --package-lock-only --ignore-scripts',
  'yarn.lock': 'yarn install --ignore-scripts',
  'pnpm-lock.yaml': 'pnpm install --lockfile-only',
  'bun.lock': 'bun install --lockfile-only',
  'bun.lockb': 'bun install --lockfile-only',
  'deno.lock': 'deno install',
  'Cargo.lock': 'cargo update --workspace',
  'poetry.lock': 'poetry lock',
  'uv.lock': 'uv lock',
  'Pipfile.lock': 'pipenv lock',
  'pdm.lock': 'pdm lock --update-reuse',
  'pixi.lock': 'pixi lock',
  'Gemfile.lock': 'bundle lock',
  'composer.lock': 'composer update --lock --no-install --no-scripts',
  'go.sum': 'go mod tidy',
  'go.work.sum': 'go work sync',
  'gradle.lockfile': 'gradle dependencies --write-locks',
  'packages.lock.json': 'dotnet restore --force-evaluate',
  'mix.lock': 'mix deps.get',
  'rebar.lock': 'rebar3 lock',
  'flake.lock': 'nix flake lock',
  'pubspec.lock': 'dart pub get',
  'Podfile.lock': 'pod install',
  'Package.resolved': 'swift package resolve',
  'MODULE.bazel.lock': 'bazel mod deps --lockfile_mode=update',
  'Chart.lock': 'helm dependency update',
  'buf.lock': 'buf dep update',
  'stack.yaml.lock': 'stack build --dry-run',
  'shard.lock': 'shards lock',
  '.terraform.lock.hcl': 'terraform providers lock',
};

/** Files that a build or a code generator writes. */
const GENERATED_FILES: readonly string[] = [
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '*.min.js',
  '*.min.css',
  '*.min.js.map',
  '*.min.css.map',
  '**/__generated__/**',
  '*_pb2.py',
  '*_pb2.pyi',
  '*_pb2_grpc.py',
  '*.pb.go',
  '*.pb.gw.go',
  '*.pb.cc',
  '*.pb.h',
  '*_pb.js',
  '*_pb.d.ts',
  '*.g.dart',
  '*.freezed.dart',
];

/** Generated and lock files of the common ecosystems. Snapshots of tests are not among them: people review those. */
const DEFAULT_GENERATED: readonly GeneratedRule[] = [
  { paths: Object.keys(LOCK_FILES), by: null },
  { paths: GENERATED_FILES, by: null },
];

/** What holds where neither `sennit.yaml` nor a flag says otherwise. */
export const DEFAULT_SETTINGS: Settings = {
  target: null,
  gates: { root: [], timeoutMs: 30 * MINUTE_MS, outputBytes: 10 * MEGABYTE, maxRuns: 24 },
  ladder: ['text', 'patch', 'hand-over'],
  generated: DEFAULT_GENERATED,
  snapshot: { maxFileBytes: 100 * MEGABYTE, filters: [], exclude: [] },
  guards: { symlinks: 'refuse', gitlinks: 'refuse', markers: [] },
  message: null,
  push: { remote: null, retries: 5 },
  verify: false,
};

/** The usual command that writes the lock file at `path`, for people to read; undefined where none is known. */
export function findRegenerateHint(path: GitPath): string | undefined {
  const name = displayPath(path).split('/').at(-1) ?? '';
  return Object.hasOwn(LOCK_FILES, name) ? LOCK_FILES[name] : undefined;
}
