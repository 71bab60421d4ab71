import { setTimeout as pause } from 'node:timers/promises';

import { expect, test, it } from 'vitest';

import { AppError } from '../../errors.ts';
import type { PostAnswer, PostClient, PostRequest } from './remote-http.ts';
import { shareReads, retryReads } from './resilient-http.ts';

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
