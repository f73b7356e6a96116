// From collected sources, or from a hand-over that was resolved, to a landed commit. Each round merges onto the tip that
// the target has, validates, and tries to move the branch; a lost race begins the next round on the new tip. After a
// few lost rounds the round itself runs under the target's lock, so that a slow gate is not starved by quick ones.

import type { Conflict } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath } from '../model/ids.ts';
import type { GateSetting } from '../model/settings.ts';
import type { HeldLock } from '../ports/ledger.ts';
import { makeCandidate } from './candidate.ts';
import type { CulpritSearch } from './culprits.ts';
import { dropCulprits, searchCulprits } from './drop-culprits.ts';
import { openHandOver } from './hand-over.ts';
import type { LandData } from './land-data.ts';
import type { LandReport, LandSession } from './land-session.ts';
import { lockTarget } from './lock-target.ts';
import { mergeWaiting, startMerge } from './merge.ts';
import { mergeInputOf } from './merge-input.ts';
import { moveAndPush } from './move-and-push.ts';
import { shellWord } from './packet.ts';
import { gatesOf, runGates } from './validate.ts';

/** Rounds before giving up with `target_moved`. */
const MAX_ROUNDS = 12;
/** Rounds that run without holding the target's lock all along. */
const FREE_ROUNDS = 3;

export async function finishLanding(session: LandSession): Promise<LandReport> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let lock: HeldLock | undefined;
    try {
      if (round >= FREE_ROUNDS && !session.dry) lock = await lockTarget(session);
      if (round > 0) await followTip(session);
      const report = await oneRound(session, lock);
      if (report !== 'again') return report;
    } finally {
      lock?.release();
    }
  }
  throw new SennitError(
    'target_moved',
    `The target moved ${MAX_ROUNDS} times while this landing was being made.`,
    {
      hint: 'Nothing has been changed. Run the command again when fewer others are landing.',
    },
  );
}

/** Begins again on the commit that the target is at now, or that its remote is at where that is ahead. */
async function followTip(session: LandSession): Promise<void> {
  const { context, objects, data } = session;
  const [at] = await context.refs.resolveCommits([data.target]);
  if (at === undefined)
    throw new SennitError('target_unknown', `The branch ${data.target} is gone.`, {
      hint: 'Nothing has been changed.',
    });
  let tip = at;
  if (data.remoteTip !== null && !(await objects.isAncestor(data.remoteTip, at))) {
    if (!(await objects.isAncestor(at, data.remoteTip))) {
      throw new SennitError(
        'target_diverged',
        `${data.target} and its remote branch have both moved on from each other.`,
        {
          hint: `Nothing has been changed. Bring them together first (git pull), or land without --push. The merged work is kept as refs/sennit/candidates/${session.operation}.`,
        },
      );
    }
    tip = data.remoteTip;
  }
  if (tip !== data.tip) session.save('target.moved', { tip, targetAt: at, merge: null });
  else if (at !== data.targetAt) session.save('target.moved', { targetAt: at });
}

async function oneRound(session: LandSession, held: HeldLock | undefined): Promise<LandReport | 'again'> {
  const { context, objects } = session;
  const input = mergeInputOf(session);
  const start =
    session.data.merge ??
    (await startMerge(objects, session.data.tip, session.data.landed, session.data.sources));
  const merged = await mergeWaiting(input, start);
  session.addFindings(merged.findings);
  session.save('sources.merged', { merge: merged.state });
  context.journalPoint('merged');
  await session.anchored;
  session.addFindings(await session.outside);
  if (merged.state.open !== null) return handOver(session);

  const candidate = await makeCandidate(session, merged.state);
  if (candidate.outcome === 'empty') {
    session.save('landing.found_nothing', {}, { state: 'done' });
    return session.report('nothing_new');
  }
  if (session.dry) return session.report('dry_run', { tree: candidate.tree });

  const { options } = session.data;
  const gates = gatesOf(context, options.gates, options.noGate);
  if (gates.length === 0) {
    session.addFindings([
      {
        check: 'gate_none',
        severity: 'warning',
        message: options.noGate
          ? 'No gate was run: --no-gate.'
          : 'No gate was run: none is configured (gates.root) and none was given (--gate).',
      },
    ]);
  } else {
    const validation = await runGates(context, session.operation, candidate.commit, candidate.tree, gates);
    session.gates = [...validation.gates];
    session.addFindings(validation.findings);
    session.save(
      'gate.ended',
      {},
      { event: validation.gates.map(({ name, outcome, ms, known }) => ({ name, outcome, ms, known })) },
    );
    if (!validation.ok) return red(session, gates);
  }
  context.journalPoint('gate-passed');
  return moveAndPush(session, candidate, held);
}

