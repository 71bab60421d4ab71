import { afterEach, expect, it } from 'vitest';

import { contextOf } from '../subgraph-server/two-subgraphs.fixture.ts';
import { cleanUp, linkTo, startMedia, startRelay } from './channel.fixture.ts';

afterEach(cleanUp);

it('opens another connection beside busy ones, up to a bound', async () => {
  const { two, url } = await startMedia();
  const relay = await startRelay(url);
  const link = linkTo([relay.url]);
  const leave = new AbortController();
  const waiting: Promise<unknown>[] = [];
  const ask = async (count: number): Promise<void> => {
    const request = { query: '{ hang }', variables: {}, context: contextOf('usr_1', leave.signal) };
    for (let index = 0; index < count; index += 1) waiting.push(link.execute(request));
    await expect.poll(() => two.hanging.length, { interval: 5 }).toBe(waiting.length);
  };
  await ask(64);
  expect(relay.connections()).toBe(1);
  await ask(1);
  await expect.poll(relay.connections, { interval: 5 }).toBe(2);
  // Each time those that are open get a share.
  for (let round = 0; round < 24; round += 1) await ask(16);
  expect(relay.connections()).toBe(4);
  leave.abort();
  await Promise.all(waiting);
  await expect.poll(() => two.hanging.every(({ aborted }) => aborted)).toBe(true);
});
