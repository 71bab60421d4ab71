import autocannon, { type Options } from 'autocannon';
import { Pool } from 'undici';

import type { LoadRequest, LoadResult } from './load.ts';

// The load generator as a process of its own: its work must not be counted as that of what it measures.
process.on('message', (message) => {
  void measure(message as LoadRequest).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function measure(request: LoadRequest): Promise<LoadAnswer> {
  try {
    return { result: await (request.amount === undefined ? forSomeTime(request) : untilDone(request)) };
  } catch (error) {
    return { error: String(error) };
  }
}

async function forSomeTime({ connections = 16, ms, paths, ...request }: LoadRequest): Promise<LoadResult> {
  const setupClient = paths === undefined ? {} : { setupClient: pathSetter(paths) };
  const result = await autocannon({ ...request, ...setupClient, connections, duration: ms / 1000 });
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) throw new Error(`${failed} of ${failed + result['2xx']} requests failed`);
  const perSecond = result['2xx'] / result.duration;
  return { requests: result['2xx'], perSecond, p99: result.latency.p99 };
}

/** A known number of requests; autocannon would count to the end of the second in which the last was answered. */
async function untilDone({ url, connections = 16, amount = 1, ...rest }: LoadRequest): Promise<LoadResult> {
  const { origin, pathname } = new URL(url);
  const { method = 'GET', headers = {}, body = null } = rest;
  const pool = new Pool(origin, { connections });
  let left = amount;
  const startedAt = performance.now();
  const loops = Array.from({ length: connections }, async () => {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ path: pathname, method, headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 200)}`);
    }
  });
  await Promise.all(loops);
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { requests: amount, perSecond: amount / seconds, p99: null };
}

/** Gives each connection the paths in turns that begin one further than those of the connection before. */
function pathSetter(paths: readonly string[]): NonNullable<Options['setupClient']> {
  let first = 0;
  return (client) => {
    const turned = [...paths.slice(first), ...paths.slice(0, first)];
    first = (first + 1) % paths.length;
    client.setRequests(turned.map((path) => ({ path })));
  };
}

type LoadAnswer = { readonly result: LoadResult } | { readonly error: string };
