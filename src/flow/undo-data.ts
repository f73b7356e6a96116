import type { Oid, OperationId } from '../model/ids.ts';
import type { OperationKind, OperationRecord } from '../ports/ledger.ts';
import type { Removal } from './clean-up-data.ts';
import type { Restoration } from './restore-workspace.ts';

/** A branch that goes back to where it was before a landing; to null where the landing had made it. */
export interface UndoMove {
  /** Full name of the branch. */
  readonly ref: string;
  /** The landing. */
  readonly from: Oid;
  readonly to: Oid | null;
}

/** The data of an `undo` operation. */
export interface UndoData {
  readonly version: 1;
  readonly undoes: OperationId;
  readonly kind: OperationKind;
  readonly move: UndoMove | null;
  /** Workspaces that come back, and workspaces and branch that go again because they had been restored. */
  readonly restorations: readonly Restoration[];
  readonly removals: readonly Removal[];
  readonly branch: { readonly ref: string; readonly commit: Oid } | null;
}

export function readUndoData(operation: Pick<OperationRecord, 'data'>): UndoData {
  return operation.data as UndoData;
}
