import { describe, expect, test } from 'vitest';
import type { Oid, OperationId } from '../model/ids.ts';
import type { CommitInfo, Objects } from '../ports/git.ts';
import type { LandSource } from './land-data.ts';
import { landingMessage, withTrailers } from './message.ts';

const OPERATION = '20261130-142501-k3f9' as OperationId;
const BASE = '0'.repeat(40) as Oid;

const oid = (digit: string): Oid => digit.repeat(40) as Oid;

function source(name: string, snapshot: Oid, more: Partial<LandSource> = {}): LandSource {
  return {
    name,
    kind: 'branch',
    identity: `refs/heads/${name}`,
    snapshot,
    prepared: snapshot,
    tree: snapshot,
    base: BASE,
    ref: `refs/sennit/${OPERATION}/${name}`,
    uncommitted: false,
    entangled: false,
    ...more,
  };
}

/** Objects that hold nothing but commits with these messages, each on the next. */
function commits(...messages: readonly string[]): Pick<Objects, 'readCommit'> {
  const infos = messages.map(
    (message, i): CommitInfo => ({
      oid: oid(String(i + 1)),
      tree: oid('f'),
      parents: i === 0 ? [BASE] : [oid(String(i))],
      committed: 0,
      author: '',
      message,
    }),
  );
  return {
    readCommit: (wanted) => {
      const found = infos.find((info) => info.oid === wanted);
      return found === undefined ? Promise.reject(new Error(`no ${wanted}`)) : Promise.resolve(found);
    },
  };
}

function messageFor(
  sources: readonly LandSource[],
  messages: readonly string[],
  how: { given?: string; template?: string } = {},
): Promise<string> {
  const objects = commits(...messages) as Objects;
  return landingMessage(objects, sources, 'main', how.given ?? null, how.template ?? null);
}

describe('the message of a landing', () => {
  test('keeps what the author of the only source wrote', async () => {
    expect(await messageFor([source('wt-cart', oid('2'))], ['older', 'Add a cart\n\nbody\n'])).toBe(
      'Add a cart',
    );
  });

  test('never passes off an internal snapshot as the words of its author', async () => {
    const mixed = source('wt-cart', oid('2'), { uncommitted: true });
    expect(await messageFor([mixed], ['Add a cart\n', 'sennit: snapshot of wt-cart\n'])).toBe('Add a cart');
    const loose = source('wt-cart', oid('1'), { uncommitted: true });
    expect(await messageFor([loose], ['sennit: snapshot of wt-cart\n'])).toBe('Land wt-cart');
    const earlier = source('wt-cart', oid('2'), { uncommitted: true });
    expect(await messageFor([earlier], ['sennit: snapshot of wt-cart\n', 'sennit: snapshot\n'])).toBe(
      'Land wt-cart',
    );
  });

  test('names every source, and stays short in its first line', async () => {
    const two = [source('a', oid('1')), source('b', oid('2'))];
    expect(await messageFor(two, ['Do this\n', '\n'])).toBe('Land a and b\n\n- a: Do this\n- b');
    const many = Array.from({ length: 30 }, (_, i) => source(`task-${i}`, oid('1')));
    const [subject = '', empty, ...lines] = (await messageFor(many, ['Do this\n'])).split('\n');
    expect(subject).toBe('Land 30 changes on main');
    expect(empty).toBe('');
    expect(lines).toHaveLength(30);
  });

  test('is what the user gave, or what the template says', async () => {
    const two = [source('a', oid('1')), source('b', oid('2'))];
    const messages = ['Do this\n', 'Do that\n'];
    expect(await messageFor(two, messages, { given: '  Mine: {count}\n', template: 'x' })).toBe(
      'Mine: {count}',
    );
    expect(
      await messageFor(two, messages, { template: '{count} on {target}: {sources}\n\n{subjects}' }),
    ).toBe('2 on main: a, b\n\n- a: Do this\n- b: Do that');
  });
});

describe('the trailers of a landing', () => {
  const sources = [source('a', oid('1')), source('b', oid('2'))];

  test('name the operation and every source with its snapshot, in a paragraph of their own', () => {
    expect(withTrailers('Subject', OPERATION, sources)).toBe(
      `Subject\n\nSennit-Operation: ${OPERATION}\nSennit-Source: a ${oid('1')}\nSennit-Source: b ${oid('2')}\n`,
    );
  });

  // git reads trailers only from the last paragraph.
  test('do not push the trailers of the user out of the last paragraph', () => {
    const message = withTrailers('Subject\n\nCo-authored-by: B <b@test.invalid>', OPERATION, sources);
    expect(message.split('\n\n').at(-1)).toMatch(/^Co-authored-by: .*\nSennit-Operation: /);
  });

  test('cannot be forged by the name of a folder', () => {
    const forged = source('a\nSigned-off-by: The Boss <boss@test.invalid>\nx', oid('1'));
    expect(withTrailers('Subject', OPERATION, [forged])).not.toMatch(/^Signed-off-by/m);
  });
});
