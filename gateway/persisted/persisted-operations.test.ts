import { createHash } from 'node:crypto';

import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createPersistedOperations, type PersistedOptions, readManifest } from './persisted-operations.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function persisted(options: Partial<PersistedOptions> = {}) {
  const logged: unknown[] = [];
  const made = createPersistedOperations({
    operations: [{ id: 'one', body: '{ one }', name: 'One' }],
    mode: 'allow',
    isAutomatic: false,
    logger: { ...silentLogger(), info: (fields: object | string) => void logged.push(fields) },
    ...options,
  });
  const named = (sha256Hash: unknown, rest: object = {}) =>
    made.expand({ extensions: { persistedQuery: { version: 1, sha256Hash } }, ...rest });
  const readCode = (answer: unknown) => (answer instanceof GraphQLError ? answer.extensions['code'] : answer);
  return { ...made, named, codeOf: readCode, logged };
}

describe('a request that names its operation', () => {
  it('gets the text of the manifest, and keeps the rest', () => {
    const { named } = persisted();
    expect(named('one', { variables: { a: 1 } })).toEqual({ query: '{ one }', variables: { a: 1 } });
    // The text of the manifest, whatever was sent with the hash.
    expect(named('one', { query: '{ other }' })).toEqual({ query: '{ one }' });
    const { expand } = persisted();
    const extensions = { persistedQuery: { sha256Hash: 'one' }, trace: true };
    expect(expand({ extensions, operationName: 'A' })).toEqual({
      query: '{ one }',
      operationName: 'A',
      extensions: { trace: true },
    });
  });

  it('is the same where it names none', () => {
    const { expand } = persisted();
    const bodies = [
      null,
      'text',
      {},
      { query: '{ a }' },
      { extensions: null },
      { extensions: { persistedQuery: null } },
      { extensions: { persistedQuery: { sha256Hash: 7 } } },
    ];
    for (const body of bodies) expect(expand(body)).toBe(body);
  });

  it('sends its text once where texts are kept, under its own hash', () => {
    const { named, codeOf: readCode } = persisted({ isAutomatic: true });
    const text = '{ automatic }';
    expect(readCode(named(sha256(text)))).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(readCode(named(sha256(text), { query: '' }))).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(readCode(named(sha256('{ else }'), { query: text }))).toBe('BAD_REQUEST');
    expect(named(sha256(text), { query: text })).toEqual({ query: text });
    expect(named(sha256(text), { variables: null })).toEqual({ query: text, variables: null });
    expect(readCode(named(sha256('{ else }')))).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  it('is told that nothing is kept, or that only the manifest is taken', () => {
    const off = persisted();
    expect(off.codeOf(off.named('unknown'))).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
    // A text that came along is taken as it is.
    expect(off.named('unknown', { query: '{ a }' })).toEqual({ query: '{ a }' });
    const only = persisted({ mode: 'only', isAutomatic: true });
    expect(only.codeOf(only.named('unknown'))).toBe('PERSISTED_QUERY_NOT_IN_LIST');
    const text = '{ automatic }';
    only.named(sha256(text), { query: text });
    expect(only.codeOf(only.named(sha256(text)))).toBe('PERSISTED_QUERY_NOT_IN_LIST');
  });
});

describe('a text that is not in the manifest', () => {
  it('may be sent, is refused, or is logged once, as the mode says', () => {
    expect([persisted().findRefusal('{ a }'), persisted().logged]).toEqual([null, []]);
    const only = persisted({ mode: 'only' });
    expect([only.codeOf(only.findRefusal('{ a }')), only.findRefusal('{ one }')]).toEqual([
      'PERSISTED_QUERY_NOT_IN_LIST',
      null,
    ]);
    const log = persisted({ mode: 'log' });
    const long = `{ ${'a '.repeat(600)} }`;
    expect([long, long, '{ b }', '{ one }'].map(log.findRefusal)).toEqual([null, null, null, null]);
    expect(log.logged).toEqual([{ query: long.slice(0, 500) }, { query: '{ b }' }]);
  });
});

it('a manifest is read as Apollo writes it, or says what is wrong', () => {
  const read = (value: unknown) => readManifest(JSON.stringify(value), 'ops.json');
  const operations = [
    { id: '1', body: '{ a }', name: 'A', type: 'query' },
    { id: '2', body: '{ b }' },
  ];
  const expected = [
    { id: '1', body: '{ a }', name: 'A' },
    { id: '2', body: '{ b }', name: undefined },
  ];
  expect(read({ format: 'apollo-persisted-query-manifest', version: 1, operations })).toEqual(expected);
  expect(read({ operations })).toEqual(expected);
  const refused = [
    [{ format: 'other', operations }, 'ops.json format '],
    [{}, 'ops.json operations '],
    [{ operations: [{ id: '', body: 'x' }] }, 'ops.json operations.0.id '],
    [{ operations: [{ id: 'x', body: '' }] }, 'ops.json operations.0.body '],
  ] as const;
  for (const [value, message] of refused)
    expect(() => read(value)).toThrow(
      expect.objectContaining({ code: 'NOT_CONFIGURED', message: expect.stringContaining(message) }),
    );
  expect(() => readManifest('{', 'ops.json')).toThrow('persistedOperations.manifest: ops.json is no JSON');
});
