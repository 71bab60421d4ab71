import { setTimeout as pause } from 'node:timers/promises';

import { expect, test } from 'vitest';

import type { PostAnswer, PostClient, PostRequest } from './remote-http.ts';
import { shareReads } from './shared-reads.ts';

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
