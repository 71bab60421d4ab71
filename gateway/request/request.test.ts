import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { GraphQLError, Kind, Source } from 'graphql';
import ipaddr from 'ipaddr.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { noteAnswered, noteWhole } from '../../platform/graphql/operations/answers.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { findTakenBody, peekBody, takeBody, whenTooLarge } from './body.ts';
import { createTrust, findClientAddress } from './client-address.ts';
import { createErrorFormatter, findRetryAfter, findUnavailable } from './errors.ts';
import { inOrder, prefersHtml, type Step } from './steps.ts';

describe('the address of a client', () => {
  const findAddress = (remoteAddress: string | undefined, forwarded: string | undefined, trusted: string[]) =>
    findClientAddress(
      { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } } as never,
      createTrust(trusted),
    );

  it.each([
    ['192.0.2.1', '198.51.100.7', [], '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', ['192.0.2.1'], '198.51.100.7'],
    ['::ffff:192.0.2.1', '198.51.100.7', ['192.0.2.0/24'], '198.51.100.7'],
    ['192.0.3.1', '198.51.100.7', ['192.0.2.0/24'], '192.0.3.1'],
    ['192.0.2.1', '203.0.113.9, 198.51.100.7', ['192.0.2.0/24'], '198.51.100.7'],
    ['192.0.2.1', '203.0.113.9, 192.0.2.2', ['192.0.2.0/24'], '203.0.113.9'],
    ['192.0.2.1', '192.0.2.3, 192.0.2.2', ['192.0.2.0/24'], '192.0.2.3'],
    ['192.0.2.1', 'unknown, 192.0.2.2', ['192.0.2.0/24'], '192.0.2.2'],
    ['192.0.2.1', '198.51.100.7:4711', ['192.0.2.1'], '198.51.100.7'],
    ['::1', '[2001:db8::1]:4711', ['::1'], '2001:db8::1'],
    ['::1', '[2001:db8::1]', ['::1/128'], '2001:db8::1'],
    ['::2', '2001:db8::1', ['::1'], '::2'],
    ['::1', '2001:db8::1', ['127.0.0.1'], '::1'],
    ['192.0.2.1', undefined, ['192.0.2.1'], '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, [], '192.0.2.1'],
    ['no address', undefined, ['192.0.2.1'], 'no address'],
    [undefined, '198.51.100.7', ['192.0.2.1'], null],
  ] as const)('%s with %s behind %j is %s', (remote, forwarded, trusted, expected) => {
    expect(findAddress(remote, forwarded, [...trusted])).toBe(expected);
  });

  it('is read once for a connection, until another client comes through it', () => {
    const read = vi.spyOn(ipaddr, 'process');
    onTestFinished(() => read.mockRestore());
    const socket = { remoteAddress: '::ffff:192.0.2.1' };
    const find = (remoteAddress: string) =>
      findClientAddress(
        { headers: {}, socket: Object.assign(socket, { remoteAddress }) } as never,
        () => false,
      );
    const addresses = ['::ffff:192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2', '::ffff:192.0.2.2'];
    expect(addresses.map(find)).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2']);
    expect(read).toHaveBeenCalledTimes(2);
  });
});

