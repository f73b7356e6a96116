// The published contract. A schema that differs from its committed file has changed for everybody who reads answers:
// fields may be added to contract version 1, nothing may be renamed, dropped or given another meaning. After a change
// that is meant: `node dist/cli/main.js schema <name> > test/end-to-end/fixtures/<name>.schema.json`.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerSchema, packetSchema } from '../../src/cli/contract.ts';
import type { OpenMerge } from '../../src/flow/land-data.ts';
import { renderPacket } from '../../src/flow/packet.ts';
import { asGitPath, asOid, type OperationId } from '../../src/model/ids.ts';
import { sealedPlace } from '../support/sealed.ts';
import { runSennit } from '../support/sennit.ts';

const golden = (name: string): string =>
  readFileSync(new URL(`./fixtures/${name}.schema.json`, import.meta.url), 'utf8');

for (const name of ['config', 'answer', 'conflicts']) {
  test(`the schema of ${name} is the published one`, async () => {
    const run = await runSennit(['schema', name], { cwd: sealedPlace() });
    expect(run.expectCode(0).stdout).toBe(golden(name));
    const asked = await runSennit(['schema', name, '--json'], { cwd: sealedPlace() });
    expect(JSON.parse(asked.expectCode(0).stdout)).toMatchObject({
      ok: true,
      result: 'printed',
      schema: JSON.parse(golden(name)),
    });
  });
}

test('every answer is what the schema says, also the answer to nonsense and to a missing repository', async () => {
  const published = z.fromJSONSchema(JSON.parse(golden('answer')));
  const cwd = sealedPlace();
  for (const args of [
    ['--version'],
    ['--help'],
    ['help', 'land'],
    ['schema', 'config'],
    ['completion', 'zsh'],
    [],
    ['nonsense'],
    ['archive'],
    ['land'],
    ['land', 'a', '--nonsense'],
    ['land', 'a'],
    ['forecast', 'a', 'b'],
    ['conflicts'],
    ['resolve', 'a', '--take', 'base'],
    ['continue'],
    ['abort'],
    ['status'],
    ['gc'],
    ['archive', 'list'],
    ['archive', 'show', 'x'],
    ['archive', 'restore', 'x'],
    ['undo'],
    ['log'],
    ['doctor'],
    ['config', 'explain'],
  ]) {
    const run = await runSennit([...args, '--json'], { cwd });
    const answer: unknown = JSON.parse(run.stdout);
    // Fields that the contract does not know are dropped by parsing.
    expect(answerSchema.parse(answer), run.story()).toEqual(answer);
    expect(published.safeParse(answer).success, run.story()).toBe(true);
    const { ok, error } = answerSchema.parse(answer);
    expect(ok, run.story()).toBe(run.code === 0);
    expect(error === null, run.story()).toBe(ok);
    expect(run.stderr).toBe('');
  }
});

test('the published schema refuses what is no answer', () => {
  const published = z.fromJSONSchema(JSON.parse(golden('answer')));
  expect(published.safeParse({ contract_version: 1, ok: true }).success).toBe(false);
  const config = z.fromJSONSchema(JSON.parse(golden('config')));
  expect(config.safeParse({ gates: { root: 'npm test', timeout: 10 } }).success).toBe(true);
  expect(config.safeParse({ gates: { roof: 'npm test' } }).success).toBe(false);
});

test('the packet of a hand-over is what its schema says', () => {
  const oid = asOid('0123456789abcdef0123456789abcdef01234567');
  const entry = { mode: '100644', oid } as const;
  const open: OpenMerge = {
    source: 'b',
    tree: oid,
    conflicts: [
      {
        path: asGitPath('src/caf\xe9.ts'),
        kind: 'modify-delete',
        sides: { base: entry, target: entry, change: null },
        message: 'CONFLICT',
        related: [asGitPath('other')],
        leftover: entry,
        sources: ['a', 'b'],
        tried: [{ rung: 'patch', reason: 'one side is missing' }],
      },
    ],
    resolved: [],
  };
  const { json } = renderPacket(
    '20261130-142501-k3f9' as OperationId,
    {
      version: 1,
      target: 'refs/heads/main',
      tip: oid,
      targetAt: oid,
      remoteTip: null,
      fingerprint: '',
      options: {
        gates: [],
        noGate: false,
        dropCulprits: false,
        message: null,
        branch: null,
        push: false,
        pullRequest: false,
        verify: false,
      },
      sources: [],
      dropped: [],
      landed: [],
      findings: [],
      merge: null,
      handover: null,
      candidate: null,
      moving: [],
      landing: null,
      pushed: false,
    },
    open,
    { worktree: '/w' },
  );
  const written: unknown = JSON.parse(JSON.stringify(json));
  expect(packetSchema.parse(written)).toEqual(written);
});
