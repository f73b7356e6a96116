import { RUN_VARIABLE } from './platform.ts';

/** Variables that bind git to one repository or to one call. A command that runs while a hook or another git
 * command is above it would otherwise work on that repository instead of the one that it stands in. */
const REPOSITORY_VARIABLES: ReadonlySet<string> = new Set([
  // `git rev-parse --local-env-vars` of the versions from 2.39 on
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
  // not in that list, and of the same kind
  'GIT_ATTR_SOURCE',
  'GIT_GLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_INDEX_VERSION',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NAMESPACE',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_QUARANTINE_PATH',
  'GIT_REFLOG_ACTION',
]);

/** Settings given by the environment: `git -c` of a git above. Not among them are GIT_CONFIG_GLOBAL, _SYSTEM and
 * _NOSYSTEM, which say whose configuration is read, not which repository. */
const SETTING = /^GIT_CONFIG_(KEY|VALUE)_\d+$/;

/** The environment of a command of the user's: the caller's `env` without what binds git to a repository, then
 * `extra`, then the marker of this run after those of the runs around it. */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>>,
  marker: string,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || REPOSITORY_VARIABLES.has(name) || SETTING.test(name)) continue;
    out[name] = value;
  }
  Object.assign(out, extra);
  const around = env[RUN_VARIABLE];
  out[RUN_VARIABLE] = around === undefined || around === '' ? marker : `${around}:${marker}`;
  return out;
}
