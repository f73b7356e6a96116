// The last step of a landing, under the target's lock: look once more that nothing is in the way, push where asked,
// move the branch, bring its checkouts forward, write it down. A push comes before the local branch moves, so that a
// rejected push has changed nothing; what was merged stays under its candidate ref whatever happens.

import { SennitError } from '../model/errors.ts';
import { displayPath, type Oid } from '../model/ids.ts';
import type { HeldLock } from '../ports/ledger.ts';
import { OWN_REFS } from './context.ts';
import { closeScratch } from './hand-over.ts';
import type { LandReport, LandSession } from './land-session.ts';
import { findLateWork } from './late-work.ts';
import { lockTarget } from './lock-target.ts';
import { applyMove, type Move, type MovePlan, planMove } from './move-target.ts';

interface Made {
  readonly commit: Oid;
  readonly tree: Oid;
}

/** Lands a validated candidate; `again` when the target or its remote moved. */
export async function moveAndPush(
  session: LandSession,
  candidate: Made,
  held: HeldLock | undefined,
): Promise<LandReport | 'again'> {
  const lock = held ?? (await lockTarget(session));
  try {
    const { data } = session;
    if ((await session.context.refs.readFingerprint()) !== data.fingerprint) return parkForConfig(session);
    const branch = data.options.branch;
    const move: Move =
      branch === null
        ? { ref: data.target, from: data.targetAt, to: candidate.commit }
        : { ref: `refs/heads/${branch}`, from: null, to: candidate.commit };
    const plan = await planMove(session.context, move);
    if (plan.outcome === 'moved') {
      if (branch === null) return 'again';
      throw new SennitError('target_exists', `The branch ${branch} exists by now.`, {
        hint: 'Choose another name. Nothing has been changed.',
      });
    }
    if (plan.outcome === 'blocked') return park(session, plan);
    return await apply(session, candidate, move, plan);
  } finally {
    if (held === undefined) lock.release();
  }
}

/** Something of the user's is in the way in a checkout of the target: the landing waits, complete and validated. */
function park(session: LandSession, plan: MovePlan & { outcome: 'blocked' }): LandReport {
  session.save(
    'landing.parked',
    {},
    { state: 'pending', event: { checkout: plan.checkout, paths: plan.paths.map(displayPath) } },
  );
  return session.report('parked', {
    commit: session.data.candidate,
    blocked: `${plan.message}. The merged and validated commit is kept as ${OWN_REFS.candidate(session.operation)}; nothing has been changed.`,
    findings: [
      ...session.data.findings,
      {
        check: 'target_dirty',
        severity: 'error',
        message: plan.message,
        paths: plan.paths.map(displayPath),
        remedy: `Commit or move that work away in ${plan.checkout}, then run: sennit continue`,
      },
    ],
    next: session.waitingCommands(false),
  });
}

/** The configuration of the repository is not what it was when the landing began: somebody should look at it first. */
function parkForConfig(session: LandSession): LandReport {
  const { context, data, operation } = session;
  const message = `The configuration of the repository (${context.place.commonDir}/config) was changed while this landing was made`;
  session.save('landing.parked', {}, { state: 'pending', event: { why: 'configuration changed' } });
  return session.report('parked', {
    commit: data.candidate,
    blocked: `${message}, and not by Sennit. The merged and validated commit is kept as ${OWN_REFS.candidate(operation)}; nothing has been changed.`,
    findings: [
      ...data.findings,
      {
        check: 'primary_changed',
        severity: 'error',
        message: `${message}.`,
        remedy: 'Look at it with `git config --list --show-origin`; then run: sennit continue',
      },
    ],
    next: ['git config --list --show-origin', ...session.waitingCommands(false)],
  });
}

class PushRejected extends Error {}

