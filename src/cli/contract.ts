// The published shape of answers and of the conflicts packet, for validation and as JSON Schema. It describes what
// model/answer.ts declares and the packet that a hand-over writes; the compiler and a golden test hold them together.
// Readers must expect fields that they do not know: contract version 1 may gain some.

import { z } from 'zod';
import {
  type Answer,
  COMMAND_RESULTS,
  CONTRACT_VERSION,
  type CommandName,
  FAILURE_WORDS,
  RESULT_EXITS,
  type ResultWord,
} from '../model/answer.ts';
import type { ConflictKind } from '../model/conflict.ts';
import { ERROR_CODES, type ErrorCode } from '../model/errors.ts';

const CONFLICT_KINDS = [
  'content',
  'add-add',
  'modify-delete',
  'rename-delete',
  'rename-rename',
  'rename-add',
  'file-directory',
  'mode',
  'symlink',
  'submodule',
  'binary',
  'lfs-pointer',
  'generated',
  'driver',
  'doubtful',
  'other',
] as const satisfies readonly ConflictKind[];

const texts = z.array(z.string());
const oid = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const ms = z.number().min(0).describe('Milliseconds.');
const kind = z.enum(CONFLICT_KINDS);
const tried = z
  .array(z.object({ rung: z.string(), reason: z.string() }))
  .describe('What each rung tried, and why it declined.');

const source = z.object({
  name: z.string(),
  kind: z.string(),
  state: z.enum(['merged', 'conflicts', 'waiting', 'nothing_new', 'dropped']),
  snapshot: oid.nullable().describe('The commit that holds all of its work.'),
});

const path = z.object({ path: z.string(), rung: z.string(), reason: z.string(), ms, source: z.string() });

const conflict = z.object({
  path: z.string(),
  kind,
  sources: texts.describe('Sources that meet here, the one being merged last.'),
  symbols: texts.describe('Declarations in which the sides meet, where known.'),
  message: z.string(),
  related: texts.describe('The other paths of the same conflict.'),
  tried,
});

const gate = z.object({
  name: z.string(),
  command: z.string(),
  outcome: z.enum(['passed', 'failed', 'timed-out', 'not-started']),
  known: z.boolean().describe('The verdict was known for this tree and command; nothing was run.'),
  ms,
  code: z.int().nullable(),
  tail: z.string().describe('The end of what it wrote.'),
  log: z.string().nullable().describe('File with what it wrote.'),
});

const finding = z.object({
  check: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  paths: texts.optional(),
  source: z.string().optional(),
  remedy: z.string().optional().describe('What to run about it.'),
  fixed: z.boolean().optional(),
});

const error = z.object({
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  hint: z.string().min(1),
  retryable: z.boolean(),
  paths: texts,
});

const culprits = z.object({
  outcome: z.enum(['found', 'target_red', 'gave_up']),
  sets: z.array(texts).describe('Smallest red sets: one name is red by itself, several are red together.'),
  drop: texts.describe('Sources to leave out so that the rest is green.'),
  rest_green: z.boolean(),
  runs: z.int().describe('Gate runs that the search cost.'),
  reason: z.string().nullable(),
});

const forecast = z.object({
  order: texts.describe('The order of merging with the fewest conflicts.'),
  pairs: z.int(),
  merged: z.int().describe('Pairs that git had to be asked about.'),
  collisions: z.array(
    z.object({
      sources: z.tuple([z.string(), z.string()]),
      paths: z.array(z.object({ path: z.string(), kind: z.string(), symbols: texts })),
    }),
  ),
});

const workspace = z.object({
  path: z.string(),
  branch: z.string().nullable(),
  action: z.enum(['keep', 'remove', 'removed']),
  reason: z.string().describe('The proof that nothing is lost, or why it is kept.'),
  ignored: texts.describe('Ignored files and folders that nothing can make again.'),
});

