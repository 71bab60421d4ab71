import type { IncomingMessage } from 'node:http';

import { type GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createErrorFormatter } from '../../request/errors.ts';
import { createSession, createSocketHooks, endLeftOperations, type Session } from './websocket-operations.ts';

const user: Caller = { ...anonymousCaller('trace', null), kind: 'user', id: 'usr_1' };
const OPERATION = { query: '{ a }', operationName: 'A', variables: { v: 1 } };

/** The hooks of one socket, and what they do. */
function socket(more: Record<string, unknown> = {}) {
  const seen: unknown[] = [];
  const lines: unknown[] = [];
  const request = { headers: { authorization: 'Bearer upgrade' } } as unknown as IncomingMessage;
  const session = createSession({
    request,
    slot: { move: () => more['isFull'] !== true, release: () => undefined },
    close: (...words) => void seen.push(['close', ...words]),
  });
  const logger = { ...silentLogger(), info: (fields: object | string) => void lines.push(fields) };
  const hooks = createSocketHooks({
    callers: {
      async find(_: unknown, { authorization, strict }: { authorization?: string; strict?: boolean }) {
        seen.push(['find', authorization, strict]);
        if (authorization === 'Bearer broken') throw new Error('broken');
        if (authorization === 'Bearer away') throw new AppError('UNAVAILABLE', 'away');
        if (authorization === 'Bearer ended') throw new AppError('UNAUTHENTICATED', 'it has ended');
        return authorization === 'Bearer nobody' || authorization === ''
          ? anonymousCaller('trace', null)
          : user;
      },
    },
    guard: {
      watch: (watched: { readonly authorization?: string }, onEnd: () => void) => {
        seen.push(['watch', watched.authorization]);
        more['onEnd'] = onEnd;
        return () => void seen.push('unwatch');
      },
    },
    rateLimiter: {
      take: async (caller: Caller, rateClass: string) => ({
        allowed: more['isOver'] !== true || caller.kind !== 'anonymous' || rateClass !== 'read',
      }),
    },
    requiresCredential: more['requiresCredential'] === true,
    errors: createErrorFormatter({ logger: silentLogger(), suggestions: false }),
    admission: {
      admit: async (...asked: readonly unknown[]) => {
        seen.push(['admit', ...asked]);
        return more['verdict'] ?? { operation: { kind: 'query', fields: ['a'], document: parse('{ a }') } };
      },
    },
    federation: {
      apiSchema: () => 'schema',
      execute: async (asked: object) => (seen.push(['run', asked]), { data: { a: 1 } }),
    },
    tracer: { start: (...started: readonly unknown[]) => (seen.push(['span', ...started]), null) },
    logger,
    ...(more['elsewhere'] !== undefined && { elsewhere: more['elsewhere'] }),
    ...(more['expand'] !== undefined && { expand: more['expand'] }),
  } as never);
  const connect = (connectionParams?: object) =>
    hooks.onConnect?.({ connectionParams, extra: session } as never);
  const subscriptions: Record<string, unknown> = {};
  const subscribe = async (id: string, payload: unknown = OPERATION, isKnown = true) => {
    if (isKnown) subscriptions[id] = null;
    return (await hooks.onSubscribe?.(
      { extra: session, subscriptions } as never,
      id,
      payload as never,
    )) as unknown;
  };
  return { hooks, session, seen, lines, connect, subscribe, subscriptions };
}

describe('a socket', () => {
  it.each([
    [{ authorization: 'Bearer a' }, 'Bearer a'],
    [{ Authorization: 'Bearer a', headers: { authorization: 'Bearer b' } }, 'Bearer a'],
    [{ headers: { AUTHORIZATION: 'Bearer b' } }, 'Bearer b'],
    [{ authorization: 7 }, undefined],
    [{ headers: 'Bearer c' }, undefined],
    [{ headers: null }, undefined],
    [undefined, undefined],
  ])('is of whom its first message %j names', async (params, authorization) => {
    const { connect, seen, session } = socket();
    expect(await connect(params)).toBe(true);
    expect(seen).toEqual([
      ['find', authorization, true],
      ['watch', authorization],
    ]);
    expect([session.caller, session.authorization]).toEqual([user, authorization]);
  });

  it('is refused where its credential has ended, or its client has too many', async () => {
    const ended = { authorization: 'Bearer ended' };
    const refused = socket();
    expect([await refused.connect(ended), refused.seen.at(-1)]).toEqual([false, ['find', '', undefined]]);
    const over = socket({ isOver: true });
    expect([await over.connect(ended), over.seen.at(-1)]).toEqual([
      false,
      ['close', 4429, 'too many requests'],
    ]);
    const full = socket({ isFull: true });
    expect([await full.connect(), full.seen.at(-1)]).toEqual([
      false,
      ['close', 4429, 'too many open sockets'],
    ]);
    expect(full.session.caller).toBeUndefined();
    for (const failure of ['broken', 'away'])
      await expect(socket().connect({ authorization: `Bearer ${failure}` })).rejects.toThrow(failure);
  });

  it('needs a credential where everybody does', async () => {
    const nobody = { authorization: 'Bearer nobody' };
    expect(await socket({ requiresCredential: true }).connect(nobody)).toBe(false);
    expect(await socket({ requiresCredential: true }).connect()).toBe(true);
    expect(await socket().connect(nobody)).toBe(true);
  });

  it('is closed with its credential, and ends what it runs when it closes', async () => {
    const more: Record<string, unknown> = {};
    const { connect, session, hooks, seen, subscribe } = socket(more);
    await connect();
    (more['onEnd'] as () => void)();
    expect(seen.at(-1)).toEqual(['close', 4403, 'the credential is not valid any more']);
    await subscribe('1');
    const signal = session.running.get('1')?.signal;
    await hooks.onClose?.({ extra: session } as never, 1000, '');
    expect([signal?.aborted, session.running.size, seen.at(-1)]).toEqual([true, 0, 'unwatch']);
    await createSocketHooks({} as never).onClose?.({ extra: socket().session } as never, 1000, '');
    expect(hooks.connectionInitWaitTimeout).toBe(10_000);
  });
});

