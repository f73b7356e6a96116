import { describe, expect, it } from 'vitest';
import {
  type Answer,
  COMMAND_RESULTS,
  type CommandName,
  FAILURE_WORDS,
  newAnswer,
  RESULT_EXITS,
  type ResultWord,
} from '../model/answer.ts';
import { answerSchema } from './contract.ts';

const oid = '0123456789abcdef0123456789abcdef01234567';

/** Every field that an answer can have. */
const full: Required<Answer> = {
  contract_version: 1,
  command: 'land',
  ok: false,
  result: 'gate_red',
  commit: oid,
  tree: oid,
  target: 'main',
  operation: '20261130-142501-k3f9',
  sources: [{ name: 'a', kind: 'worktree', state: 'merged', snapshot: oid }],
  paths: [{ path: 'p', rung: 'patch', reason: 'applied', ms: 1.5, source: 'a' }],
  conflicts: [
    {
      path: 'p',
      kind: 'content',
      sources: ['a', 'b'],
      symbols: ['f'],
      message: 'm',
      related: ['q'],
      tried: [{ rung: 'patch', reason: 'no' }],
    },
  ],
  gates: [
    { name: 'root', command: 'x', outcome: 'failed', known: false, ms: 1, code: 1, tail: 't', log: '/log' },
  ],
  findings: [
    { check: 'c_d', severity: 'info', message: 'm', paths: ['p'], source: 'a', remedy: 'r', fixed: true },
  ],
  next: ['sennit undo'],
  error: { code: 'gate_red', message: 'm', hint: 'h', retryable: false, paths: ['p'] },
  note: 'n',
  handover: { worktree: '/w', packet: '/p' },
  culprits: { outcome: 'found', sets: [['a']], drop: ['a'], rest_green: true, runs: 3, reason: null },
  pushed: 'origin/main',
  pull_request: { url: 'https://example.invalid/1', created: true },
  forecast: {
    order: ['a', 'b'],
    pairs: 1,
    merged: 1,
    collisions: [{ sources: ['a', 'b'], paths: [{ path: 'p', kind: 'content', symbols: [] }] }],
  },
  operations: [
    {
      id: 'i',
      kind: 'land',
      state: 'done',
      target: 'main',
      created: '2026-11-30T14:25:01.000Z',
      updated: '2026-11-30T14:25:01.000Z',
      commit: oid,
      sources: ['a'],
    },
  ],
  workspaces: [{ path: '/w', branch: 'b', action: 'keep', reason: 'r', ignored: ['.env'] }],
  archives: [{ id: 'i', ref: 'r', commit: oid, created: 'c', subject: 's', paths: ['p'] }],
  refs: [{ ref: 'refs/heads/main', from: oid, to: null }],
  settings: [{ key: 'verify', value: false, from: 'default', where: 'default' }],
  schema: { type: 'object' },
  text: 't',
};

describe('answerSchema', () => {
  it('publishes every field that an answer can have', () => {
    // A field that the schema does not know would be dropped here.
    expect(answerSchema.parse(full)).toEqual(full);
  });

  it.each(Object.keys(COMMAND_RESULTS) as CommandName[])('takes the words of %s and no others', (command) => {
    const own = new Set<ResultWord>([...COMMAND_RESULTS[command], ...FAILURE_WORDS]);
    for (const result of Object.keys(RESULT_EXITS) as ResultWord[]) {
      const answer = { ...newAnswer(command, 'failed'), result };
      expect(answerSchema.safeParse(answer).success, result).toBe(own.has(result));
    }
  });

  it('has a command for every word', () => {
    const used = new Set<ResultWord>([...Object.values(COMMAND_RESULTS).flat(), ...FAILURE_WORDS]);
    expect([...used].sort()).toEqual(Object.keys(RESULT_EXITS).sort());
  });

  it.each([
    ['a short commit id', { commit: 'abc' }],
    ['an unknown error code', { error: { ...full.error, code: 'nosuch' } }],
    ['an empty hint', { error: { ...full.error, hint: '' } }],
    ['an unknown kind of conflict', { conflicts: [{ ...full.conflicts[0], kind: 'odd' }] }],
    ['no list of next commands', { next: undefined }],
  ])('refuses %s', (_, wrong) => {
    expect(answerSchema.safeParse({ ...full, ...wrong }).success).toBe(false);
  });
});
