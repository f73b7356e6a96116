import { lstat } from 'node:fs/promises';
import { SennitError } from '../model/errors.ts';
import type { WorktreeInfo } from '../model/source.ts';
import type { Objects } from '../ports/git.ts';
import type { LedgerReader, OperationRecord } from '../ports/ledger.ts';
import { type Ailment, ailment } from './ailment.ts';
import { readCleanUpData } from './clean-up-data.ts';
import type { Context } from './context.ts';
import { readLandData } from './land-data.ts';
import { readLeavings } from './leavings.ts';
import { tryHoldOperation } from './operation-lock.ts';
import { shellWord } from './packet.ts';
import { recover } from './recover.ts';

/** Landings that are compared with the refs, newest first. */
const HORIZON = 100;

/** Looks at the ledger: whether it is sound, agrees with the refs, and whether something was left over. */
export async function examineLedger(
  context: Context,
  objects: Objects,
  worktrees: readonly WorktreeInfo[],
): Promise<Ailment[]> {
  try {
    const reader = context.readLedger();
    if (reader === undefined) return [];
    const damage = reader.findDamage();
    if (damage.length > 0) return damage.map(damageAilment);
    return [
      ...(await examineLandings(context, reader)),
      ...(await examineLive(context, reader)),
      ...(await examineTrash(reader)),
      ...(await examineLeavings(context, objects, worktrees)),
    ];
  } catch (error) {
    if (!(error instanceof SennitError)) throw error;
    return [
      ailment({
        check: error.code,
        severity: 'error',
        message: error.message,
        ...(error.hint === undefined ? {} : { remedy: error.hint }),
      }),
    ];
  }
}

function damageAilment(fault: string): Ailment {
  return ailment({
    check: 'ledger_broken',
    severity: 'error',
    message: `The ledger is damaged: ${fault}`,
    remedy:
      'What is landed, archived and kept is in git and safe. Move `sennit/ledger.db*` out of the git dir; a new ledger is made, which knows no earlier operation.',
  });
}

/** What the ledger says is done must be in git. */
async function examineLandings(context: Context, reader: LedgerReader): Promise<Ailment[]> {
  const found: Ailment[] = [];
  const done = reader.listOperations({ kinds: ['land'], states: ['done'], limit: HORIZON });
  const landings = done.flatMap((operation) => {
    const { landing } = readLandData(operation);
    return landing === null ? [] : [{ id: operation.id, landing }];
  });
  const there = await context.refs.resolveCommits(landings.map(({ landing }) => landing));
  for (const [i, { id, landing }] of landings.entries()) {
    if (there[i] !== undefined) continue;
    found.push(
      ailment({
        check: 'landing_missing',
        severity: 'error',
        message: `The ledger has the landing ${id} as commit ${landing}, but git has no such commit.`,
        remedy: 'git fsck; and look whether another clone, or the remote, has it.',
      }),
    );
  }
  const pending = reader.listOperations({ kinds: ['land'], states: ['pending'] });
  for (const operation of pending) {
    const sources = readLandData(operation).sources;
    const anchors = await context.refs.resolveCommits(sources.map(({ ref }) => ref));
    const lost = sources.filter(({ snapshot }, i) => anchors[i] !== snapshot);
    if (lost.length === 0) continue;
    found.push(
      ailment({
        check: 'snapshot_unanchored',
        severity: 'error',
        message: `Snapshots of the landing ${operation.id} that waits are not under their refs any more: ${lost.map(({ name }) => name).join(', ')}.`,
        remedy: `sennit abort --operation ${operation.id}, then land again.`,
      }),
    );
  }
  return found;
}

async function examineLive(context: Context, reader: LedgerReader): Promise<Ailment[]> {
  const found: Ailment[] = [];
  for (const { id, kind } of reader.listOperations({ states: ['running'] })) {
    const lock = await tryHoldOperation(context, id);
    if (lock === undefined) continue;
    lock.release();
    found.push(
      ailment(
        {
          check: 'operation_interrupted',
          severity: 'warning',
          message: `The ${kind} ${id} was interrupted.`,
          remedy: 'Any command that changes something finishes it or rolls it back.',
        },
        async () => {
          const ends = await recover(context);
          const stuck = ends.find(({ end }) => end === 'stuck')?.error;
          if (stuck != null) throw stuck;
        },
      ),
    );
  }
  for (const { id, kind } of reader.listOperations({ states: ['pending'] })) {
    found.push(
      ailment({
        check: 'operation_pending',
        severity: 'info',
        message: `The ${kind} ${id} waits for you.`,
        remedy: 'sennit status',
      }),
    );
  }
  return found;
}

/** Folders that could not be given their name back. */
async function examineTrash(reader: LedgerReader): Promise<Ailment[]> {
  const ended = (operation: OperationRecord): boolean =>
    operation.state !== 'running' && operation.state !== 'pending';
  const removals = reader
    .listOperations({ kinds: ['gc'] })
    .filter(ended)
    .flatMap((operation) => readCleanUpData(operation).removals)
    .filter(({ state }) => state === 'putting-back');
  const found: Ailment[] = [];
  for (const { trash, path } of removals) {
    if ((await lstat(trash).catch(() => undefined)) === undefined) continue;
    found.push(
      ailment({
        check: 'workspace_in_trash',
        severity: 'error',
        message: `What ${path} held is in ${trash}: something else had taken its place.`,
        paths: [trash],
        remedy: `Move ${path} away, then: mv ${shellWord(trash)} ${shellWord(path)}`,
      }),
    );
  }
  return found;
}

async function examineLeavings(
  context: Context,
  objects: Objects,
  worktrees: readonly WorktreeInfo[],
): Promise<Ailment[]> {
  const leavings = await readLeavings(context, objects, worktrees);
  if (leavings.length === 0) return [];
  return [
    ailment({
      check: 'leavings_present',
      severity: 'info',
      message: `${leavings.length} thing${leavings.length === 1 ? '' : 's'} of Sennit's own that nobody needs any more.`,
      remedy: 'sennit gc --apply',
    }),
  ];
}
