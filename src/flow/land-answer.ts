import {
  type Answer,
  type AnswerConflict,
  type AnswerCulprits,
  type AnswerFinding,
  type AnswerForecast,
  type AnswerGate,
  answerError,
  type CommandName,
  newAnswer,
  type ResultOf,
} from '../model/answer.ts';
import type { Conflict } from '../model/conflict.ts';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath } from '../model/ids.ts';
import type { CulpritSearch } from './culprits.ts';
import type { ForecastReport } from './forecast.ts';
import type { LandReport } from './land-session.ts';
import type { GateResult } from './validate.ts';

/** What stopped a landing, as the error of its answer; undefined when nothing did. */
function stopOf(report: LandReport): SennitError | undefined {
  switch (report.result) {
    case 'conflicts': {
      const paths = report.conflicts.map(({ path }) => displayPath(path));
      return new SennitError(
        'conflict_pending',
        `${paths.length} conflict${paths.length === 1 ? '' : 's'} wait${paths.length === 1 ? 's' : ''} for a decision: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}.`,
        {
          hint:
            report.handover === null
              ? 'Nothing has been changed.'
              : `Nothing is lost and nothing has been changed. Edit the files in ${report.handover.worktree} or use \`sennit resolve\`, then run \`sennit continue\`; \`sennit abort\` gives up.`,
          paths,
        },
      );
    }
    case 'gate_red': {
      const red = report.gates.find(({ outcome }) => outcome !== 'passed');
      return new SennitError(
        'gate_red',
        `The gate ${red?.name ?? ''} is red${red?.outcome === 'timed-out' ? ': it took too long' : ''}: ${red?.command ?? ''}`,
        {
          hint: `Nothing has been changed. ${report.culprits?.outcome === 'found' ? 'Land the rest with --drop-culprits, or mend the sources named and land again.' : 'Mend it and land again.'}`,
        },
      );
    }
    case 'parked': {
      const why = report.findings.filter(
        ({ check }) => check === 'target_dirty' || check === 'primary_changed',
      );
      const changed = why.some(({ check }) => check === 'primary_changed');
      return new SennitError(
        changed ? 'primary_changed' : 'target_dirty',
        report.blocked ?? 'A checkout of the target is in the way.',
        {
          hint: `${changed ? 'Look at the configuration' : 'Commit or move that work away'}, then run \`sennit continue\`; \`sennit abort\` gives the landing up.`,
          paths: why.flatMap(({ paths }) => paths ?? []),
        },
      );
    }
    default:
      return undefined;
  }
}

/** The answer for a landing. `command` and `result` differ where the same state is only shown. */
export function landAnswer<Name extends CommandName>(
  command: Name,
  result: ResultOf<Name>,
  report: LandReport,
): Answer {
  const stop = stopOf(report);
  const answer = newAnswer(command, result, {
    commit: report.commit,
    tree: report.tree,
    target: report.target,
    operation: report.operation,
    sources: report.sources,
    paths: report.paths.map(({ path, ...rest }) => ({ path: displayPath(path), ...rest })),
    conflicts: report.conflicts.map(answerConflict),
    gates: report.gates.map(answerGate),
    findings: report.findings.map(answerFinding),
    next: report.next,
    handover:
      report.handover === null
        ? null
        : { worktree: report.handover.worktree, packet: report.handover.packet },
    culprits: report.culprits === null ? null : answerCulprits(report.culprits),
    pushed: report.pushed,
    pull_request: report.pullRequest,
    ...(report.blocked === null ? {} : { note: report.blocked }),
  });
  return answer.ok || stop === undefined ? answer : { ...answer, error: answerError(stop) };
}

export function answerConflict({ path, kind, sources, message, related, tried }: Conflict): AnswerConflict {
  return {
    path: displayPath(path),
    kind,
    sources,
    symbols: [],
    message,
    related: related.map(displayPath),
    tried,
  };
}

export function answerFinding(finding: Finding): AnswerFinding {
  return finding;
}

function answerGate({ name, command, outcome, known, ms, code, tail, log }: GateResult): AnswerGate {
  return { name, command, outcome, known, ms: Math.round(ms), code, tail, log };
}

function answerCulprits(search: CulpritSearch): AnswerCulprits {
  const none = { sets: [], drop: [], rest_green: false, reason: null };
  switch (search.outcome) {
    case 'target-red':
      return { ...none, outcome: 'target_red', runs: search.runs };
    case 'gave-up':
      return { ...none, outcome: 'gave_up', runs: search.runs, reason: search.reason };
    case 'found':
      return {
        outcome: 'found',
        sets: search.sets,
        drop: search.drop,
        rest_green: search.restGreen,
        runs: search.runs,
        reason: null,
      };
  }
}

/** The answer for a forecast. */
export function forecastAnswer(report: ForecastReport): Answer {
  const forecast: AnswerForecast = {
    order: report.order,
    pairs: report.pairs,
    merged: report.asked,
    collisions: report.collisions.map(({ a, b, paths }) => ({
      sources: [a, b ?? report.target],
      paths: paths.map(({ path, kind }) => ({ path: displayPath(path), kind, symbols: [] })),
    })),
  };
  return newAnswer('forecast', report.collisions.length === 0 ? 'clean' : 'collisions', {
    target: report.target,
    sources: report.sources.map(({ name, kind, snapshot, fresh }) => ({
      name,
      kind,
      snapshot,
      state: fresh ? 'waiting' : 'nothing_new',
    })),
    findings: report.findings.map(answerFinding),
    forecast,
    next: report.sources.some(({ fresh }) => fresh)
      ? [`sennit land ${report.asTyped.join(' ')} --into ${report.target}`]
      : [],
  });
}