async function handOver(session: LandSession): Promise<LandReport> {
  const { context, data } = session;
  const open = data.merge?.open;
  if (session.dry) return session.report('conflicts');
  if (open === null || open === undefined) throw new TypeError('nothing to hand over');
  if (!context.settings.ladder.includes('hand-over')) {
    session.save('landing.refused', {}, { state: 'failed', event: { conflicts: open.conflicts.length } });
    return session.report('conflicts');
  }
  const handover = await openHandOver(context, session.operation, data, open);
  session.addFindings(generatedFindings(session, open.conflicts, handover.worktree));
  session.save(
    'conflicts.handed_over',
    { handover },
    { state: 'pending', event: open.conflicts.map(({ path, kind }) => ({ path, kind })) },
  );
  context.journalPoint('handed-over');
  return session.report('conflicts', { next: session.waitingCommands(true) });
}

/** Generated files are nobody's to merge: what writes each anew, in the place where conflicts are resolved. */
function generatedFindings(
  { context }: LandSession,
  conflicts: readonly Conflict[],
  worktree: string,
): Finding[] {
  return conflicts
    .filter(({ kind }) => kind === 'generated')
    .map(({ path }) => {
      const command = context.patterns.regenerateHint(path);
      return {
        check: 'generated_conflict',
        severity: 'warning',
        message: `Several sources change ${displayPath(path)}, which a program writes: write it anew, or name its command under \`generated\` in sennit.yaml on the target.`,
        paths: [displayPath(path)],
        ...(command === undefined
          ? {}
          : {
              remedy: `(cd ${shellWord(worktree)} && ${command} && git add ${shellWord(displayPath(path))}) && sennit continue`,
            }),
      };
    });
}

async function red(session: LandSession, gates: readonly GateSetting[]): Promise<LandReport | 'again'> {
  const { data } = session;
  session.culprits = await searchCulprits(session, gates);
  session.addFindings(culpritFindings(session.culprits, data.target.replace(/^refs\/heads\//, '')));
  if (
    data.options.dropCulprits &&
    session.culprits.outcome === 'found' &&
    session.culprits.drop.length < data.sources.length
  ) {
    await dropCulprits(session, session.culprits.drop);
    return 'again';
  }
  session.save('landing.refused', {}, { state: 'failed', event: { culprits: session.culprits } });
  const failed = session.gates.find(({ outcome }) => outcome !== 'passed');
  const log = failed?.log ? [`less ${shellWord(failed.log)}`] : [];
  const again = session.culprits.outcome === 'found' ? [`${landCommand(data)} --drop-culprits`] : [];
  return session.report('gate_red', { commit: null, next: [...again, ...log] });
}

/** The command that makes this landing again. */
function landCommand({ sources, target, options }: LandData): string {
  const names = sources.map(({ kind, identity }) =>
    kind === 'branch' || kind === 'tag' ? identity.replace(/^refs\/(?:heads|tags|remotes)\//, '') : identity,
  );
  const words = ['sennit', 'land', ...names, '--into', target.replace(/^refs\/heads\//, '')];
  for (const gate of options.gates) words.push('--gate', gate);
  return words.map(shellWord).join(' ');
}

/** What the search for culprits says, as findings. */
function culpritFindings(search: CulpritSearch, target: string): Finding[] {
  if (search.outcome === 'target-red') {
    return [
      {
        check: 'target_red',
        severity: 'error',
        message: `The gate is red on ${target} itself, without any of these sources.`,
      },
    ];
  }
  if (search.outcome === 'gave-up') {
    return [
      {
        check: 'culprits_unknown',
        severity: 'warning',
        message: `The culprits were not found: ${search.reason}.`,
      },
    ];
  }
  return search.sets.map((set) => ({
    check: set.length === 1 ? 'source_red' : 'sources_red_together',
    severity: 'error',
    message:
      set.length === 1
        ? `${set[0]} is red by itself${search.restGreen ? `: red without ${set[0]} is green` : ''}.`
        : `red together: ${set.join(', ')}.`,
  }));
}
