import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { listenOn } from '../http/server.ts';
import { createLifecycle } from '../process/lifecycle.ts';
import { silentLogger } from '../process/logger.ts';
import { measuredHttp, measuredLinks, measurePool } from './measure.ts';
import { boundedLabel, noMetrics } from './metrics.ts';
import { createMetrics } from './prometheus.ts';
import { metricsHandler, serveMetrics, startMetrics } from './serve-metrics.ts';

const logger = silentLogger();

it('counts, measures and reads gauges when it is asked', async () => {
  const metrics = createMetrics('worker');
  const count = metrics.counter('kiln_things_total', 'Things.', ['kind']);
  count({ kind: 'a' });
  count({ kind: 'a' }, 2);
  metrics.histogram('kiln_wait_seconds', 'Waits.', ['kind'])({ kind: 'a' }, 0.2);
  let value = 1;
  metrics.gauge('kiln_level', 'Level.', [], () => [{ value }]);
  metrics.gauge('kiln_broken', 'Broken.', [], () => Promise.reject(new Error('away')));
  value = 7;
  const text = await metrics.text();
  expect(text).toContain('kiln_things_total{kind="a",role="worker"} 3');
  expect(text).toContain('kiln_wait_seconds_count{role="worker",kind="a"} 1');
  expect(text).toContain('kiln_level{role="worker"} 7');
  const bounds = [...text.matchAll(/kiln_wait_seconds_bucket\{le="([^"]+)"/g)].map(([, bound]) => bound);
  expect(bounds.join(' ')).toBe('0.005 0.025 0.1 0.25 0.5 1 2.5 5 10 30 60 180 600 1800 +Inf');
  expect(text).not.toContain('kiln_broken{role');
  expect(text).toContain('kiln_nodejs_eventloop_lag_p99_seconds');
});

it('bounds the values of a label', () => {
  const nameOf = boundedLabel(2);
  expect(['a', 'b', 'c', 'a'].map(nameOf)).toEqual(['a', 'b', 'other', 'a']);
});

it('is nowhere unless a setting says so', async () => {
  const lifecycle = createLifecycle({ logger, graceMs: 1_000 });
  const config = { role: 'all', server: { host: '127.0.0.1' }, metrics: { port: null, key: null } };
  expect(await startMetrics({ config, lifecycle, logger })).toBe(noMetrics);
});

it('is opened by its key alone, and not there without one', async () => {
  const metrics = createMetrics('all');
  const answer = async (key: string | null, authorization: string) => {
    const handler = metricsHandler(metrics, { key, logger });
    const server = createServer((request, response) => {
      handler(request, response, () => void response.writeHead(404).end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { status } = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } });
    server.close();
    return status;
  };
  expect(await answer('secret', 'Bearer secret')).toBe(200);
  expect(await answer('secret', 'Bearer other')).toBe(401);
  expect(await answer(null, 'Bearer null')).toBe(404);
});

it('measures outbound calls by host and status, and fetches by subgraph and outcome', async () => {
  const metrics = createMetrics('all');
  const answer = async (request: { readonly url: string }) => {
    if (request.url.endsWith('/cut')) throw new Error('cut');
    return { status: Number(request.url.slice(-3)) } as never;
  };
  const http = measuredHttp({ request: answer, download: answer, close: async () => undefined }, metrics);
  const call = (url: string) => ({ url }) as never;
  await http.request(call('http://one.test/200'));
  await http.download(call('http://one.test/404'));
  await http.request(call('http://one.test/499'));
  await expect(http.request(call('http://two.test:81/cut'))).rejects.toThrow('cut');
  await expect(http.request(call('no address/cut'))).rejects.toThrow('cut');
  const execute = async ({ query }: { readonly query: string }) => {
    if (query === 'cut') throw new Error('cut');
    return query === 'wrong' ? { errors: [] } : { data: {} };
  };
  const { shop } = measuredLinks({ shop: { execute } as never }, metrics);
  await shop?.execute({ query: '{ a }' } as never);
  await shop?.execute({ query: 'wrong' } as never);
  await expect(shop?.execute({ query: 'cut' } as never)).rejects.toThrow('cut');
  measurePool({ pool: { totalCount: 5, idleCount: 2, waitingCount: 1 } as never }, metrics);
  const counts = (await metrics.text()).match(
    /^kiln_(outbound|subgraph|database)\w+(_count|connections)\{.*/gm,
  );
  expect(counts).toEqual([
    'kiln_outbound_request_seconds_count{role="all",host="one.test",status="2xx"} 1',
    'kiln_outbound_request_seconds_count{role="all",host="one.test",status="4xx"} 2',
    'kiln_outbound_request_seconds_count{role="all",host="two.test:81",status="failed"} 1',
    'kiln_outbound_request_seconds_count{role="all",host="other",status="failed"} 1',
    'kiln_subgraph_request_seconds_count{role="all",subgraph="shop",outcome="ok"} 1',
    'kiln_subgraph_request_seconds_count{role="all",subgraph="shop",outcome="errors"} 1',
    'kiln_subgraph_request_seconds_count{role="all",subgraph="shop",outcome="failed"} 1',
    'kiln_database_connections{state="busy",role="all"} 3',
    'kiln_database_connections{state="idle",role="all"} 2',
    'kiln_database_connections{state="waiting",role="all"} 1',
  ]);
});

it('goes on where a graph that replaces another has the same metrics, and serves them on a port of their own', async () => {
  const metrics = createMetrics('all');
  for (const value of [1, 2]) {
    metrics.counter('kiln_things_total', 'Things.')();
    metrics.histogram('kiln_wait_seconds', 'Waits.')({}, 0.1);
    metrics.gauge('kiln_level', 'Level.', [], () => [{ value }]);
  }
  const lifecycle = createLifecycle({ logger, graceMs: 1_000 });
  const lines: object[] = [];
  const config = { role: 'all', server: { host: '127.0.0.1' }, metrics: { port: 0, key: null } };
  const noting = { ...logger, info: (fields: object | string) => void lines.push(fields as object) };
  await serveMetrics(metrics, 0, { config, lifecycle, logger: noting });
  const { url } = lines[0] as { readonly url: string };
  const response = await fetch(`${url}?all`, { headers: { connection: 'close' } });
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('kiln_things_total{role="all"} 2');
  expect(text).toContain('kiln_wait_seconds_count{role="all"} 2');
  expect(text).toContain('kiln_level{role="all"} 2');
  const other = await fetch(url.replace('/metrics', '/'), { headers: { connection: 'close' } });
  expect(other.status).toBe(404);
  await lifecycle.stop('the test ends');
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

it('answers 503 where the supervisor does not and logs why, and leaves out a gauge that throws', async () => {
  const error = new Error('no reply');
  const silent = { text: () => Promise.reject(error) } as never;
  const lines: unknown[] = [];
  const noting = { ...logger, warn: (...line: unknown[]) => void lines.push(line) };
  const handler = metricsHandler(silent, { key: 'key', logger: noting });
  const server = createServer((request, response) => handler(request, response, () => {}));
  const { url } = await listenOn(server, '127.0.0.1', 0);
  const response = await fetch(url, { headers: { authorization: 'Bearer key', connection: 'close' } });
  server.close();
  expect([response.status, await response.text()]).toEqual([503, 'the metrics can not be read now\n']);
  expect(lines).toEqual([[{ error }, 'the metrics can not be read']]);
  const metrics = createMetrics('all');
  metrics.gauge('kiln_broken', 'Broken.', ['of'], () => {
    throw new Error('broken');
  });
  expect(await metrics.text()).toContain('kiln_process_cpu_seconds_total');
});
