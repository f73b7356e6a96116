// What `sennit.yaml` may hold. This one description validates the file and is the published JSON Schema (`sennit
// schema config`), so the two cannot disagree. Keys are as in the file; `Settings` of the model is what the program
// works with. Nothing here fills in defaults: what is absent stays absent, so that it can be told where a value is from.

import { z } from 'zod';
import { isBranchName } from '../model/branch-name.ts';
import { findUnknownFields, MESSAGE_FIELDS } from '../model/message-template.ts';
import { RUNG_NAMES } from '../model/settings.ts';
import { DEFAULT_SETTINGS } from './defaults.ts';
import { DURATION_PATTERN, parseDuration, renderDuration } from './durations.ts';
import { findPatternProblem } from './path-patterns.ts';
import { renderSize, SIZE_PATTERN } from './sizes.ts';

/** Longest time limit of one gate in milliseconds: a day. */
const MAX_TIMEOUT_MS = 24 * 3_600_000;

const command = z
  .string()
  .regex(/\S/, 'a command must not be empty')
  .refine((text) => !text.includes('\0'), 'a command cannot hold a NUL character');

const pattern = z
  .string()
  .min(1, 'a pattern must not be empty')
  .superRefine((text, context) => {
    const problem = text === '' ? undefined : findPatternProblem(text);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `the pattern "${text}" ${problem}` });
  });

const patterns = z.array(pattern);

const size = z.union(
  [
    z.number().int('a number of bytes is whole').positive('a size is more than 0'),
    z
      .string()
      .regex(SIZE_PATTERN, 'a size is a number with its unit, such as 500KB, 10MB or 1GiB')
      .refine((text) => Number.parseFloat(text) > 0, 'a size is more than 0'),
  ],
  { error: 'a size is a number of bytes, or a number with its unit, such as 500KB, 10MB or 1GiB' },
);

const timeout = z
  .union(
    [
      z.number().positive('a time limit is more than 0'),
      z
        .string()
        .regex(DURATION_PATTERN, 'a time limit is a number of minutes, or has its unit, such as 90s or 1.5h'),
    ],
    { error: 'a time limit is a number of minutes, or has its unit, such as 90s or 1.5h' },
  )
  .superRefine((duration, context) => {
    const ms = parseDuration(duration) ?? 0;
    if (ms > MAX_TIMEOUT_MS) context.addIssue({ code: 'custom', message: 'a time limit is at most a day' });
    else if (ms === 0 && typeof duration === 'string')
      context.addIssue({ code: 'custom', message: 'a time limit is more than 0' });
  });

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'a name is made of letters, digits, dots, dashes and underscores');

const branch = z.string().refine(isBranchName, 'this is not the short name of a branch, such as main');

const ladder = z
  .array(z.enum(RUNG_NAMES))
  .superRefine((rungs, context) => {
    const problem = (message: string, at: number): void => {
      context.addIssue({ code: 'custom', message, path: rungs.length === 0 ? [] : [at] });
    };
    if (rungs[0] !== 'text') problem('the first rung must be text', 0);
    rungs.forEach((rung, at) => {
      if (rung === 'structure')
        problem('the rung structure is not available in this version; leave it out', at);
      if (rungs.indexOf(rung) !== at) problem(`the rung ${rung} is named twice`, at);
      if (rung === 'hand-over' && at !== rungs.length - 1) problem('hand-over must be the last rung', at);
    });
  })
  .meta({ minItems: 1, uniqueItems: true, prefixItems: [{ const: 'text' }] });

const guard = z.enum(['refuse', 'allow']);

