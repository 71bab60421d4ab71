import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { createLifecycle } from '../process/lifecycle.ts';
import { silentLogger } from '../process/logger.ts';
import { boundedLabel, noMetrics } from './metrics.ts';
import { createMetrics } from './prometheus.ts';
import { metricsHandler, startMetrics } from './serve-metrics.ts';

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
    const handler = metricsHandler(metrics, key);
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