const archive = z.object({
  id: z.string(),
  ref: z.string(),
  commit: oid,
  created: z.string(),
  subject: z.string(),
  paths: texts.optional(),
});

const operation = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.string(),
  target: z.string().nullable(),
  created: z.string(),
  updated: z.string(),
  commit: oid.nullable(),
  sources: texts,
});

const setting = z.object({
  key: z.string(),
  value: z.unknown(),
  from: z.enum(['default', 'file', 'flag']),
  where: z.string(),
});

const body = z.object({
  contract_version: z.literal(CONTRACT_VERSION),
  command: z.enum(Object.keys(COMMAND_RESULTS) as [CommandName, ...CommandName[]]),
  ok: z.boolean().describe('True exactly when the exit code is 0; `error` is null exactly then.'),
  result: z.enum(Object.keys(RESULT_EXITS) as [ResultWord, ...ResultWord[]]),
  commit: oid.nullable(),
  tree: oid.nullable(),
  target: z.string().nullable().describe('Short name of the branch that it is about.'),
  operation: z.string().nullable(),
  sources: z.array(source),
  paths: z.array(path).describe('How each path came about in which more than one side had to be joined.'),
  conflicts: z.array(conflict),
  gates: z.array(gate),
  findings: z.array(finding),
  next: texts.describe('Commands to run next, quoted for a POSIX shell.'),
  error: error.nullable(),
  note: z.string().optional(),
  handover: z.object({ worktree: z.string(), packet: z.string() }).nullable().optional(),
  culprits: culprits.nullable().optional(),
  pushed: z.string().nullable().optional(),
  pull_request: z.object({ url: z.string(), created: z.boolean() }).nullable().optional(),
  forecast: forecast.optional(),
  operations: z.array(operation).optional(),
  workspaces: z.array(workspace).optional(),
  archives: z.array(archive).optional(),
  refs: z.array(z.object({ ref: z.string(), from: oid.nullable(), to: oid.nullable() })).optional(),
  settings: z.array(setting).optional(),
  schema: z.unknown().optional(),
  text: z.string().optional(),
});

/** The words that `result` can be for a command. */
function wordsOf(command: CommandName): ResultWord[] {
  return [...new Set<ResultWord>([...COMMAND_RESULTS[command], ...FAILURE_WORDS])];
}

/** The answer of every command. Paths are display paths: quoted as git quotes them where they are not plain UTF-8. */
export const answerSchema: z.ZodType<Answer> = body
  .superRefine(({ command, result }, context) => {
    if (wordsOf(command).includes(result)) return;
    context.addIssue({ code: 'custom', path: ['result'], message: `${result} is no result of ${command}` });
  })
  .meta({
    title: 'Answer of sennit',
    description: 'What every command prints with --json.',
    anyOf: (Object.keys(COMMAND_RESULTS) as CommandName[]).map((command) => ({
      type: 'object',
      properties: { command: { const: command }, result: { enum: wordsOf(command) } },
    })),
  });

const version = z.object({ mode: z.enum(['100644', '100755', '120000', '160000']), oid }).nullable();

/** `conflicts.json` of a hand-over. */
export const packetSchema = z
  .object({
    contract_version: z.literal(CONTRACT_VERSION),
    operation: z.string(),
    target: z.string(),
    source: z.string().describe('The source whose merge stopped.'),
    worktree: z.string().describe('Where the conflicts are resolved.'),
    merged: texts.describe('Sources that are merged already.'),
    waiting: texts.describe('Sources that come after this one.'),
    conflicts: z.array(
      z.object({
        path: z.string(),
        kind,
        message: z.string(),
        related: texts,
        sources: texts,
        versions: z
          .object({ base: version, target: version, change: version })
          .describe('The three versions; null where a side does not have the path.'),
        tried,
        commands: texts.describe('Commands that settle it.'),
      }),
    ),
    next: texts,
  })
  .meta({ title: 'conflicts.json of sennit', description: 'Conflicts that were handed over.' });
