// The commands that front ends offer: each loads its flow, joins it with adapters (compose-context.ts) and answers.

import {
  type Base,
  type ComposeOptions,
  joinContext,
  joinLight,
  type OpenContext,
  openBase,
} from './compose-context.ts';
import type { LoadedSettings, SettingsFlags } from './config/load-config.ts';
import type { LandReport, LandWord } from './flow/land-session.ts';
import type { Recovered } from './flow/recover.ts';
import { type Answer, newAnswer, RESULT_EXITS } from './model/answer.ts';
import type { CommandOutcome, Commands } from './model/commands.ts';
import { SennitError } from './model/errors.ts';
import type { Settings } from './model/settings.ts';
import type { WorktreeInfo } from './model/source.ts';
import type { Objects } from './ports/git.ts';

export { type ComposeOptions, type OpenContext, openContext } from './compose-context.ts';

/** Flows by the command that needs them: a command loads no more than its own, so that each starts fast. */
const flows = {
  archive: () => import('./flow/archive.ts'),
  cleanUp: () => import('./flow/clean-up.ts'),
  cleanUpAnswer: () => import('./flow/clean-up-answer.ts'),
  config: () => import('./config/load-config.ts'),
  defaults: () => import('./config/defaults.ts'),
  doctor: () => import('./flow/doctor.ts'),
  explain: () => import('./config/explain.ts'),
  target: () => import('./flow/target.ts'),
  forecast: () => import('./flow/forecast.ts'),
  land: () => import('./flow/land.ts'),
  landAnswer: () => import('./flow/land-answer.ts'),
  log: () => import('./flow/log.ts'),
  pending: () => import('./flow/pending-landing.ts'),
  recover: () => import('./flow/recover.ts'),
  status: () => import('./flow/status.ts'),
  undo: () => import('./flow/undo.ts'),
};

async function recoverFirst(context: OpenContext): Promise<readonly Recovered[]> {
  const running = context.readLedger()?.listOperations({ states: ['running'] }) ?? [];
  return running.length === 0 ? [] : (await flows.recover()).recover(context);
}

/** The settings at a target's tip: `sennit.yaml` is read from the branch, never from a workspace. */
async function readSettings({ refs }: Base, ref: string, flags: SettingsFlags = {}): Promise<LoadedSettings> {
  const [{ loadSettings }, text, [commit]] = await Promise.all([
    flows.config(),
    refs.readFileAt(ref, 'sennit.yaml'),
    refs.resolveCommits([ref]),
  ]);
  const label = `sennit.yaml at ${ref.replace(/^refs\/heads\//, '')}@${commit?.slice(0, 8)}`;
  return loadSettings(text === null ? null : { text, label }, flags);
}

/** The settings of the branch that is checked out here; the defaults where none is. */
async function settingsHere(base: Base): Promise<Settings> {
  const head = await base.refs.readHead();
  const [commit] = head === null ? [undefined] : await base.refs.resolveCommits([head]);
  if (head === null || commit === undefined) return (await flows.defaults()).DEFAULT_SETTINGS;
  return (await readSettings(base, head)).settings;
}

interface TargetContext {
  readonly context: OpenContext;
  readonly worktrees: readonly WorktreeInfo[];
  /** Full ref name. */
  readonly into: string;
  readonly loaded: LoadedSettings;
}

/** The context for a command about one target: the one asked for, else the settings', else what is checked out here. */
async function openTarget(
  options: ComposeOptions,
  asked: string | undefined,
  flags: SettingsFlags = {},
): Promise<TargetContext> {
  const [base, { targetRef }] = await Promise.all([openBase(options), flows.target()]);
  const worktrees = await base.refs.listWorktrees();
  const load = async (name: string | null): Promise<{ into: string; loaded: LoadedSettings }> => {
    const ref = await targetRef(base.refs, base.place, worktrees, name);
    const [into, loaded] = await Promise.all([base.refs.followRef(ref), readSettings(base, ref, flags)]);
    return { into, loaded };
  };
  let { into, loaded } = await load(asked ?? null);
  if (asked === undefined && loaded.settings.target !== null)
    ({ into, loaded } = await load(loaded.settings.target));
  return { context: await joinContext(base, loaded.settings), worktrees, into, loaded };
}

