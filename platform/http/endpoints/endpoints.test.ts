import { afterEach, describe, expect, it } from 'vitest';

import { silentLogger } from '../../process/logger.ts';
import type { Endpoint } from './endpoint-health.ts';
import { createEndpoints, type Endpoints, type EndpointsOptions } from './endpoints.ts';
import { type FailoverOptions, isUnreachable, sendToOne } from './failover.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function createTestEndpoints(urls: readonly string[], options: Partial<EndpointsOptions> = {}): Endpoints {
  const endpoints = createEndpoints({
    urls,
    logger: silentLogger(),
    everyMs: 600_000,
    timeoutMs: 50,
    ...options,
  });
  cleanups.push(() => endpoints.close());
  return endpoints;
}

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
const origins = (found: readonly (Endpoint | undefined)[]) => found.map((one) => one?.origin.slice(-1));

describe('the processes of a service', () => {
  // Nobody listens on ports 1 to 3: they are ill from the first look on, and all are tried.
  const three = [1, 2, 3].map((port) => `http://127.0.0.1:${port}/graphql?x=1`);

  it('are asked in turn, each that was not tried', () => {
    const endpoints = createTestEndpoints(three);
    expect([endpoints.path, endpoints.count()]).toEqual(['/graphql?x=1', 3]);
    const four = [1, 2, 3, 4].map(() => endpoints.next() as Endpoint);
    expect(new Set(four).size).toBe(3);
    expect(four[3]).toBe(four[0]);
    const others = endpoints.next(new Set(four.slice(0, 2)));
    expect(others).toBe(four[2]);
    expect(endpoints.next(new Set(four))).toBeUndefined();
  });

  it('get nothing after no connection was made, until they answer', () => {
    const endpoints = createTestEndpoints(three);
    const one = endpoints.next() as Endpoint;
    endpoints.failed(one, { unreachable: true });
    expect(origins([1, 2, 3, 4].map(() => endpoints.next()))).not.toContain(one.origin.slice(-1));
    endpoints.succeeded(one);
    expect(origins([1, 2, 3].map(() => endpoints.next()))).toContain(one.origin.slice(-1));
    const alone = createTestEndpoints(['http://127.0.0.1:1']);
    const only = alone.next() as Endpoint;
    alone.failed(only, { unreachable: true });
    expect(alone.next()).toBe(only);
  });

  it('are those behind a name, and gone when they leave it', async () => {
    let addresses = ['127.0.0.1', '127.0.0.2'];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      if (addresses.length === 0) throw new Error('no answer');
      return addresses.map((address) => ({ address, family: 4 }));
    };
    const endpoints = createTestEndpoints(['http://service.test:1/graphql'], { resolve, everyMs: 5 });
    const gone: Endpoint[] = [];
    endpoints.onGone((endpoint) => gone.push(endpoint));
    await expect.poll(() => endpoints.count()).toBe(2);
    expect(gone).toHaveLength(1);
    const lookUp = (endpoint: Endpoint | undefined, all: boolean) =>
      new Promise((done) => endpoint?.lookup?.('service.test', { all }, (...found) => done(found)));
    const [one, other] = [endpoints.next(), endpoints.next()];
    const looked = await Promise.all([one, other].map((endpoint) => lookUp(endpoint, false)));
    expect(looked.map(String).toSorted()).toEqual([',127.0.0.1,4', ',127.0.0.2,4']);
    expect(String(looked[0])).toBe(
      `,${((await lookUp(one, true)) as [null, { address: string }[]])[1][0]?.address},4`,
    );
    // Without an answer those of before stay.
    addresses = [];
    const before = asked.length;
    await expect.poll(() => asked.length).toBeGreaterThan(before + 1);
    expect(endpoints.count()).toBe(2);
    addresses = ['127.0.0.1', '127.0.0.3'];
    await expect.poll(() => gone.length).toBe(2);
    expect([endpoints.count(), new Set(asked)]).toEqual([2, new Set(['service.test'])]);
    expect([one, other]).toContain(gone[1]);
  });
});

