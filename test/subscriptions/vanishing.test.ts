import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { extent } from '../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { overEvents, overWebSocket, sendRequest } from './bare-sockets.ts';
import { executePoster, type Started } from './following.ts';

let kiln: KilnUnderTest;
let sockets: Socket[] = [];
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await kiln?.close();
});

const OF_TASK = 'subscription ($id: ID!) { taskProgress(id: $id) { seq task { execution { id } } } }';
const OF_EXECUTION =
  'subscription ($id: ID!) { executionProgress(id: $id) { seq execution { task { id } } } }';
/** Subscribers of each kind. */
const EACH = extent(20, 50);

it(`leaves no listener behind of ${4 * EACH} subscribers that vanish`, async () => {
  const listenersBefore = kiln.runtime.bus.listenerCount();
  const started = await executeStalled();
  const ofTask = { query: OF_TASK, variables: { id: started.taskId } };
  const ofExecution = { query: OF_EXECUTION, variables: { id: started.id } };
  sockets = await Promise.all(
    Array.from({ length: EACH }, () => [
      overWebSocket(kiln.url, ofTask),
      overWebSocket(kiln.url, ofExecution),
      overEvents(kiln.url, ofTask),
      overEvents(kiln.url, ofExecution),
    ]).flat(),
  );
  await expect.poll(() => kiln.media.watcherCount()).toBe(4 * EACH);
  await expect.poll(() => kiln.server.openStreams()).toBe(4 * EACH);
  expect(kiln.runtime.bus.listenerCount()).toBeGreaterThan(listenersBefore);

  for (const socket of sockets) socket.destroy();
  await expect.poll(() => kiln.media.watcherCount()).toBe(0);
  await expect.poll(() => kiln.server.openStreams()).toBe(0);
  await expect.poll(() => kiln.runtime.bus.listenerCount()).toBe(listenersBefore);
  await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id: started.taskId });
});

it('leaves none of those either who vanish before their subscription has begun', async () => {
  const listenersBefore = kiln.runtime.bus.listenerCount();
  const started = await executeStalled();
  const payload = { query: OF_TASK, variables: { id: started.taskId } };
  const ofExecution = { query: OF_EXECUTION, variables: { id: started.id } };
  for (let round = 0; round < 20; round += 1) {
    const query = round % 2 === 0 ? payload : ofExecution;
    const [one, other] = [sendRequest(kiln.url, query), sendRequest(kiln.url, query)];
    await Promise.all([one.written, other.written]);
    // One at once, the other when the server has begun to think about it.
    one.socket.destroy();
    setImmediate(() => other.socket.destroy());
    await once(other.socket, 'close');
  }
  // Whoever comes after them is served, and is the only one.
  const last = await overEvents(kiln.url, payload);
  sockets.push(last);
  await expect.poll(() => kiln.media.watcherCount()).toBe(1);
  last.destroy();
  await expect.poll(() => kiln.media.watcherCount()).toBe(0);
  await expect.poll(() => kiln.server.openStreams()).toBe(0);
  await expect.poll(() => kiln.runtime.bus.listenerCount()).toBe(listenersBefore);
  await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id: started.taskId });
});

/** A run that shows some progress and then stops half-way, so that nobody is told of its end. */
async function executeStalled(): Promise<Started> {
  await kiln.control('faults', { wire: 'midjourney', operation: 'imagine', fault: 'stall' });
  return executePoster(kiln.url, 'a well');
}