/** The context for a command about a landing that waits: with the settings of its target. */
async function openPending(options: ComposeOptions, id: string | undefined): Promise<OpenContext> {
  const base = await openBase(options);
  const context = await joinContext(base, (await flows.defaults()).DEFAULT_SETTINGS);
  await recoverFirst(context);
  const { target } = (await flows.pending()).requirePending(context, id ?? null);
  if (target === null) return context;
  const { settings } = await readSettings(base, target);
  context.close();
  return await joinContext(base, settings);
}

async function withObjects<T>(context: OpenContext, work: (objects: Objects) => Promise<T>): Promise<T> {
  const objects = await context.openObjects({ quarantine: false });
  try {
    return await work(objects);
  } finally {
    await objects.close();
  }
}

async function outcomeOf(answer: Answer, recovered: readonly Recovered[] = []): Promise<CommandOutcome> {
  const told = recovered.length === 0 ? [] : (await flows.recover()).recoveryFindings(recovered);
  return {
    answer: { ...answer, findings: [...told, ...answer.findings] },
    exitCode: RESULT_EXITS[answer.result],
  };
}

/** What commands about a landing that waits work with. */
type Pending = Awaited<ReturnType<typeof flows.pending>> &
  Pick<Awaited<ReturnType<typeof flows.landAnswer>>, 'landAnswer'>;
type Archive = Awaited<ReturnType<typeof flows.archive>> & Awaited<ReturnType<typeof flows.cleanUpAnswer>>;

