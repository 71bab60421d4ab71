import { setTimeout as pause } from 'node:timers/promises';

import { describe, expect, it, onTestFinished, test, vi } from 'vitest';

import { AppError } from '../../errors.ts';
import type { PostAnswer, PostClient, PostRequest } from './remote-http.ts';
import { breakCircuit, retryReads, shareReads } from './resilient-http.ts';

/** A subgraph whose answers come when the test says so. */
function slowSubgraph() {
  const asked: { answer: (value: number) => void }[] = [];
  const client: PostClient = {
    post: async () => {
      const { promise, resolve } = Promise.withResolvers<PostAnswer>();
      asked.push({ answer: (value) => resolve({ status: 200, json: () => ({ value }) }) });
      return promise;
    },
    close: async () => undefined,
  };
  return { client, asked };
}

const read = (): PostRequest => ({
  headers: {},
  body: '{ value }',
  isRead: true,
  signal: new AbortController().signal,
});

test('equal reads that begin together share one request, and each has an answer of its own', async () => {
  const { client, asked } = slowSubgraph();
  const shared = shareReads(client);
  const answers = [shared.post(read()), shared.post(read())];
  expect(asked).toHaveLength(1);
  asked[0]?.answer(1);
  const [one, other] = (await Promise.all(answers)).map((answer) => answer.json());
  expect([one, other]).toEqual([{ value: 1 }, { value: 1 }]);
  expect(one).not.toBe(other);
});

test('whoever shares an answer gets its headers too', async () => {
  const headers = { 'cache-control': 'private' };
  const shared = shareReads({
    post: async () => ({ status: 200, json: () => ({}), headers }),
    close: async () => undefined,
  });
  const answers = await Promise.all([shared.post(read()), shared.post(read())]);
  expect(answers.map((answer) => answer.headers)).toEqual([headers, headers]);
});

test('a read does not join one that has been on its way for a while: it sees what happened since', async () => {
  const { client, asked } = slowSubgraph();
  const shared = shareReads(client);
  const early = shared.post(read());
  // Longer than reads are joined; the machine may make it longer still.
  await pause(20);
  const late = shared.post(read());
  expect(asked).toHaveLength(2);
  asked[0]?.answer(1);
  asked[1]?.answer(2);
  expect((await early).json()).toEqual({ value: 1 });
  expect((await late).json()).toEqual({ value: 2 });
});

/** A service that fails so many times before it answers. */
function failing(times: number, code: 'UNAVAILABLE' | 'INTERNAL' = 'UNAVAILABLE') {
  const seen: PostRequest[] = [];
  const client: PostClient = {
    async post(request): Promise<PostAnswer> {
      seen.push(request);
      if (seen.length <= times) throw new AppError(code, 'no answer');
      return { status: 200, json: () => ({ data: {} }) };
    },
    close: () => Promise.resolve(),
  };
  return { seen, client };
}

const signal = new AbortController().signal;
const query: PostRequest = { headers: {}, body: '{}', isRead: true, signal };

