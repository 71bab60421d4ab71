import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../../../test/kit/clients/requests.ts';
import { extent } from '../../../test/kit/extent.ts';
import { startSplitKiln, type SplitKiln } from '../../../test/topology/split.ts';
import { startProgram, type Program } from '../processes.ts';
import type { Crowded, CrowdOrder } from './sockets.ts';

/** More followers at once than the database has connections for: all are served in their order, and none is lost in retries. */

const CLIENTS = extent(200, 600);
const TASKS = extent(20, 60);
const START = 'mutation { generateImage(input: { generator: "imga", prompt: "a crowd" }) { id } }';

let kiln: SplitKiln;
let crowd: Program<unknown>;
beforeAll(async () => {
  kiln = await startSplitKiln({ DATABASE_POOL: '2', QUERY_TIMEOUT: '2', CONNECTION_LIMIT: '0' });
  await kiln.sandbox.latency({ queuedMs: 600_000 });
  crowd = await startProgram(new URL('crowd.ts', import.meta.url));
});
afterAll(async () => {
  await crowd?.stop();
  await kiln?.close();
});

const ask = (order: CrowdOrder) => crowd.ask<Crowded>(order, 120_000);

it('a crowd that comes within a moment, and comes again where it is refused, follows in the end and misses nothing', async () => {
  const started = await Promise.all(Array.from({ length: TASKS }, () => graphql(kiln.url, START, {})));
  const ids = started.map(({ data }) => data.generateImage.id as string);
  const url = `${kiln.url.replace('http', 'ws')}/graphql`;
  await ask({ url, ids, withinMs: 200, count: CLIENTS });
  const steady = await ask({ seq: 1, forMs: 60_000 });
  expect(steady).toMatchObject({ steady: CLIENTS, gaps: 0 });
  // Whoever was refused was told that it is busy, not left to wait in vain.
  const told = Object.keys(steady.errors).filter((why) => !/^(?:HTTP 503|UNAVAILABLE|QUEUE_FULL)/.test(why));
  expect(told).toEqual([]);
  expect(steady.tries).toBeLessThan(CLIENTS * 2);
  expect(kiln.output('media')).not.toContain('timeout exceeded when trying to connect');

  const { lowest: before } = await ask({ seq: 1, forMs: 0 });
  for (const id of ids) await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id });
  const after = await ask({ seq: before + 1, forMs: 60_000 });
  expect(after.gaps).toBe(0);
  expect(after.lowest).toBeGreaterThan(before);
});
