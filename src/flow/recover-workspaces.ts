// Ending clean-ups, restorings and undos whose process is dead. A removal is put back or finished, by what the disk
// says; a restoring is finished; an undo is finished where it had begun to act, for all that it does can be begun again.

import { SennitError } from '../model/errors.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import { readCleanUpData, withRemoval } from './clean-up-data.ts';
import type { Context } from './context.ts';
import type { LandingEnd } from './recover-landing.ts';
import { clearLocks } from './recover-landing.ts';
import { endRemoval } from './remove-workspace.ts';
import { type RestoreData, readRestoreData, withRestoration } from './restore-data.ts';
import { abandonRestoration, restoreWorkspace } from './restore-workspace.ts';
import { dropBranch, endUndo } from './undo.ts';
import { readUndoData, type UndoData } from './undo-data.ts';
import { endLandingUndo } from './undo-landing.ts';

type Ended = Exclude<LandingEnd, 'waiting'>;

export async function endCleanUp(context: Context, operation: OperationRecord): Promise<Ended> {
  const ledger = context.ledger();
  let data = readCleanUpData(operation);
  for (const removal of data.removals) {
    await endRemoval(context, removal, {
      save: (type, one, { durable = false } = {}) => {
        data = { ...data, removals: withRemoval(data.removals, one) };
        ledger.append({ operation: operation.id, type, data: { path: one.path } }, { data, durable });
      },
    });
  }
  const end = data.removals.some(({ state }) => state === 'removed' || state === 'proved')
    ? 'finished'
    : 'rolled-back';
  recorded(context, operation, end);
  return end;
}

/** Runs a step that can be blocked for good, by what somebody put in its place; true when it was. */
async function isBlocked(step: () => Promise<unknown>): Promise<boolean> {
  try {
    await step();
    return false;
  } catch (error) {
    const codes = ['restore_blocked', 'undo_blocked'];
    if (error instanceof SennitError && codes.includes(error.code)) return true;
    throw error;
  }
}

export async function endRestore(context: Context, operation: OperationRecord): Promise<Ended> {
  const ledger = context.ledger();
  let data: RestoreData = readRestoreData(operation);
  if (data.branch !== null) {
    const [at] = await context.refs.resolveCommits([data.branch.ref]);
    const end = at === data.branch.commit ? 'finished' : 'rolled-back';
    recorded(context, operation, end);
    return end;
  }
  let blocked = data.restorations.length === 0;
  for (const restoration of data.restorations) {
    const step = (): Promise<unknown> =>
      restoreWorkspace(context, restoration, {
        save: (type, one, { durable = false } = {}) => {
          data = { ...data, restorations: withRestoration(data.restorations, one) };
          ledger.append({ operation: operation.id, type, data: { path: one.path } }, { data, durable });
        },
      });
    if (!(await isBlocked(step))) continue;
    blocked = true;
    await abandonRestoration(context, restoration);
  }
  const end = blocked ? 'rolled-back' : 'finished';
  recorded(context, operation, end);
  return end;
}

export async function endUndoing(context: Context, operation: OperationRecord): Promise<Ended> {
  const ledger = context.ledger();
  let data: UndoData = readUndoData(operation);
  const save = (type: string, patch: Partial<UndoData>, durable: boolean): void => {
    data = { ...data, ...patch };
    ledger.append({ operation: operation.id, type, data: {} }, { data, durable });
  };
  if (data.move !== null) {
    await clearLocks(context, operation, data.move.ref);
    if (!(await endLandingUndo(context, data.undoes, data.move))) {
      recorded(context, operation, 'rolled-back');
      return 'rolled-back';
    }
  }
  let blocked = false;
  for (const restoration of data.restorations) {
    const step = (): Promise<unknown> =>
      restoreWorkspace(context, restoration, {
        save: (type, one, { durable = false } = {}) =>
          save(type, { restorations: withRestoration(data.restorations, one) }, durable),
      });
    if (!(await isBlocked(step))) continue;
    blocked = true;
    await abandonRestoration(context, restoration);
  }
  for (const removal of data.removals) {
    await endRemoval(context, removal, {
      save: (type, one, { durable = false } = {}) =>
        save(type, { removals: withRemoval(data.removals, one) }, durable),
    });
  }
  blocked ||= data.removals.some(({ state }) => state === 'put-back');
  if (blocked || (await isBlocked(() => dropBranch(context, data.branch, data.undoes)))) {
    recorded(context, operation, 'rolled-back');
    return 'rolled-back';
  }
  endUndo(context, operation.id, data.undoes);
  return 'finished';
}

function recorded(context: Context, { id }: OperationRecord, end: Ended): void {
  context
    .ledger()
    .append(
      { operation: id, type: 'operation.recovered', data: { end } },
      { state: end === 'finished' ? 'done' : 'failed', durable: true },
    );
}
