// One landing while a process works on it: its record in the ledger and the words for the user. Every step is written
// down before the next begins, so that another process can go on or roll back from exactly there.

import type { Conflict } from '../model/conflict.ts';
import { type ErrorCode, SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import type { Oid, OperationId } from '../model/ids.ts';
import type { Objects } from '../ports/git.ts';
import type { OperationState } from '../ports/ledger.ts';
import type { PullRequest } from '../ports/remotes.ts';
import { BlobFacts } from './blob-facts.ts';
import { type Context, OWN_REFS } from './context.ts';
import type { CulpritSearch } from './culprits.ts';
import type { HandOver } from './hand-over.ts';
import type { LandData, PathRecord } from './land-data.ts';
import type { GateResult } from './validate.ts';

export type LandWord = 'landed' | 'nothing_new' | 'conflicts' | 'gate_red' | 'dry_run' | 'parked' | 'aborted';

export interface SourceReport {
  readonly name: string;
  readonly kind: string;
  readonly snapshot: Oid;
  readonly state: 'merged' | 'conflicts' | 'waiting' | 'nothing_new' | 'dropped';
}

/** What became of a landing, for people and programs alike. */
export interface LandReport {
  readonly result: LandWord;
  readonly operation: OperationId | null;
  /** Short name of the branch. */
  readonly target: string;
  readonly commit: Oid | null;
  readonly tree: Oid | null;
  readonly sources: readonly SourceReport[];
  readonly paths: readonly PathRecord[];
  readonly conflicts: readonly Conflict[];
  readonly gates: readonly GateResult[];
  readonly culprits: CulpritSearch | null;
  readonly findings: readonly Finding[];
  readonly handover: HandOver | null;
  readonly pushed: string | null;
  readonly pullRequest: PullRequest | null;
  /** Why the landing is parked: the sentence for the user. */
  readonly blocked: string | null;
  readonly next: readonly string[];
}

/** What only keeps a merged and validated landing waiting: the same command goes through when the cause is gone. */
const WAITS: ReadonlySet<ErrorCode> = new Set(['push_failed', 'push_rejected']);

export class LandSession {
  readonly context: Context;
  readonly objects: Objects;
  readonly operation: OperationId;
  readonly facts: BlobFacts;
  /** A dry run leaves no record. */
  readonly dry: boolean;
  #data: LandData;
  gates: GateResult[] = [];
  culprits: CulpritSearch | null = null;
  pullRequest: PullRequest | null = null;
  nothingNew: readonly SourceReport[] = [];
  /** Ends when the snapshots are anchored. */
  anchored: Promise<void> = Promise.resolve();
  /** Uncommitted work outside the sources: looked for while the rest goes on. */
  outside: Promise<readonly Finding[]> = Promise.resolve([]);
  /** True when it waited for a person before. */
  continued = false;
  /** Rejected pushes so far. */
  pushes = 0;

  constructor(context: Context, objects: Objects, operation: OperationId, data: LandData, dry: boolean) {
    this.context = context;
    this.objects = objects;
    this.facts = new BlobFacts(objects);
    this.operation = operation;
    this.dry = dry;
    this.#data = data;
  }

  get data(): LandData {
    return this.#data;
  }

  /** Changes the record and appends the event that says why, in one transaction. */
  save(
    type: string,
    patch: Partial<LandData>,
    options: { state?: OperationState; durable?: boolean; event?: unknown } = {},
  ): void {
    this.#data = { ...this.#data, ...patch };
    if (this.dry) return;
    this.context.ledger().append(
      { operation: this.operation, type, data: options.event ?? {} },
      {
        data: this.#data,
        ...(options.state === undefined ? {} : { state: options.state }),
        ...(options.durable === undefined ? {} : { durable: options.durable }),
      },
    );
  }

  /** Writes down that the landing failed. Where its branch has moved by then it has landed, whatever went wrong after:
   * it stays as it is, and the next command finishes what is left. */
  async fail(error: unknown): Promise<void> {
    const event = { error: String(error) };
    const [landed] = this.dry
      ? []
      : await this.context.refs.resolveCommits([OWN_REFS.landing(this.operation)]);
    const waits = error instanceof SennitError && WAITS.has(error.code) && this.#data.candidate !== null;
    if (landed !== undefined) this.save('landing.troubled', {}, { event });
    else if (waits) this.save('landing.parked', { moving: [] }, { state: 'pending', event });
    else this.save('landing.failed', {}, { state: 'failed', event });
  }

  /** The commands that go on with this landing when it waits. */
  waitingCommands(withConflicts: boolean): string[] {
    const words = withConflicts ? ['conflicts', 'continue', 'abort'] : ['continue', 'abort'];
    return words.map((word) => `sennit ${word} --operation ${this.operation}`);
  }

  addFindings(findings: readonly Finding[]): void {
    const known = new Set(this.#data.findings.map((finding) => JSON.stringify(finding)));
    const fresh = findings.filter((finding) => !known.has(JSON.stringify(finding)));
    this.#data = { ...this.#data, findings: [...this.#data.findings, ...fresh] };
  }

  report(result: LandWord, more: Partial<LandReport> = {}): LandReport {
    const { data } = this;
    return {
      result,
      operation: this.dry ? null : this.operation,
      target: (data.options.branch ?? data.target).replace(/^refs\/heads\//, ''),
      commit: data.landing,
      tree: data.merge?.tree ?? null,
      sources: [...this.#sourceReports(), ...this.nothingNew],
      paths: data.merge?.paths ?? [],
      conflicts: result === 'conflicts' ? this.#unresolved() : [],
      gates: this.gates,
      culprits: this.culprits,
      findings: data.findings,
      handover: data.handover,
      pushed: null,
      pullRequest: this.pullRequest,
      blocked: null,
      next: [],
      ...more,
    };
  }

  /** Open conflicts that no `resolve` has settled yet. */
  #unresolved(): Conflict[] {
    const open = this.#data.merge?.open ?? null;
    const settled = new Set(open?.resolved.map(({ path }) => path));
    return (open?.conflicts ?? []).filter(({ path }) => !settled.has(path));
  }

  #sourceReports(): SourceReport[] {
    const { merge, sources, dropped } = this.#data;
    return [
      ...sources.map(({ name, kind, snapshot }) => ({
        name,
        kind,
        snapshot,
        state:
          merge?.open?.source === name
            ? ('conflicts' as const)
            : merge?.merged.includes(name)
              ? ('merged' as const)
              : ('waiting' as const),
      })),
      ...dropped.map(({ name, kind, snapshot }) => ({ name, kind, snapshot, state: 'dropped' as const })),
    ];
  }
}