async function apply(
  session: LandSession,
  candidate: Made,
  move: Move,
  plan: MovePlan & { outcome: 'clear' },
): Promise<LandReport | 'again'> {
  const { context, operation, data } = session;
  const { options } = data;
  const remote = options.push
    ? await context.remotes.findRemote(move.ref, context.settings.push.remote ?? undefined)
    : undefined;
  const remoteBranch = options.branch ?? remote?.branch ?? '';
  try {
    const outcome = await applyMove(context, move, plan, {
      reason: `sennit: land ${operation}`,
      also: [
        { ref: OWN_REFS.landing(operation), to: candidate.commit, from: null },
        { ref: OWN_REFS.candidate(operation), to: null, from: candidate.commit },
      ],
      journal: async () => {
        session.save('landing.prepared', { moving: [move] }, { durable: true });
        context.journalPoint('landing-prepared');
        if (remote === undefined) return;
        context.narrator.step(`pushing to ${remote.name}/${remoteBranch}`);
        const pushed = await context.remotes.push(remote.name, candidate.commit, remoteBranch, {
          hooksFolder:
            options.verify || context.settings.verify ? await context.refs.readHooksFolder() : null,
        });
        if (pushed.outcome === 'rejected') throw new PushRejected(pushed.message);
        session.save(
          'landing.pushed',
          { pushed: true },
          { durable: true, event: { remote: remote.name, branch: remoteBranch } },
        );
        context.journalPoint('pushed');
      },
    });
    if (outcome.outcome === 'moved') {
      if (!session.data.pushed) {
        session.save('landing.raced', { moving: [] });
        return 'again';
      }
      throw new SennitError(
        'target_diverged',
        `The landing is pushed to ${remote?.name}/${remoteBranch}, but ${move.ref} moved locally meanwhile.`,
        {
          hint: `Nothing is lost. Bring both together with: git pull ${remote?.name} ${remoteBranch}`,
        },
      );
    }
  } catch (error) {
    if (!(error instanceof PushRejected)) throw error;
    return retryPush(session, remote?.name ?? '', remoteBranch, error.message);
  }
  session.save(
    'landing.recorded',
    { landing: candidate.commit, moving: [] },
    { state: 'done', event: { commit: candidate.commit, tree: candidate.tree } },
  );
  context.journalPoint('landing-recorded');
  if (session.data.handover !== null) {
    await closeScratch(context, session.data.handover);
    session.save('scratch.removed', { handover: null });
  }
  context.journalPoint('cleaned-up');
  // Without a gate or a person in between there was no time for late work.
  if (session.gates.some(({ known }) => !known) || session.continued)
    session.addFindings(await findLateWork(session));
  const pushed = remote === undefined ? null : `${remote.name}/${remoteBranch}`;
  if (options.pullRequest) await openPullRequest(session, candidate.commit, remoteBranch);
  const next = pushed === null ? ['sennit undo', 'sennit gc'] : ['sennit gc'];
  return session.report('landed', { commit: candidate.commit, tree: candidate.tree, pushed, next });
}

/** The remote has moved: fetch it, so that the next round merges and validates on top of it. */
async function retryPush(
  session: LandSession,
  remote: string,
  branch: string,
  why: string,
): Promise<'again'> {
  const { context, operation, data } = session;
  session.save('push.rejected', { moving: [] }, { event: { why } });
  session.pushes += 1;
  if (data.options.branch !== null || session.pushes > context.settings.push.retries) {
    throw new SennitError(
      'push_rejected',
      `${remote}/${branch} rejected the push ${session.pushes} time${session.pushes === 1 ? '' : 's'}: ${why}.`,
      {
        hint: `Nothing has moved locally. The merged and validated commit is kept as ${OWN_REFS.candidate(operation)}.`,
        next: ['sennit log'],
      },
    );
  }
  const tip = await context.remotes.fetch(remote, branch, OWN_REFS.fetched(operation));
  session.save('remote.fetched', { remoteTip: tip });
  return 'again';
}

async function openPullRequest(session: LandSession, commit: Oid, head: string): Promise<void> {
  const { context, objects, data } = session;
  const { message } = await objects.readCommit(commit);
  const [title = '', ...body] = message.trim().split('\n');
  session.pullRequest = await context.remotes.openPullRequest({
    head,
    base: data.target.replace(/^refs\/heads\//, ''),
    title,
    body: body.join('\n').trim(),
  });
  session.save('pull_request.opened', {}, { event: session.pullRequest });
}