/** The content of `sennit.yaml`, keys as in the file. */
export const settingsFileSchema = z
  .strictObject({
    target: branch.optional().describe('Branch to land on when --into is not given.'),
    gates: z
      .strictObject({
        root: z
          .union(
            [
              command,
              z
                .record(name, command)
                .refine(
                  (gates) => Object.keys(gates).length > 0,
                  'name at least one command, or leave root out',
                ),
            ],
            { error: 'root is one command, or several with a name each' },
          )
          .optional()
          .describe(
            'Shell command that the merged tree must pass, or several, each under a name, run in order.',
          ),
        timeout: timeout.optional().meta({
          description: 'Time after which a gate is ended: minutes, or a number with its unit, such as 90s.',
          default: renderDuration(DEFAULT_SETTINGS.gates.timeoutMs),
        }),
        output: size.optional().meta({
          description: 'How much of the output of a gate is kept.',
          default: renderSize(DEFAULT_SETTINGS.gates.outputBytes),
        }),
        max_runs: z
          .number()
          .int('this is a whole number')
          .min(0, 'this is 0 or more')
          .max(10_000, 'this is at most 10000')
          .optional()
          .meta({
            description:
              'How many gate runs the search for the sources that make a gate red may cost; 0 for no search.',
            default: DEFAULT_SETTINGS.gates.maxRuns,
          }),
      })
      .optional()
      .describe('Checks that the merged tree must pass before it lands.'),
    ladder: ladder.optional().meta({
      description: 'Rungs of the merge, in the order in which they are tried: text first, hand-over last.',
      default: DEFAULT_SETTINGS.ladder,
    }),
    generated: z
      .array(
        z.strictObject({
          paths: patterns
            .min(1, 'name at least one pattern')
            .describe(
              'Patterns as in .gitignore. A pattern after ! takes paths out, of the built-in list too.',
            ),
          by: command.optional().describe('Shell command that writes these files from the merged tree.'),
        }),
      )
      .optional()
      .describe(
        'Files that a program writes, looked up before the built-in list of lock and generated files.',
      ),
    snapshot: z
      .strictObject({
        max_file_size: size.optional().meta({
          description: 'A larger file makes a snapshot incomplete, and the landing stops.',
          default: renderSize(DEFAULT_SETTINGS.snapshot.maxFileBytes),
        }),
        filters: z
          .array(name)
          .optional()
          .meta({ description: 'Content filters (filter.<name>) that may run, besides lfs.', default: [] }),
        exclude: patterns
          .optional()
          .meta({ description: 'Patterns of paths that a snapshot leaves out.', default: [] }),
      })
      .optional()
      .describe('How the work of a workspace is taken.'),
    guards: z
      .strictObject({
        symlinks: guard.optional().meta({
          description: 'Whether a symbolic link that points out of the repository may land.',
          default: DEFAULT_SETTINGS.guards.symlinks,
        }),
        gitlinks: guard.optional().meta({
          description: 'Whether a new submodule or nested repository may land.',
          default: DEFAULT_SETTINGS.guards.gitlinks,
        }),
        markers: patterns
          .optional()
          .meta({ description: 'Patterns of paths in which conflict markers are meant.', default: [] }),
      })
      .optional()
      .describe('What may not land unless it is allowed here.'),
    message: z
      .string()
      .regex(/\S/, 'a message must not be empty')
      .superRefine((template, context) => {
        for (const field of findUnknownFields(template)) {
          const known = Object.keys(MESSAGE_FIELDS).map((each) => `{${each}}`);
          context.addIssue({
            code: 'custom',
            message: `{${field}} means nothing here; known are ${known.join(', ')}; a brace that is meant is doubled`,
          });
        }
      })
      .optional()
      .describe(
        `Template of the commit message. ${Object.entries(MESSAGE_FIELDS)
          .map(([field, what]) => `{${field}}: ${what}`)
          .join('; ')}.`,
      ),
    push: z
      .strictObject({
        remote: name
          .optional()
          .describe('Remote to push to; the one that the target branch tracks unless given.'),
        retries: z
          .number()
          .int('this is a whole number')
          .min(0, 'this is 0 or more')
          .max(100, 'this is at most 100')
          .optional()
          .meta({
            description: 'How often a push that lost a race is merged again and tried again.',
            default: DEFAULT_SETTINGS.push.retries,
          }),
      })
      .optional()
      .describe('How --push reaches the remote.'),
    verify: z.boolean().optional().meta({
      description: "Whether the repository's hooks run at a landing.",
      default: DEFAULT_SETTINGS.verify,
    }),
  })
  .meta({ title: 'sennit.yaml', description: 'Settings of Sennit, read from the tip of the target branch.' });

/** What a valid `sennit.yaml` holds. */
export type SettingsFileContent = z.infer<typeof settingsFileSchema>;

/** The names known in the section of the file at `path`; undefined where there is no section. */
export function findKnownKeys(path: readonly PropertyKey[]): string[] | undefined {
  let at: unknown = settingsFileSchema;
  for (const step of path) {
    at = withoutOptional(at);
    if (at instanceof z.ZodArray) at = at.element;
    else if (at instanceof z.ZodObject) at = (at.shape as Record<PropertyKey, unknown>)[step];
    else return undefined;
  }
  at = withoutOptional(at);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : undefined;
}

function withoutOptional(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}