describe('a request to one of several processes', () => {
  /** Endpoints that tell what is said of them. */
  function scripted(count: number) {
    const all = Array.from({ length: count }, (_, index): Endpoint => {
      const lost = new AbortController().signal;
      return { origin: `http://${index}`, lookup: undefined, lost: () => lost };
    });
    const said: string[] = [];
    const endpoints: Endpoints = {
      path: '/',
      count: () => count,
      next: (tried = new Set()) => all.find((one) => !tried.has(one)),
      succeeded: ({ origin }) => void said.push(`${origin} is well`),
      failed: ({ origin }, { unreachable }) =>
        void said.push(`${origin} ${unreachable ? 'is away' : 'failed'}`),
      onGone: () => undefined,
      close: async () => undefined,
    };
    return { endpoints, said };
  }

  async function send(
    count: number,
    outcomes: readonly unknown[],
    options: Partial<FailoverOptions<unknown>> = {},
  ) {
    const { endpoints, said } = scripted(count);
    const left = [...outcomes];
    const mayLeave: boolean[] = [];
    const answer = await sendToOne({
      endpoints,
      signal: { aborted: false },
      again: 'always',
      send: async (_endpoint, lost) => {
        mayLeave.push(lost !== null);
        const outcome = left.shift();
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      isFailure: (one) => one === 502,
      ...options,
    }).catch((thrown: unknown) => thrown);
    return { answer, said, mayLeave };
  }

  const cut = new Error('cut');
  it.each<[string, number, unknown[], Partial<FailoverOptions<unknown>>, unknown, string[]]>([
    ['answers', 2, [1], {}, 1, ['http://0 is well']],
    [
      'is read elsewhere',
      3,
      [cut, refused, 1],
      {},
      1,
      ['http://0 failed', 'http://1 is away', 'http://2 is well'],
    ],
    ['fails at all', 2, [cut, refused], {}, refused, ['http://0 failed', 'http://1 is away']],
    [
      'is written elsewhere when it was not sent',
      2,
      [refused, 1],
      { again: 'unsent' },
      1,
      ['http://0 is away', 'http://1 is well'],
    ],
    ['is written once', 2, [cut, 1], { again: 'unsent' }, cut, ['http://0 failed']],
    ['is sent once', 2, [refused, 1], { again: 'never' }, refused, ['http://0 is away']],
    ['is of a proxy', 2, [502, 1], {}, 1, ['http://0 failed', 'http://1 is well']],
    ['is of a proxy at all', 2, [502, 502], {}, 502, ['http://0 failed', 'http://1 failed']],
    ['is of a proxy when it writes', 2, [502, 1], { again: 'unsent' }, 502, ['http://0 failed']],
    ['is left', 2, [cut, 1], { signal: { aborted: true } }, cut, []],
    ['is left at a proxy', 2, [502, 1], { signal: { aborted: true } }, 502, ['http://0 failed']],
    ['has its own failures', 2, [502], { isFailure: () => false }, 502, ['http://0 is well']],
  ])('%s', async (_, count, outcomes, options, expected, told) => {
    const { answer, said } = await send(count, outcomes, options);
    expect([answer, said]).toEqual([expected, told]);
  });

  it('may be left for another one where there is one, and it changes nothing', async () => {
    expect((await send(2, [1])).mayLeave).toEqual([true]);
    expect((await send(1, [1])).mayLeave).toEqual([false]);
    expect((await send(2, [1], { again: 'unsent' })).mayLeave).toEqual([false]);
    expect((await send(0, [])).answer).toEqual(new Error('there is nobody to ask'));
  });
});

it('an error says that no connection was made, or what caused it does', () => {
  const unreachable = [
    refused,
    new Error('over', { cause: refused }),
    new AggregateError([refused, new Error('x', { cause: refused })]),
  ];
  const others = [
    new Error('cut'),
    new AggregateError([]),
    new AggregateError([refused, new Error('cut')]),
    Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    'ECONNREFUSED',
  ];
  expect(unreachable.map(isUnreachable)).toEqual([true, true, true]);
  expect(others.map(isUnreachable)).toEqual([false, false, false, false, false]);
});
