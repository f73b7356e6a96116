import type { Oid } from '../model/ids.ts';
import type { OperationRecord } from '../ports/ledger.ts';
import type { Restoration } from './restore-workspace.ts';

/** The data of a `restore` operation. */
export interface RestoreData {
  readonly version: 1;
  readonly restorations: readonly Restoration[];
  /** A branch that was made of an archive entry instead of a workspace: full name and commit. */
  readonly branch: { readonly ref: string; readonly commit: Oid } | null;
}

export function readRestoreData(operation: OperationRecord): RestoreData {
  return operation.data as RestoreData;
}

/** A list of restorations in which one is replaced by path, or added. */
export function withRestoration(
  restorations: readonly Restoration[],
  restoration: Restoration,
): Restoration[] {
  return [...restorations.filter(({ path }) => path !== restoration.path), restoration];
}
