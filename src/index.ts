// The library: the same commands as the command line, as functions that give typed answers.

export { createCommands } from './compose.ts';
export type { Answer } from './model/answer.ts';
export type {
  ArchiveRestoreInput,
  CommandOutcome,
  Commands,
  ConfigExplainInput,
  DoctorInput,
  ForecastInput,
  GcInput,
  LandInput,
  LogInput,
  OperationChangeInput,
  OperationInput,
  ResolveInput,
} from './model/commands.ts';
export type { Conflict, ConflictKind } from './model/conflict.ts';
export { type ErrorCode, EXIT, SennitError } from './model/errors.ts';
export { displayPath, type GitPath, type Oid, parseDisplayPath } from './model/ids.ts';
export type { Narrator } from './ports/narrator.ts';