describe('errors for callers', () => {
  const logged: unknown[] = [];
  const logger = { ...silentLogger(), error: (fields: object | string) => void logged.push(fields) };
  const format = (thrown: unknown, suggestions = false) =>
    createErrorFormatter({ logger, suggestions }).formatError(thrown, 'trace');
  const coded = (code: unknown, more: object = {}, message = 'why') =>
    new GraphQLError(message, { extensions: { code, ...more } });

  it('keep what is public of those with a code', () => {
    const budget = { left: 1 };
    expect(format(coded('NOT_FOUND', { field: 'id', budget, problems: undefined, secret: 1 }))).toEqual({
      message: 'why',
      extensions: { code: 'NOT_FOUND', field: 'id', budget },
    });
    const located = new GraphQLError('why', { path: ['a', 0], extensions: { code: 'X' }, source: null });
    expect(format(located)).toEqual({ message: 'why', path: ['a', 0], extensions: { code: 'X' } });
    const [source, positions] = [new Source('{ a }'), [2]];
    expect(format(new GraphQLError('why', { source, positions, extensions: { code: 'X' } }))).toEqual({
      message: 'why',
      locations: [{ line: 1, column: 3 }],
      extensions: { code: 'X' },
    });
    expect(logged).toEqual([]);
  });

  it('tell names of the schema only where they may', () => {
    const error = coded('X', {}, 'no "a". Did you mean "b" or "c"?');
    expect([format(error).message, format(error, true).message]).toEqual(['no "a".', error.message]);
  });

  it('are masked and logged once when nobody foresaw them', () => {
    const masked = { message: 'internal error', extensions: { code: 'INTERNAL', traceId: 'trace' } };
    const cause = new Error('secret');
    const all = [
      cause,
      'secret',
      new GraphQLError('secret'),
      coded('INTERNAL_SERVER_ERROR'),
      coded('DOWNSTREAM_SERVICE_ERROR'),
    ];
    for (const error of all) expect(format(error)).toMatchObject(masked);
    const entries = logged.splice(0) as { readonly error: Error }[];
    expect(entries.map(({ error }) => error.message)).toEqual(['secret', 'secret', 'secret', 'why', 'why']);
    expect(entries[0]?.error).toBe(cause);
    expect(format(new GraphQLError('secret', { path: ['a'], originalError: cause }))).toEqual({
      ...masked,
      path: ['a'],
    });
    expect(logged.splice(0)).toEqual([{ traceId: 'trace', error: cause, path: ['a'] }]);
    const inside = new GraphQLError('secret', { path: ['b'], extensions: { code: 'INTERNAL' } });
    expect(format(inside)).toEqual({ ...masked, path: ['b'] });
    expect(format(coded('INTERNAL', { traceId: 'there' }))).toMatchObject({
      extensions: { traceId: 'there' },
    });
    expect(format(coded('INTERNAL', { traceId: 7 }))).toEqual(masked);
    expect(logged).toEqual([]);
  });

  it('are those of the input for a variable that does not fit', () => {
    const node = (kind: Kind) => ({ kind }) as never;
    const error = (kinds: Kind[], more: object = {}) =>
      new GraphQLError('wrong', { nodes: kinds.map(node), ...more });
    expect(format(error([Kind.VARIABLE_DEFINITION])).extensions?.['code']).toBe('BAD_USER_INPUT');
    for (const other of [
      error([Kind.VARIABLE_DEFINITION, Kind.FIELD]),
      error([]),
      error([Kind.VARIABLE_DEFINITION], { originalError: new Error('x') }),
    ])
      expect(format(other).extensions?.['code']).toBe('INTERNAL');
    expect(logged.splice(0)).toHaveLength(3);
  });

  it('are whole where an operator lets callers see them, but for stack traces', () => {
    const error = noteWhole(coded('OTHER', { own: 1, stacktrace: [], exception: {} }));
    expect(format(error)).toEqual({ message: 'why', extensions: { code: 'OTHER', own: 1 } });
    const placed = new GraphQLError('why', { path: ['a'], extensions: { code: 'X' } });
    expect(format(noteWhole(placed))).toEqual({ message: 'why', path: ['a'], extensions: { code: 'X' } });
    expect(format(new GraphQLError('again', { originalError: error }))).toMatchObject({ message: 'again' });
    expect(logged).toEqual([]);
  });

  it('leave results without errors as they are', () => {
    const formatter = createErrorFormatter({ logger, suggestions: false });
    const data = { a: 1 };
    expect(formatter.formatResult({ data, errors: [] }, 't')).toEqual({ data });
    expect(formatter.formatResult({ data }, 't')).toEqual({ data });
    const { errors, ...rest } = formatter.formatResult(
      { data, errors: [coded('X')], extensions: { b: 1 } },
      't',
    );
    expect([errors?.length, rest]).toEqual([1, { data, extensions: { b: 1 } }]);
  });
});

describe('an answer', () => {
  const error = (code: string, retryAfter?: unknown) => ({ message: '', extensions: { code, retryAfter } });
  const away = error('UNAVAILABLE');

  it('is unavailable when all of it is missing because something is away', () => {
    const found = (data: unknown, errors: readonly ReturnType<typeof error>[]) =>
      findUnavailable({ data, errors })?.retryAfterSeconds ?? null;
    expect(found(null, [away])).toBe(2);
    expect(found({ a: null }, [away, error('UNAVAILABLE', 7), error('UNAVAILABLE', 3)])).toBe(7);
    expect(found(undefined, [error('UNAVAILABLE', 'soon')])).toBe(2);
    expect(found({ a: null, b: 0 }, [away])).toBeNull();
    expect(found(null, [away, error('NOT_FOUND')])).toBeNull();
    expect([found(null, []), findUnavailable({ data: null })]).toEqual([null, null]);
    expect(findUnavailable({ data: null, errors: [away] })?.status).toBe(503);
    const answered = { a: null };
    noteAnswered(answered);
    expect(found(answered, [away])).toBeNull();
  });

  it('asks to come back after the longest wait', () => {
    const limited = [error('RATE_LIMITED', 3), error('RATE_LIMITED', 9)];
    expect(findRetryAfter({ data: { a: 1 }, errors: limited })).toBe(9);
    expect([findRetryAfter({ data: {} }), findRetryAfter({ data: null, errors: [away] })]).toEqual([0, 2]);
  });
});