describe('an operation of a socket', () => {
  it('is admitted for its caller, run with a span of its own, and ends when it is complete', async () => {
    const { connect, subscribe, hooks, session, seen, lines } = socket();
    await connect();
    seen.length = 0;
    const made = (await subscribe('1')) as { readonly contextValue: { readonly context: object } };
    expect(seen.splice(0)).toEqual([['admit', OPERATION, user]]);
    const { signal } = session.running.get('1') as AbortController;
    expect(made).toMatchObject({ schema: 'schema', operationName: 'A', variableValues: { v: 1 } });
    expect(await hooks.execute?.(made as never)).toEqual({ data: { a: 1 } });
    const context = { caller: user, signal, headers: session.request.headers };
    expect(seen).toEqual([
      ['span', 'WS A', { kind: 'server', traceId: 'trace' }],
      ['run', { ...OPERATION, context, transport: 'websocket' }],
    ]);
    expect(lines).toEqual([]);
    await hooks.onComplete?.({ extra: session } as never, '1', {} as never);
    expect([signal.aborted, session.running.size]).toEqual([true, 0]);
    expect(await subscribe('2', { query: '{ a }' })).toMatchObject({
      operationName: null,
      variableValues: {},
    });
  });

  it('is logged when it changes something, and may be run elsewhere', async () => {
    const verdict = {
      operation: { kind: 'mutation', fields: ['make'], document: parse('mutation { make }') },
    };
    const asked: unknown[] = [];
    const run = (signal: AbortSignal) => (asked.push(signal), Promise.resolve({ data: { there: 1 } }));
    const elsewhere = (...found: readonly unknown[]) => (asked.push(found), { execute: run, subscribe: run });
    const { connect, subscribe, hooks, session, lines } = socket({ verdict, elsewhere });
    await connect();
    const made = (await subscribe('1', { query: 'mutation { make }' })) as never;
    expect(await hooks.execute?.(made)).toEqual({ data: { there: 1 } });
    const operation = { query: 'mutation { make }', operationName: undefined, variables: {} };
    const { signal } = session.running.get('1') as AbortController;
    expect(asked).toEqual([[operation, session], signal]);
    expect(lines).toEqual([
      {
        traceId: 'trace',
        method: 'WS',
        path: '/graphql',
        ms: expect.any(Number),
        caller: 'usr_1',
        changes: ['make'],
      },
    ]);
    expect((lines[0] as { readonly ms: number }).ms).toBeLessThan(60_000);
    expect(await hooks.subscribe?.(made)).toEqual({ data: { there: 1 } });
  });

  it('is refused when it can not be read, is not admitted, was completed, or is one of too many', async () => {
    const codes = (found: unknown) =>
      (found as readonly GraphQLError[]).map(({ extensions }) => extensions['code']);
    const { connect, subscribe, subscriptions, session } = socket();
    await expect(subscribe('0')).rejects.toThrow('a socket without a caller subscribed');
    await connect();
    expect(codes(await subscribe('1', { query: '' }))).toEqual(['BAD_REQUEST']);
    expect(codes(await subscribe('2', OPERATION, false))).toEqual(['BAD_REQUEST']);
    for (let index = 0; index < 99; index += 1) subscriptions[`x${index}`] = null;
    delete subscriptions['0'];
    expect(await subscribe('1')).toHaveProperty('schema');
    expect((await subscribe('many')) as GraphQLError[]).toMatchObject([
      { extensions: { code: 'QUERY_REFUSED', limit: 'concurrent-operations', allowed: 100, found: 101 } },
    ]);
    expect([...session.running.keys()]).toEqual(['1']);
    expect(session.subscriptions).toBe(subscriptions);
    const refused = socket({ verdict: { errors: [codedError('RATE_LIMITED', 'too many')], status: 429 } });
    await refused.connect();
    expect(codes(await refused.subscribe('1'))).toEqual(['RATE_LIMITED']);
    const expanded = socket({ expand: (body: unknown) => (body === 'hash' ? OPERATION : body) });
    await expanded.connect();
    expect(await expanded.subscribe('1', 'hash')).toMatchObject({ operationName: 'A' });
  });

  it('shows its errors as every transport does', () => {
    const { hooks, session } = socket();
    const error = codedError('INTERNAL', 'secret');
    const shown = {
      message: 'internal error',
      extensions: { code: 'INTERNAL', traceId: expect.any(String) },
    };
    const on = { extra: session } as never;
    const [next, failed] = [
      hooks.onNext?.(on, '1', {} as never, {} as never, { data: { a: 1 }, errors: [error] }),
      hooks.onError?.(on, '1', {} as never, [error]),
    ];
    expect([next, failed]).toEqual([{ data: { a: 1 }, errors: [shown] }, [shown]]);
  });

  it('is ended when its client has completed it, once it is known what the client has', () => {
    const begun = (): Session => {
      const { session } = socket();
      for (const id of ['1', '2']) session.running.set(id, new AbortController());
      return session;
    };
    const unknown = begun();
    endLeftOperations(unknown);
    expect(unknown.running.size).toBe(2);
    const known = begun();
    const { signal } = known.running.get('2') as AbortController;
    known.subscriptions = { 1: null };
    endLeftOperations(known);
    expect([[...known.running.keys()], signal.aborted]).toEqual([['1'], true]);
  });
});
