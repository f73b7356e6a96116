// `sennit log`: all operations, newest first. Read from the ledger alone.

import type { Oid, OperationId } from '../model/ids.ts';
import type { OperationKind, OperationRecord, OperationState } from '../ports/ledger.ts';
import { readCleanUpData } from './clean-up-data.ts';
import type { Context } from './context.ts';
import { landedRef, readLandData } from './land-data.ts';
import { readRestoreData } from './restore-data.ts';
import { readUndoData } from './undo-data.ts';

export interface LogEntry {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly state: OperationState;
  /** Short name of the branch that it changed; null where it changes none. */
  readonly target: string | null;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly updated: string;
  /** The landing. */
  readonly commit: Oid | null;
  /** Names of the sources of a landing. */
  readonly sources: readonly string[];
  /** Folders that were removed or came back. */
  readonly workspaces: readonly string[];
  /** What an undo took back. */
  readonly undoes: OperationId | null;
}

/** The newest operations, at most `limit`. */
export function readLog(context: Context, { limit }: { readonly limit: number }): LogEntry[] {
  return (context.readLedger()?.listOperations({ limit }) ?? []).map(describeOperation);
}

/** One operation in the words of the log. */
export function describeOperation(operation: OperationRecord): LogEntry {
  const { id, kind, state, created, updated } = operation;
  const common = {
    id,
    kind,
    state,
    created,
    updated,
    commit: null,
    sources: [],
    workspaces: [],
    undoes: null,
  };
  const target = operation.target?.replace(/^refs\/heads\//, '') ?? null;
  switch (kind) {
    case 'land': {
      const data = readLandData(operation);
      return {
        ...common,
        target: landedRef(data).replace(/^refs\/heads\//, ''),
        commit: data.landing,
        sources: data.sources.map(({ name }) => name),
      };
    }
    case 'gc': {
      const gone = readCleanUpData(operation).removals.filter((one) => one.state !== 'put-back');
      return { ...common, target, workspaces: gone.map(({ path }) => path) };
    }
    case 'restore':
      return {
        ...common,
        target,
        workspaces: readRestoreData(operation).restorations.map(({ path }) => path),
      };
    case 'undo': {
      const { undoes, restorations, removals } = readUndoData(operation);
      return {
        ...common,
        target,
        undoes,
        workspaces: [...restorations, ...removals].map(({ path }) => path),
      };
    }
  }
}