describe('steps', () => {
  const exchange = () => ({ request: {}, response: {}, path: '/' }) as never;
  const run = async (answers: readonly (boolean | Promise<boolean>)[]) => {
    const ran: number[] = [];
    const step = inOrder(
      ...answers.map(
        (answer, index): Step =>
          () => (ran.push(index), answer),
      ),
    );
    return [await step(exchange()), ran];
  };
  const later = (answer: boolean) => Promise.resolve(answer);

  it('run in their order until one has responded, whether they wait or not', async () => {
    expect(await run([true, later(true), true, later(true)])).toEqual([true, [0, 1, 2, 3]]);
    expect(await run([true, false, true])).toEqual([false, [0, 1]]);
    expect(await run([later(false), true])).toEqual([false, [0]]);
    expect(await run([later(true), true, later(false)])).toEqual([false, [0, 1, 2]]);
    expect(await run([])).toEqual([true, []]);
  });

  it('run once for a request', () => {
    let count = 0;
    const step = inOrder(() => (count += 1) > 0);
    const one = exchange();
    expect([step(one), step(one), step(exchange()), count]).toEqual([true, true, true, 2]);
  });

  it('find who wants a page', () => {
    const accepts = [
      'text/html,*/*',
      'application/xml, TEXT/HTML;q=0.9',
      'text/html, application/json',
      'text/html, application/graphql-response+json',
      'text/html, text/event-stream',
      'text/htmlx',
      '*/*',
      undefined,
    ];
    expect(accepts.map(prefersHtml)).toEqual([true, true, false, false, false, false, false, false]);
  });
});

describe('a body that is read before its request is served', () => {
  /** What a handler finds of a request that is sent in these chunks. */
  async function seen<Found>(
    chunks: readonly string[],
    look: (request: IncomingMessage) => Found | Promise<Found>,
    headers: Record<string, string> = {},
  ): Promise<Awaited<Found>> {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<Found>>();
    const server = createServer((request, response) => {
      Promise.try(look, request)
        .then(resolve, reject)
        .finally(() => response.end());
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
      const { port } = server.address() as AddressInfo;
      const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
      await (await fetch(`http://127.0.0.1:${port}`, init)).text();
      return await promise;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it.each([
    [['{"a":', '1}'], { value: { a: 1 } }],
    [['\uFEFF \n[1]'], { value: [1] }],
    [['\uFEFF[2]'], { value: [2] }],
    [['"text"'], 'unreadable'],
    [['{"a"'], 'unreadable'],
    [[], 'unreadable'],
  ])('%j is %j', async (chunks, expected) => {
    expect(await seen(chunks, takeBody)).toEqual(expected);
  });

  it('is kept for whoever serves the request', async () => {
    const found = async (request: IncomingMessage) => [
      findTakenBody(request),
      await takeBody(request),
      findTakenBody(request),
    ];
    expect(await seen(['[1]'], found)).toEqual([undefined, { value: [1] }, { value: [1] }]);
  });

  it('is looked into up to a bound, and stays to be read', async () => {
    const look = (maxBytes: number) => async (request: IncomingMessage) => {
      const first = await peekBody(request, maxBytes);
      const rest: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) rest.push(chunk);
      return [String(first), Buffer.concat(rest).toString()];
    };
    expect(await seen(['abc', 'def'], look(100))).toEqual(['abcdef', 'abcdef']);
    const [first = '', whole] = await seen(['abc', 'd'.repeat(100_000)], look(4));
    expect([first.startsWith('abcd'), whole]).toEqual([true, `abc${'d'.repeat(100_000)}`]);
    expect(await seen([], look(10))).toEqual(['null', '']);
  });

  it('is too large when more comes than is allowed, or is said to', async () => {
    const count = (maxBytes: number) => async (request: IncomingMessage) => {
      let told = 0;
      const atOnce = whenTooLarge(request, maxBytes, () => void (told += 1));
      for await (const _ of request);
      return [atOnce, told];
    };
    expect(await seen(['abc', 'def', 'ghi'], count(9))).toEqual([false, 0]);
    expect(await seen(['abc', 'def', 'ghi'], count(4))).toEqual([false, 1]);
    let told = 0;
    const declared = (length: string, max: number) =>
      whenTooLarge({ headers: { 'content-length': length } } as never, max, () => void (told += 1));
    expect([declared('10', 10), declared('11', 10), told]).toEqual([false, true, 1]);
  });
});