it('sends a query again until it is answered, within its bound', async () => {
  const twice = failing(2);
  expect((await retryReads(twice.client, 2).post(query)).status).toBe(200);
  expect(twice.seen).toHaveLength(3);
  const longer = failing(9);
  await expect(retryReads(longer.client, 1).post(query)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(longer.seen).toHaveLength(2);
});

it('never sends again what may change something, or what was answered', async () => {
  const mutation = failing(1);
  await expect(retryReads(mutation.client, 3).post({ ...query, isRead: false })).rejects.toMatchObject({});
  const answered = failing(1, 'INTERNAL');
  await expect(retryReads(answered.client, 3).post(query)).rejects.toMatchObject({ code: 'INTERNAL' });
  expect([mutation.seen.length, answered.seen.length]).toEqual([1, 1]);
});

it('sends nothing again when its caller hangs up', async () => {
  const { seen, client } = failing(9);
  const hangUp = new AbortController();
  const answer = retryReads(client, 5).post({ ...query, signal: hangUp.signal });
  hangUp.abort();
  await expect(answer).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(seen).toHaveLength(1);
});

describe('equal reads', () => {
  const asker = (headers: Record<string, string> = {}, aborted = new AbortController()) => ({
    aborted,
    request: { headers, body: '{ value }', isRead: true, signal: aborted.signal },
  });

  it('are of one caller, and the span that asks makes no difference', () => {
    const { client, asked } = slowSubgraph();
    const shared = shareReads(client);
    void shared.post(asker({ authorization: 'a', traceparent: '1' }).request);
    void shared.post(asker({ authorization: 'a', traceparent: '2' }).request);
    expect(asked).toHaveLength(1);
    void shared.post(asker({ authorization: 'b' }).request);
    void shared.post({ ...asker({ authorization: 'a' }).request, body: '{ other }' });
    expect(asked).toHaveLength(3);
  });

  it('are not of before a mutation, from its beginning to its end', async () => {
    const { client, asked } = slowSubgraph();
    const shared = shareReads(client);
    const write = { ...asker().request, isRead: false };
    void shared.post(asker().request);
    const written = shared.post(write);
    void shared.post(asker().request);
    expect(asked).toHaveLength(3);
    asked[1]?.answer(1);
    await written;
    void shared.post(asker().request);
    expect(asked).toHaveLength(4);
    void shared.post(asker().request);
    expect(asked).toHaveLength(4);
  });

  it('go on until the last of their callers has hung up, and are not joined then', async () => {
    const signals: AbortSignal[] = [];
    const shared = shareReads({
      post: ({ signal: one }) => {
        signals.push(one);
        return new Promise(() => undefined);
      },
      close: async () => undefined,
    });
    const [one, other] = [asker(), asker()];
    const answers = [shared.post(one.request), shared.post(other.request)];
    one.aborted.abort();
    await expect(answers[0]).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    other.aborted.abort();
    await expect(answers[1]).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    void shared.post(asker().request);
    expect(signals).toHaveLength(2);
    const gone = asker();
    gone.aborted.abort();
    await expect(shared.post(gone.request)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('have answers of their own, also deep inside, and one that asks alone has what came', async () => {
    const value = JSON.parse('{"list":[{"a":1}],"__proto__":{"b":{}},"none":null}') as object;
    const client: PostClient = {
      post: async () => ({ status: 203, json: () => value }),
      close: async () => undefined,
    };
    const shared = shareReads(client);
    const both = await Promise.all([shared.post(asker().request), shared.post(asker().request)]);
    const [one, other] = both.map((answer) => answer.json() as Record<string, unknown[]>);
    expect([one, other].map((copy) => JSON.stringify(copy))).toEqual(Array(2).fill(JSON.stringify(value)));
    expect(one?.['list']?.[0]).not.toBe(other?.['list']?.[0]);
    expect(both.map(({ status }) => status)).toEqual([203, 203]);
    await pause(0);
    expect((await shared.post(asker().request)).json()).toBe(value);
  });
});

it('a subgraph that does not answer is left alone for a while, after which one request tries', async () => {
  const [outcomes, now] = [[] as boolean[], vi.spyOn(performance, 'now').mockReturnValue(1_000)];
  onTestFinished(() => now.mockRestore());
  let asked = 0;
  const client = breakCircuit(
    {
      async post() {
        asked += 1;
        if (outcomes.shift() !== true) throw new AppError('UNAVAILABLE', 'no answer');
        return { status: 200, json: () => null };
      },
      close: async () => undefined,
    },
    { failures: 2, pauseMs: 2_500 },
  );
  const post = (aborted = false) =>
    client.post({ ...query, signal: aborted ? AbortSignal.abort() : signal }).then(
      () => 'answered',
      (error: AppError) => error.retryAfter ?? 'failed',
    );
  expect([await post(true), await post(), await post(true), await post()]).toEqual(Array(4).fill('failed'));
  expect([await post(), asked]).toEqual([3, 4]);
  now.mockReturnValue(3_499);
  expect([await post(), asked]).toEqual([1, 4]);
  now.mockReturnValue(3_500);
  const trying = post();
  expect([await post(), await trying, asked]).toEqual([3, 'failed', 5]);
  now.mockReturnValue(6_000);
  outcomes.push(true, false, true);
  expect([await post(), await post(), await post(), await post()]).toEqual([
    'answered',
    'failed',
    'answered',
    'failed',
  ]);
  expect(asked).toBe(9);
});
