import { describe, expect, it } from 'vitest';
import { findUnknownFields, renderMessage } from './message-template.ts';

const values = { sources: 'cart, search', subjects: '- cart: add it', count: '2', target: 'main' };

describe('renderMessage', () => {
  it('puts each field in', () => {
    expect(renderMessage('Land {count} on {target}: {sources}\n\n{subjects}', values)).toBe(
      'Land 2 on main: cart, search\n\n- cart: add it',
    );
  });

  it('does not read a field out of the text of an agent', () => {
    expect(renderMessage('{subjects}', { ...values, subjects: '{target} {{' })).toBe('{target} {{');
  });

  it('keeps braces that are doubled or empty', () => {
    expect(renderMessage('{{count}} {} {a b} }}', values)).toBe('{count} {} {a b} }');
  });
});

describe('findUnknownFields', () => {
  it('names what means nothing, once', () => {
    expect(findUnknownFields('{source} {count} {source} {{not}} {toString}')).toEqual(['source', 'toString']);
  });
});
