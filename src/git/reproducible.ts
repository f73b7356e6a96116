// Names of files and folders that programs make again from what is in the repository. Only names that are well known
// count: `.env`, databases, keys and notes are nobody's to throw away.

import type { GitPath } from '../model/ids.ts';

/** Folders that hold nothing that a person or an agent wrote, wherever they are. */
const NEVER_SOURCE = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  '__pycache__',
  '.venv',
  'venv',
  '.tox',
  '.nox',
  '.eggs',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.hypothesis',
  '.ipynb_checkpoints',
  '.gradle',
  '.terraform',
  '.parcel-cache',
  '.turbo',
  '.nx',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.astro',
  '.angular',
  '.vite',
  '.docusaurus',
  '.sass-cache',
  '.nyc_output',
  '.eslintcache',
  '.stylelintcache',
  '.dart_tool',
  '.bundle',
  '.build',
  '.zig-cache',
  'zig-cache',
  'zig-out',
  '.stack-work',
  'dist-newstyle',
  'elm-stuff',
  '.DS_Store',
]);

/** Usual names of build results; some projects keep sources under them. */
const USUALLY_BUILT = new Set([
  'target',
  'dist',
  'build',
  'out',
  'coverage',
  'htmlcov',
  '.coverage',
  '.cache',
  'obj',
  'DerivedData',
  'cmake-build-debug',
  'cmake-build-release',
  '_build',
  'deps',
  '.output',
  'storybook-static',
  'playwright-report',
  'test-results',
  'Thumbs.db',
]);

const BUILT_FILE = /\.(?:pyc|pyo|o|obj|class|tsbuildinfo|swp|swo)$|\.egg-info$|^npm-debug\.log/;

function nameOf(path: string): string {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/** True when any folder of the path, or the path itself, is one that never holds sources. */
export function isNeverSource(path: GitPath): boolean {
  return path.split('/').some((part) => NEVER_SOURCE.has(part));
}

/** True for an ignored file or folder (with a slash at its end) that a program will make again. */
export function isReproducible(path: GitPath): boolean {
  return isNeverSource(path) || USUALLY_BUILT.has(nameOf(path)) || BUILT_FILE.test(nameOf(path));
}

/** Files whose presence marks a folder as made by a program: the Cache Directory Tagging standard, and Python's. */
export const CACHE_MARKS = ['CACHEDIR.TAG', 'pyvenv.cfg'] as const;
