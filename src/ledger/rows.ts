import { isOperationId, type OperationId } from '../model/ids.ts';
import type {
  LedgerEvent,
  OperationKind,
  OperationRecord,
  OperationState,
  Verdict,
} from '../ports/ledger.ts';
import type { Row } from './connection.ts';

const KINDS: ReadonlySet<string> = new Set<OperationKind>(['land', 'gc', 'undo', 'restore']);
const STATES: ReadonlySet<string> = new Set<OperationState>([
  'running',
  'pending',
  'done',
  'failed',
  'aborted',
  'undone',
]);

/** A row that no Sennit wrote. */
export class RowError extends Error {}

function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new RowError(`${column} is not a text`);
  return value;
}

function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new RowError(`${column} is not a number`);
  return value;
}

function jsonOf(row: Row, column: string): unknown {
  try {
    return JSON.parse(textOf(row, column));
  } catch (error) {
    throw new RowError(`${column} is not JSON`, { cause: error });
  }
}

function wordOf<T extends string>(row: Row, column: string, words: ReadonlySet<string>): T {
  const value = textOf(row, column);
  if (!words.has(value)) throw new RowError(`${column} "${value}" is not known`);
  return value as T;
}

function operationIdOf(row: Row, column: string): OperationId {
  const value = textOf(row, column);
  if (!isOperationId(value)) throw new RowError(`${column} "${value}" is not an operation id`);
  return value;
}

/** A row of `operations`. Throws RowError, as all here. */
export function parseOperation(row: Row): OperationRecord {
  return {
    id: operationIdOf(row, 'id'),
    kind: wordOf<OperationKind>(row, 'kind', KINDS),
    state: wordOf<OperationState>(row, 'state', STATES),
    target: row['target'] === null ? null : textOf(row, 'target'),
    created: textOf(row, 'created'),
    updated: textOf(row, 'updated'),
    owner: { pid: numberOf(row, 'owner_pid'), started: textOf(row, 'owner_started') },
    data: jsonOf(row, 'data'),
  };
}

/** A row of `events`. */
export function parseEvent(row: Row): LedgerEvent {
  return {
    seq: numberOf(row, 'seq'),
    at: textOf(row, 'at'),
    operation: row['operation'] === null ? null : operationIdOf(row, 'operation'),
    type: textOf(row, 'type'),
    data: jsonOf(row, 'data'),
  };
}

/** A row of `verdicts`. */
export function parseVerdict(row: Row): Verdict {
  return {
    tree: textOf(row, 'tree'),
    command: textOf(row, 'command'),
    ok: numberOf(row, 'ok') === 1,
    ms: numberOf(row, 'ms'),
    at: textOf(row, 'at'),
  };
}