/** The commands that front ends offer. */
export function createCommands(options: ComposeOptions): Commands {
  /** A command about a landing that waits. */
  const onPending = async (
    id: string | undefined,
    work: (context: OpenContext, objects: Objects, on: Pending) => Promise<Answer>,
  ): Promise<CommandOutcome> => {
    const [pending, { landAnswer }] = await Promise.all([flows.pending(), flows.landAnswer()]);
    const context = await openPending(options, id);
    try {
      return await outcomeOf(
        await withObjects(context, (objects) => work(context, objects, { ...pending, landAnswer })),
      );
    } finally {
      context.close();
    }
  };
  /** A command about the repository as a whole, with the settings of the branch that is checked out here. */
  const onRepository = async (
    changes: boolean,
    work: (context: OpenContext) => Promise<Answer> | Answer,
  ): Promise<CommandOutcome> => {
    const base = await openBase(options);
    const context = await joinContext(base, await settingsHere(base));
    try {
      const recovered = changes ? await recoverFirst(context) : [];
      return outcomeOf(await work(context), recovered);
    } finally {
      context.close();
    }
  };
  const onArchive = (
    changes: boolean,
    work: (context: OpenContext, objects: Objects, on: Archive) => Promise<Answer>,
  ): Promise<CommandOutcome> =>
    onRepository(changes, async (context) => {
      const [archive, answers] = await Promise.all([flows.archive(), flows.cleanUpAnswer()]);
      return withObjects(context, (objects) => work(context, objects, { ...archive, ...answers }));
    });
  return {
    async land(input) {
      const [{ land }, { landAnswer }] = await Promise.all([flows.land(), flows.landAnswer()]);
      const { context, worktrees, into } = await openTarget(options, input.into);
      try {
        const recovered = input.dryRun ? [] : await recoverFirst(context);
        const report = await land(context, {
          names: input.sources,
          into,
          worktrees,
          dryRun: input.dryRun,
          options: {
            gates: input.gates,
            noGate: input.noGate,
            dropCulprits: input.dropCulprits,
            message: input.message ?? null,
            branch: input.branch ?? null,
            push: input.push || input.pr,
            pullRequest: input.pr,
            verify: input.verify ?? context.settings.verify,
          },
        });
        return outcomeOf(landAnswer('land', landWord(report), report), recovered);
      } finally {
        context.close();
      }
    },
    async forecast(input) {
      const [{ forecast }, { forecastAnswer }] = await Promise.all([flows.forecast(), flows.landAnswer()]);
      const { context, worktrees, into } = await openTarget(options, input.into);
      try {
        const request = { names: input.sources, into, worktrees };
        const report = await forecast(context, request).catch((error: unknown) => {
          if (!(error instanceof SennitError) || error.code !== 'disk_full') throw error;
          context.useDisk();
          return forecast(context, request);
        });
        return await outcomeOf(forecastAnswer(report));
      } finally {
        context.close();
      }
    },
    async conflicts({ operation }) {
      try {
        return await onPending(operation, async (context, objects, on) =>
          on.landAnswer('conflicts', 'listed', on.showPending(context, objects, operation ?? null)),
        );
      } catch (error) {
        if (error instanceof SennitError && error.code === 'operation_none')
          return outcomeOf(newAnswer('conflicts', 'none', { next: ['sennit log'] }));
        throw error;
      }
    },
    resolve: ({ operation, path, take, file, dryRun }) =>
      onPending(operation, async (context, objects, on) => {
        const request = { operation: operation ?? null, path, take, file: file ?? null, dryRun };
        const report = await on.resolveConflict(context, objects, request);
        return on.landAnswer('resolve', dryRun ? 'dry_run' : 'resolved', report);
      }),
    continue: ({ operation, dryRun }) =>
      onPending(operation, async (context, objects, on) => {
        const id = operation ?? null;
        if (dryRun)
          return on.landAnswer('continue', 'dry_run', await on.previewContinue(context, objects, id));
        const report = await on.continueLanding(context, objects, id);
        return on.landAnswer('continue', landWord(report), report);
      }),
    abort: ({ operation, dryRun }) =>
      onPending(operation, async (context, objects, on) => {
        const id = operation ?? null;
        if (dryRun) return on.landAnswer('abort', 'dry_run', on.showPending(context, objects, id));
        return on.landAnswer('abort', 'aborted', await on.abortLanding(context, objects, id));
      }),
    async status() {
      const [{ readStatus }, { statusAnswer }] = await Promise.all([flows.status(), flows.cleanUpAnswer()]);
      const context = joinLight(await openBase(options));
      try {
        return await outcomeOf(statusAnswer(await readStatus(context)));
      } finally {
        context.close();
      }
    },
    gc: ({ workspaces, apply, archive }) =>
      onRepository(apply, async (context) => {
        const [{ cleanUp }, { cleanUpAnswer }] = await Promise.all([flows.cleanUp(), flows.cleanUpAnswer()]);
        return cleanUpAnswer(await cleanUp(context, { names: workspaces, apply, archive }));
      }),
    archiveList: () =>
      onArchive(false, async (context, objects, on) =>
        on.archiveListAnswer(await on.listArchives(context, objects)),
      ),
    archiveShow: ({ name }) =>
      onArchive(false, async (context, objects, on) =>
        on.archiveShowAnswer(await on.showArchive(context, objects, name)),
      ),
    archiveRestore: ({ name, path, branch, dryRun }) =>
      onArchive(!dryRun, async (context, objects, on) => {
        const request = { name, path: path ?? null, branch: branch ?? null, dryRun };
        return on.restoreAnswer(await on.restoreArchive(context, objects, request));
      }),
    undo: ({ operation, dryRun }) =>
      onRepository(!dryRun, async (context) => {
        const [{ undo }, { undoAnswer }] = await Promise.all([flows.undo(), flows.cleanUpAnswer()]);
        const request = { operation: operation ?? null, dryRun };
        return withObjects(context, async (objects) => undoAnswer(await undo(context, objects, request)));
      }),
    log: ({ limit }) =>
      onRepository(false, async (context) => {
        const [{ readLog }, { logAnswer }] = await Promise.all([flows.log(), flows.cleanUpAnswer()]);
        return logAnswer(readLog(context, { limit }));
      }),
    async doctor({ fix, dryRun }) {
      const [{ examine }, { doctorAnswer }] = await Promise.all([flows.doctor(), flows.cleanUpAnswer()]);
      // With the default settings: those of the branch may be what is wrong.
      const context = await joinContext(await openBase(options), (await flows.defaults()).DEFAULT_SETTINGS);
      try {
        return await outcomeOf(doctorAnswer(await examine(context, { fix, dryRun })));
      } finally {
        context.close();
      }
    },
    async configExplain({ into }) {
      const { explainSettings } = await flows.explain();
      const { context, loaded } = await openTarget(options, into, { into });
      context.close();
      const settings = explainSettings(loaded).map(({ key, value, from, where }) => ({
        key,
        value,
        from,
        where,
      }));
      return outcomeOf(newAnswer('config explain', 'explained', { settings }));
    },
  };
}

/** The word of an answer for what became of a landing; `aborted` cannot come from landing. */
function landWord(report: LandReport): Exclude<LandWord, 'aborted'> {
  if (report.result === 'aborted') throw new TypeError('a landing was aborted while it ran');
  return report.result;
}
