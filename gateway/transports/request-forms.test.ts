import type { RequestHandler } from 'express';
import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import { readFacts } from '../../platform/http/server.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createErrorFormatter } from '../request/errors.ts';
import { attachContext } from '../request/request-context.ts';
import { answerBatches, expandPersisted } from './request-forms.ts';

const caller = anonymousCaller('trace', null);
const errors = createErrorFormatter({ logger: silentLogger(), suggestions: false });

/** What a handler makes of a request: its answer, or the request as it goes on. */
async function handled(handler: RequestHandler, given: object, seen: object = {}) {
  const request = { method: 'POST', headers: {}, ...given };
  const answer: { status: number; body?: unknown; cache?: string | undefined } = { status: 200 };
  const response = Object.assign(seen, {
    getHeader: () => undefined,
    ...seen,
    once: () => response,
    status: (status: number) => ((answer.status = status), response),
    set: (_: string, value: string) => ((answer.cache = value), response),
    json: (body: unknown) => void (answer.body = body),
  });
  attachContext(request as never, response as never, caller);
  let isNext = false;
  await handler(request as never, response as never, () => (isNext = true));
  return isNext ? Object.fromEntries(Object.entries(request)) : answer;
}

describe('a list of operations', () => {
  const KINDS: Readonly<Record<string, string>> = {
    follow: 'subscription',
    start: 'mutation',
    cancel: 'mutation',
  };
  const admitted: unknown[] = [];
  const handler = (maxBatch: number, expand?: (body: unknown) => unknown) =>
    answerBatches(
      {
        errors,
        expand,
        admission: {
          async admit({ query }: { readonly query: string }, asking: unknown, isCounted: boolean) {
            admitted.push([query, asking === caller, isCounted]);
            if (query === 'refused') return { errors: [codedError('RATE_LIMITED', 'too many')] };
            const kind = KINDS[query] ?? 'query';
            return { operation: { kind, fields: [`${query} it`] } };
          },
        },
        federation: {
          async execute({ query, context }: { readonly query: string; readonly context: object }) {
            return query === 'fails'
              ? { data: null, errors: [codedError('NOT_FOUND', 'none')] }
              : { data: { query, isOfCaller: (context as { caller: unknown }).caller === caller } };
          },
        },
      } as never,
      maxBatch,
    );
  const failure = (code: string, message: unknown = expect.any(String), more = {}) => ({
    errors: [{ message, extensions: { code, ...more } }],
  });

  it('is answered in its order, each by itself; the first one was counted', async () => {
    const body = ['a', 'refused', 'follow', 'fails'].map((query) => ({ query }));
    expect(await handled(handler(9), { body: [...body, 7] })).toEqual({
      status: 200,
      body: [
        { data: { query: 'a', isOfCaller: true } },
        failure('RATE_LIMITED', 'too many'),
        failure('BAD_REQUEST', expect.stringContaining('a subscription needs a transport that stays open')),
        { data: null, ...failure('NOT_FOUND', 'none') },
        failure('BAD_REQUEST', 'send a JSON object with a query'),
      ],
    });
    expect(admitted.splice(0)).toEqual([
      ['a', true, true],
      ['refused', true, false],
      ['follow', true, false],
      ['fails', true, false],
    ]);
  });

  it('is not kept where one of them has errors, whatever a subgraph said of keeping it', async () => {
    for (const [query, kept] of [
      ['a', 'max-age=60'],
      ['fails', 'no-store'],
    ] as const) {
      const headers = new Map<string, string>([['cache-control', 'max-age=60']]);
      const seen = {
        getHeader: (name: string) => headers.get(name),
        setHeader: (name: string, value: string) => void headers.set(name.toLowerCase(), value),
      };
      await handled(handler(9), { body: [{ query: 'a' }, { query }] }, seen);
      expect(headers.get('cache-control')).toBe(kept);
    }
    admitted.length = 0;
  });

  it('is logged with all that it changes', async () => {
    const response = {};
    await handled(handler(9), { body: ['start', 'a', 'cancel'].map((query) => ({ query })) }, response);
    expect(readFacts(response as never)).toEqual({ changes: ['start it', 'cancel it'] });
    admitted.length = 0;
  });

  it('has an operation, and at most as many as are allowed', async () => {
    expect(await handled(handler(2), { body: [] })).toEqual({
      status: 400,
      body: failure('BAD_REQUEST', 'the list has no operation'),
    });
    const three = [{ query: 'a' }, { query: 'b' }, { query: 'c' }];
    expect(await handled(handler(2), { body: three })).toEqual({
      status: 400,
      body: failure('QUERY_REFUSED', undefined, { limit: 'batch', allowed: 2, found: 3 }),
    });
    expect(await handled(handler(3), { body: three })).toMatchObject({ status: 200 });
  });

  it('may name operations by their hashes; what is no list goes on', async () => {
    const expand = (body: unknown) => (body === 'hash' ? { query: 'text' } : body);
    expect(await handled(handler(2, expand), { body: ['hash'] })).toMatchObject({
      body: [{ data: { query: 'text' } }],
    });
    const [one, got] = [{ body: { query: 'a' } }, { method: 'GET', body: [{ query: 'a' }] }];
    expect(await handled(handler(2), one)).toMatchObject(one);
    expect(await handled(handler(2), got)).toMatchObject(got);
  });
});

describe('a hash in the place of a text', () => {
  const seen: unknown[] = [];
  const expanding = (after?: unknown) =>
    expandPersisted((body) => {
      seen.push(body);
      return after ?? body;
    }, errors);
  const extensions = { persistedQuery: { sha256Hash: 'x' } };
  const search = `extensions=${encodeURIComponent(JSON.stringify(extensions))}&variables=%7B%7D`;
  const get = { method: 'GET', url: `/?${search}`, originalUrl: `/kiln/graphql?${search}` };

  it('is replaced in a body, and in an address, which needs no header against forged requests then', async () => {
    const text = { query: '{ a }' };
    expect(await handled(expanding(text), { body: { extensions } })).toMatchObject({ body: text });
    expect(await handled(expanding(text), get)).toEqual({
      method: 'GET',
      url: '/?variables=%7B%7D&query=%7B+a+%7D',
      originalUrl: '/kiln/graphql?variables=%7B%7D&query=%7B+a+%7D',
      headers: { 'apollo-require-preflight': 'persisted' },
    });
    const headers = { 'apollo-require-preflight': 'own' };
    expect(await handled(expanding(text), { ...get, headers })).toMatchObject({ headers });
    expect(seen.splice(0)).toEqual([
      { extensions },
      { extensions, query: undefined },
      { extensions, query: undefined },
    ]);
  });

  it('is told to be unknown in a way that clients send the text then, and nothing else is changed', async () => {
    const unknown = new GraphQLError('no such', { extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } });
    expect(await handled(expanding(unknown), { body: { extensions } })).toEqual({
      status: 200,
      cache: 'no-store',
      body: { errors: [{ message: 'no such', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] },
    });
    const plain = { ...get, url: '/?query=%7Ba%7D', originalUrl: '/graphql?query=%7Ba%7D' };
    expect(await handled(expanding(), plain)).toEqual({ ...plain, headers: {} });
    expect(await handled(expanding(), { body: { query: '{ a }' } })).toMatchObject({ headers: {} });
    expect(seen.splice(1, 1)).toEqual([{ extensions: undefined, query: '{a}' }]);
  });
});
