import { expect, test } from 'vitest';

import { makeInstance } from './json-schema.ts';
import { calculate, replyTo } from './reply.ts';
import { findBannedWord } from './text.ts';

const reply = (user: string, system = '') => replyTo({ system, user });

test.each([
  ['what is 2+3*4?', 14],
  ['(2+3)*4', 20],
  ['2^3^2 =', 512],
  ['calculate -3 * -(2 - 5)', -9],
  ['10 ÷ 4', 2.5],
])('calculates %s', (text, value) => {
  expect(calculate(text)).toBe(value);
});

test.each(['1/0', '2+', '(1+2', 'hello', '12', '1 2 3', '3 apples + 4', '('.repeat(150)])(
  'sees that %s is no sum',
  (text) => {
    expect(calculate(text)).toBeNull();
  },
);

const STORY =
  'The lighthouse stood alone on the cliff above the sea. Every night the keeper lit the lamp of the lighthouse. ' +
  'A cake was baked in town. The ships at sea looked for the lamp of the lighthouse every night. ' +
  'Somebody bought new shoes on Tuesday.';

test('summarises with the sentences that belong together, in their order', () => {
  const summary = reply(`Summarise this: ${STORY}`);
  expect(summary).toMatch(/^The lighthouse stood.*keeper lit.*ships at sea/);
  expect(summary).not.toContain('shoes');
  expect(reply(STORY, 'You summarize what the user sends.')).toBe(summary);
});

test('lists keywords, most frequent first', () => {
  expect(reply(`Keywords: ${STORY}`).split(', ')[0]).toBe('lighthouse');
});

test('expands an image prompt, asked by the user or by the system', () => {
  const expanded = reply('Improve this prompt: a red boat.');
  expect(expanded).toMatch(/^a red boat, .*sea setting/);
  expect(reply('a red boat', 'Rewrite the prompt of the user for an image model.')).toMatch(
    /^a red boat, .*sea setting/,
  );
});

test('does not claim to be more than it is', () => {
  expect(reply('Write me a poem')).toContain('not a language model');
});

test('finds banned words as whole words only', () => {
  expect(findBannedWord('A Nude, please')).toBe('nude');
  expect(findBannedWord('nudeness of the gorey kind')).toBeNull();
});

/** As pydantic and zod write nested and recursive types. */
const NESTED = {
  $defs: {
    Node: {
      type: 'object',
      properties: {
        count: { type: 'integer' },
        next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] },
      },
      required: ['count', 'next'],
    },
  },
  type: 'object',
  properties: {
    first: { $ref: '#/$defs/Node' },
    list: { type: 'array', items: { $ref: '#/$defs/Node' } },
    kind: { oneOf: [{ const: 'a' }, { const: 'b' }] },
    loop: { $ref: '#/properties/loop' },
  },
  required: ['first', 'list', 'kind', 'loop'],
};

test('fills a schema that refers to its own parts, as deep as it may, with whole numbers where they are asked for', () => {
  interface Node {
    readonly count: number;
    readonly next: Node | null;
  }
  const made = makeInstance(NESTED, '2.5 foxes') as unknown as {
    readonly first: Node;
    readonly list: readonly Node[];
    readonly kind: string;
  };
  expect(made).toMatchObject({ first: { count: 2 }, list: [{ count: 2 }], kind: 'a' });
  let last = made.first;
  while (last.next !== null) last = last.next;
  expect(last).toEqual({ count: 2, next: null });
});
