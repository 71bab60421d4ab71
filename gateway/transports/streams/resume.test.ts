import { buildSchema, type ExecutionResult, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';

import { createStreamMemory, type EventId, parseEventId, takeEventId } from './resume.ts';

const schema = buildSchema(`
  type Query { a: Int }
  type Entry { seq: Int! text: String }
  type Told { cursor: String! text: String }
  interface Numbered { seq: Int! }
  type Subscription {
    entries(id: ID, afterSeq: Int): Entry
    numbered(afterSeq: Int): Numbered
    number(afterSeq: Int): Int
    unnumbered(afterSeq: Int): Told
    told(after: String, since: DateTime): Told
    chatStream(afterSeq: Int): Entry
    paymentUpdated(id: ID): Told
    once: Int
  }
  scalar DateTime
`);

function memory(
  query: string,
  options: { after?: EventId; variables?: object; operationName?: string } = {},
) {
  const document = parse(query);
  const { after, variables = {}, operationName } = options;
  const fields = [...query.matchAll(/chatStream|paymentUpdated/g)].map(([name]) => name);
  const request = { query, operationName, variables: { ...variables } };
  const made = createStreamMemory({ request, document, schema, fields, after });
  const next = () => {
    const asked = made.next();
    return asked && [print(parse(asked.query)).replaceAll(/\s+/g, ' '), asked.variables];
  };
  return { next, pass: (result: ExecutionResult) => made.pass(result) };
}

const event = (name: string, mark: object) => ({ data: { [name]: { text: 'x', ...mark } } });
const MARK = 'kilnResumeSeq: seq';

describe('a subscription to a log whose entries have numbers', () => {
  it('says where each event is, and goes on after the last that its client has', () => {
    const { next, pass } = memory('subscription { entries(id: "1") { text } }');
    expect(next()).toEqual([`subscription { entries(id: "1") { text ${MARK} } }`, {}]);
    const result = event('entries', { kilnResumeSeq: 7 });
    expect(pass(result)).toBe(result);
    pass({ errors: [] });
    const again = `subscription ($kilnResumeAfter: Int) { entries(id: "1", afterSeq: $kilnResumeAfter) { text ${MARK} } }`;
    expect(next()).toEqual([again, { kilnResumeAfter: 7 }]);
  });

  it('goes on after what the client itself says, in its own variable where that stands nowhere else', () => {
    const own = 'subscription ($n: Int) { entries(afterSeq: $n) { text } }';
    expect(memory(own, { after: 3, variables: { n: 1 } }).next()).toEqual([
      `subscription ($n: Int) { entries(afterSeq: $n) { text ${MARK} } }`,
      { n: 3 },
    ]);
    const twice = 'subscription ($n: Int) { entries(afterSeq: $n) { text } x: number(afterSeq: $n) }';
    expect(memory(twice, { after: 3, variables: { n: 1 } }).next()?.[1]).toEqual({
      n: 1,
      kilnResumeAfter: 3,
    });
    const literal = 'subscription { entries(afterSeq: 1, id: "1") { text } }';
    expect(memory(literal, { after: 3 }).next()?.[0]).toContain(
      'entries(id: "1", afterSeq: $kilnResumeAfter)',
    );
    // A cursor is none of its places.
    expect(memory(literal, { after: 'pabc' }).next()?.[1]).toEqual({});
  });

  it('is found in fragments, in the operation that is asked, and by its interface', () => {
    const text = `subscription A { ...F ... on Subscription { numbered { seq } } } subscription B { once }
      fragment F on Subscription { entries { ...G } } fragment G on Entry { text }`;
    const [made] = memory(text, { operationName: 'A' }).next() ?? [];
    expect(made).toContain(`fragment F on Subscription { entries { ...G ${MARK} } }`);
    expect(made).toContain(`numbered { seq ${MARK} }`);
    expect(made).not.toContain('subscription B');
    expect(memory(text, { operationName: 'B', after: 3 }).next()).toEqual([text.replaceAll(/\s+/g, ' '), {}]);
  });
});

describe('a subscription to many logs', () => {
  it('goes on after its last cursor, and from when it began while it has none', () => {
    const { next, pass } = memory('subscription { told { text } }');
    const mark = 'kilnResumeCursor: cursor';
    expect(next()).toEqual([`subscription { told { text ${mark} } }`, {}]);
    const [since, variables] = next() ?? [];
    expect(since).toContain('subscription ($kilnResumeSince: DateTime) { told(since: $kilnResumeSince)');
    expect(Date.now() - Date.parse(Object(variables).kilnResumeSince)).toBeLessThan(60_000);
    pass(event('told', { kilnResumeCursor: 'pabc' }));
    expect(next()?.[1]).toEqual({ kilnResumeFrom: 'pabc' });
    const resumed = memory('subscription { told { text } }', { after: 'pxyz' });
    expect([resumed.next()?.[1], resumed.next()?.[1]]).toEqual(
      [1, 2].map(() => ({ kilnResumeFrom: 'pxyz' })),
    );
    expect(memory('subscription { told { text } }', { after: 3 }).next()?.[1]).toEqual({});
  });
});

describe('other subscriptions', () => {
  it.each(['once', 'number', 'unnumbered { text }'])('%s do not go on', (field) => {
    const { next, pass } = memory(`subscription { ${field} }`, { after: 3 });
    const result = { data: { once: 1 } };
    expect([next()?.[1], pass(result), next()]).toEqual([{}, result, null]);
  });

  it('that are paid go on when their work is known to have begun', () => {
    const { next, pass } = memory('subscription { chatStream { text } }');
    expect([next()?.[1], next()]).toEqual([{}, null]);
    pass(event('chatStream', { kilnResumeSeq: 1 }));
    expect(next()?.[1]).toEqual({ kilnResumeAfter: 1 });
  });

  it('that tell a thing as it is tell it again when it is another one', () => {
    const { next, pass } = memory('subscription { paymentUpdated { text } }');
    expect([next()?.[1], next()?.[1]]).toEqual([{}, {}]);
    const told = (text: string) => pass(event('paymentUpdated', { text }))?.data?.['paymentUpdated'];
    expect([told('a'), told('a'), told('b'), told('a')]).toEqual([
      { text: 'a' },
      undefined,
      { text: 'b' },
      { text: 'a' },
    ]);
  });
});

it('an event loses our alias, which is its id', () => {
  expect(takeEventId(event('a', { kilnResumeSeq: 0 }))).toEqual({ result: event('a', {}), id: 0 });
  expect(takeEventId(event('a', { kilnResumeCursor: 'p1' }))).toEqual({ result: event('a', {}), id: 'p1' });
  expect(takeEventId(event('a', { kilnResumeSeq: null }))).toEqual({ result: event('a', {}), id: undefined });
  const plain = { data: { a: null, b: 1, c: { seq: 2 } }, extensions: { x: 1 } };
  expect(takeEventId(plain)).toEqual({ result: plain, id: undefined });
  const failed = { errors: [], data: null };
  expect(takeEventId(failed).result).toBe(failed);
});

it.each([
  ['0', 0],
  ['2147483647', 2_147_483_647],
  ['2147483648', undefined],
  ['12345678901', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['pAb-_9', 'pAb-_9'],
  ['p', undefined],
  ['p a', undefined],
  ['xAb', undefined],
  [`p${'x'.repeat(7_999)}`, `p${'x'.repeat(7_999)}`],
  [`p${'x'.repeat(8_000)}`, undefined],
  ['', undefined],
  [undefined, undefined],
])('Last-Event-ID %s is %s', (header, id) => {
  expect(parseEventId(header)).toBe(id);
});
