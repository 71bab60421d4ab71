import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import { type ExecutionResult, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { unreadAnswer } from '../../platform/graphql/operations/answers.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import { readFacts } from '../../platform/http/server.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createErrorFormatter } from '../request/errors.ts';
import { attachContext } from '../request/request-context.ts';
import { chooseAnswerType, createHttpOperations, isOnlyOperation } from './http-operations.ts';

const caller = anonymousCaller('trace', null);
const errors = createErrorFormatter({ logger: silentLogger(), suggestions: false });
const OPERATION = { query: '{ a }', operationName: undefined, variables: {} };
const PARTS = 'multipart/mixed;deferSpec=20220824';
const JSON_TYPE = 'application/json; charset=utf-8';
const ADMITTED = { kind: 'query', fields: ['a'] };

interface Asked {
  readonly verdict?: object;
  readonly result?: ExecutionResult | AsyncGenerator;
  readonly accept?: string;
  readonly run?: { readonly answerType: string } | 'elsewhere';
  readonly acceptsMultipart?: boolean;
  readonly isGone?: boolean;
  /** Whether no stream is left. */
  readonly isFull?: boolean;
  readonly query?: string;
  readonly isOverLimit?: boolean;
}

/** What becomes of an operation that was sent by HTTP. */
function serving(given: Asked = {}) {
  const { verdict = { operation: ADMITTED }, result = { data: { a: 1 } }, accept = '*/*' } = given;
  const sent = { ...OPERATION, ...(given.query !== undefined && { query: given.query }) };
  const seen: unknown[] = [];
  const written: unknown[] = [];
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', headers: { accept } });
  const response = new ServerResponse(request);
  response.write = ((...words: unknown[]) => written.push(words) > 0) as never;
  response.end = ((...words: unknown[]) => (written.push(words), response)) as never;
  response.flushHeaders = () => void written.push('head');
  attachContext(request, response, caller);
  if (given.isGone === true) response.destroyed = true;
  const rateLimiter = {
    take: async (_: unknown, rateClass: string) => ({
      allowed: given.isOverLimit !== true,
      limit: 5,
      remaining: rateClass === 'read' ? 4 : 0,
      resetSeconds: 9,
      retryAfter: given.isOverLimit === true ? 7 : 0,
    }),
  };
  const ran =
    (how: string) =>
    async ({
      query,
      context,
    }: {
      readonly query: string;
      readonly context: { readonly caller: unknown };
    }) => {
      seen.push([how, query, context.caller === caller]);
      return result;
    };
  const operations = createHttpOperations({
    errors,
    rateLimiter,
    admission: {
      async admit(operation: unknown, asking: unknown, isCounted: unknown) {
        seen.push(['admit', operation === sent, asking === caller, isCounted]);
        return verdict;
      },
    },
    federation: { execute: ran('run'), executeInParts: ran('run in parts') },
    compression: {
      beforeHead: () => void seen.push('before head'),
      afterHead: (_request: unknown, _response: unknown, bytes: number) =>
        void seen.push(['after head', bytes]),
    },
    multipart: {
      accepts: () => given.acceptsMultipart === true,
      stream: async (...words: readonly unknown[]) => void seen.push(['stream', ...words.slice(2)]),
    },
    reserveParts(...asked: readonly unknown[]) {
      seen.push(['reserve', asked[0] === request, asked[1] === response]);
      if (given.isFull === true) return null;
      return async (parts: unknown) => void seen.push(['parts', parts]);
    },
  } as never);
  const exchange = { request, response, path: '/graphql' };
  const serve = async () => {
    const isServed = await operations.serve(exchange, sent, given.run ?? { answerType: 'text/x' });
    expect(seen.shift()).toEqual(['admit', true, true, true]);
    const [text] = (written.find((part) => Array.isArray(part)) ?? []) as readonly unknown[];
    const body: unknown = typeof text === 'string' ? JSON.parse(text) : null;
    const header = (name: string) => response.getHeader(name);
    return { isServed, seen, written, body, status: response.statusCode, response, header };
  };
  return { serve, count: () => operations.count(exchange), seen, written, response };
}

