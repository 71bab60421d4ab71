import autocannon, { type Options } from 'autocannon';

import type { LoadRequest, LoadResult } from './load.ts';

// The load generator as a process of its own: its work must not be counted as that of what it measures.
process.on('message', (message) => {
  void measure(message as LoadRequest).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function measure({
  connections = 16,
  ms,
  amount,
  paths,
  ...request
}: LoadRequest): Promise<LoadAnswer> {
  try {
    const setupClient = paths === undefined ? {} : { setupClient: pathSetter(paths) };
    const until = amount === undefined ? { duration: ms / 1000 } : { amount };
    const startedAt = performance.now();
    const result = await autocannon({ ...request, ...until, ...setupClient, connections });
    const seconds = amount === undefined ? result.duration : (performance.now() - startedAt) / 1000;
    const failed = result.non2xx + result.errors + result.timeouts;
    if (failed > 0) return { error: `${failed} of ${failed + result['2xx']} requests failed` };
    const { p50, p99 } = result.latency;
    return { result: { requests: result['2xx'], perSecond: result['2xx'] / seconds, p50, p99 } };
  } catch (error) {
    return { error: String(error) };
  }
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