describe('an operation by HTTP', () => {
  it('is run for its caller and answered in a line, whose bytes are counted', async () => {
    const { isServed, seen, written, status, header } = await serving().serve();
    expect([isServed, status, seen]).toEqual([
      true,
      200,
      [
        ['run', '{ a }', true],
        ['after head', 17],
      ],
    ]);
    expect([written, header('content-type'), header('content-length')]).toEqual([
      [['{"data":{"a":1}}\n', 'latin1']],
      'text/x',
      17,
    ]);
    const wide = await serving({ result: { data: { a: 'ä' } } }).serve();
    const bytes = Buffer.from('{"data":{"a":"ä"}}');
    const passed = await serving({ result: unreadAnswer(bytes) ?? {} }).serve();
    expect([passed.written, passed.header('content-length'), passed.header('content-type')]).toEqual([
      [[`${bytes.toString('latin1')}\n`, 'latin1']],
      20,
      'text/x',
    ]);
    expect(passed.seen.at(-1)).toEqual(['after head', 20]);
    expect([wide.written, wide.header('content-length')]).toEqual([[['{"data":{"a":"ä"}}\n', 'utf8']], 20]);
  });

  it('is answered in three parts where the answer is long, and not where the client has left', async () => {
    const long = (length: number) => serving({ result: { data: 'x'.repeat(length - 11) as never } }).serve();
    expect((await long(16_383)).written).toHaveLength(1);
    const { written } = await long(16_384);
    expect(written).toEqual(['head', [expect.stringMatching(/^\{"data":"x+"\}$/), 'latin1'], ['\n']]);
    expect((await serving({ isGone: true }).serve()).written).toEqual([]);
  });

  it.each([
    [200, { data: null, errors: [codedError('NOT_FOUND', 'none')] }],
    [400, { errors: [codedError('BAD_USER_INPUT', 'wrong')] }],
    [200, { data: { a: 1 }, errors: [] }],
    [418, { data: null, errors: [http({ status: 418 })] }],
    [
      418,
      { data: null, errors: [http({ status: 420 }), http({ status: 418 }), codedError('NOT_FOUND', 'x')] },
    ],
    [200, { data: null, errors: [http({ status: 418, headers: {} }), http({ status: 'x' })] }],
    [503, { data: null, errors: [codedError('UNAVAILABLE', 'away')] }],
  ] as const)('is answered with the status %i where it is due', async (status, result) => {
    const answer = await serving({ result: result as ExecutionResult }).serve();
    expect(answer.status).toBe(status);
    expect(answer.header('retry-after')).toBe(status === 503 ? '2' : undefined);
    expect(answer.body).toMatchObject(
      'data' in result ? { data: result.data } : { errors: [{ message: 'wrong' }] },
    );
  });

  it('with errors is not kept, whatever a subgraph said of keeping it', async () => {
    for (const [errors, kept] of [
      [[], 'max-age=60'],
      [[codedError('NOT_FOUND', 'none')], 'no-store'],
    ] as const) {
      const asked = serving({ result: { data: { a: null }, errors } });
      asked.response.setHeader('cache-control', 'max-age=60');
      expect((await asked.serve()).header('cache-control')).toBe(kept);
    }
    const failed = serving({ result: { errors: [codedError('NOT_FOUND', 'none')] } });
    expect((await failed.serve()).header('cache-control')).toBeUndefined();
  });

  it('says when to come back, also where there is data, and shows errors and extensions', async () => {
    const limited = codedError('RATE_LIMITED', 'later', { retryAfter: 9 });
    const { header, body, status } = await serving({
      result: { data: { a: null }, errors: [limited], extensions: { x: 1 } },
    }).serve();
    const soon = codedError('RATE_LIMITED', 'soon', { retryAfter: 1 });
    const other = await serving({ result: { data: { a: null }, errors: [soon] } }).serve();
    expect(other.header('retry-after')).toBe('1');
    expect([status, header('retry-after'), body]).toEqual([
      200,
      '9',
      {
        errors: [{ message: 'later', extensions: { code: 'RATE_LIMITED', retryAfter: 9 } }],
        data: { a: null },
        extensions: { x: 1 },
      },
    ]);
  });

  it('is refused as its verdict says, and told its rates else', async () => {
    const rate = { allowed: true, limit: 6, remaining: 5, resetSeconds: 4, retryAfter: 0 };
    const refusedRate = { ...rate, allowed: false, retryAfter: 3 };
    const refused = { errors: [codedError('RATE_LIMITED', 'too many')], status: 429, rate: refusedRate };
    const answer = await serving({ verdict: refused }).serve();
    expect([
      answer.isServed,
      answer.status,
      answer.header('retry-after'),
      answer.header('x-ratelimit-limit'),
    ]).toEqual([true, 429, '3', '6']);
    expect([answer.seen, answer.body]).toEqual([
      ['before head'],
      { errors: [{ message: 'too many', extensions: { code: 'RATE_LIMITED' } }] },
    ]);
    const told = await serving({ verdict: { operation: ADMITTED, rate } }).serve();
    expect(told.header('x-ratelimit-remaining')).toBe('5');
    expect((await serving().serve()).header('x-ratelimit-remaining')).toBeUndefined();
  });

  it('is noted with what it changes, and may be run elsewhere', async () => {
    const mutation = { operation: { kind: 'mutation', fields: ['make'] } };
    const { isServed, response, seen, written } = await serving({
      verdict: mutation,
      run: 'elsewhere',
    }).serve();
    expect([isServed, readFacts(response).changes, seen, written]).toEqual([false, ['make'], [], []]);
    expect(readFacts((await serving().serve()).response).changes).toBeUndefined();
  });

  it('is followed by clients that accept that, and else told how', async () => {
    const verdict = { operation: { kind: 'subscription', fields: ['told'] } };
    const followed = await serving({ verdict, acceptsMultipart: true }).serve();
    expect([followed.isServed, followed.seen]).toEqual([
      true,
      ['before head', ['stream', OPERATION, verdict.operation]],
    ]);
    const { status, body, isServed } = await serving({ verdict }).serve();
    expect([isServed, status, body]).toMatchObject([
      true,
      406,
      { errors: [{ extensions: { code: 'BAD_REQUEST' } }] },
    ]);
  });

  it('comes in parts where something of it is deferred, else at once, as the client asks', async () => {
    const parts = (async function* () {})();
    const query = '{ ...@defer { a } }';
    const deferred = await serving({ accept: PARTS, query, result: parts, run: 'elsewhere' }).serve();
    expect([deferred.isServed, deferred.seen]).toEqual([
      true,
      [['reserve', true, true], ['run in parts', query, true], 'before head', ['parts', parts]],
    ]);
    const full = await serving({ accept: PARTS, query, isFull: true, run: 'elsewhere' }).serve();
    expect([full.body, full.seen]).toEqual([
      { data: { a: 1 } },
      [
        ['reserve', true, true],
        ['run', query, true],
        ['after head', 17],
      ],
    ]);
    const [plain, graphql] = [PARTS, `${PARTS}, application/graphql-response+json`];
    expect((await serving({ accept: plain }).serve()).header('content-type')).toBe(JSON_TYPE);
    expect((await serving({ accept: graphql }).serve()).header('content-type')).toBe(
      'application/graphql-response+json; charset=utf-8',
    );
  });

  it('is counted as a read, once, and refused beyond the limit', async () => {
    const { count, seen, written, response } = serving();
    expect([await count(), seen, written, response.getHeader('x-ratelimit-remaining')]).toEqual([
      true,
      [],
      [],
      '4',
    ]);
    const over = serving({ isOverLimit: true });
    expect([await over.count(), over.seen, over.response.statusCode]).toEqual([false, ['before head'], 429]);
  });
});

function http(facts: object): GraphQLError {
  return new GraphQLError('x', { extensions: { code: 'X', http: facts } });
}

it.each([
  [undefined, JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/json', JSON_TYPE],
  ['application/graphql-response+json, application/json', 'application/graphql-response+json; charset=utf-8'],
  ['text/html', undefined],
])('a POST that accepts %s is answered with %s', (accept, type) => {
  expect(chooseAnswerType({ method: 'POST', headers: { accept } } as IncomingMessage)).toBe(type);
  expect(chooseAnswerType({ method: 'GET', headers: { accept } } as IncomingMessage)).toBeUndefined();
});

it('a body asks for its operation alone where it names neither an empty operation nor extensions', () => {
  expect([{}, { operationName: 'A' }, { operationName: null }].map(isOnlyOperation)).toEqual([
    true,
    true,
    true,
  ]);
  expect([{ operationName: '' }, { extensions: {} }, { extensions: null }].map(isOnlyOperation)).toEqual([
    false,
    false,
    false,
  ]);
});
