import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import { lacksNow, readinessAnswer, sharedPart, startHealthServer } from './readiness.ts';

const logger = silentLogger();
const away = async () => {
  throw new Error('away');
};
const never = () => new Promise<void>(() => undefined);

describe('what a process lacks', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is what fails or does not answer in time, and what all lack', async () => {
    const checks = {
      well: async () => undefined,
      queue: away,
      database: never,
      files: sharedPart('files', away, { logger }),
      prices: sharedPart('prices', never, { logger }),
      cache: sharedPart('cache', async () => undefined, { logger }),
    };
    const found = lacksNow(checks, { logger });
    await vi.advanceTimersByTimeAsync(1_600);
    expect(await found).toEqual({ failing: ['database', 'queue'], degraded: ['files', 'prices'] });
  });

  it('makes the answer: not ready by its own lacks, degraded by those of all', () => {
    const checks = { a: away, b: away };
    const answer = (failing: string[], degraded: string[]) => readinessAnswer(checks, { failing, degraded });
    expect(answer([], [])).toEqual({
      statusCode: 200,
      body: { status: 'ready', checks: ['a', 'b'], failing: [] },
    });
    expect(answer([], ['files'])).toEqual({
      statusCode: 200,
      body: { status: 'degraded', checks: ['a', 'b'], failing: [], degraded: ['files'] },
    });
    expect(answer(['a'], ['files'])).toMatchObject({ statusCode: 503, body: { status: 'not ready' } });
  });
});

it('a process that answers nobody else says whether it is well and ready, until it is to stop', async () => {
  const stopping = new AbortController();
  const options = { logger, stopping: stopping.signal, host: '127.0.0.1', port: 0 };
  const server = await startHealthServer({ ...options, checks: { part: async () => undefined } });
  try {
    const get = async (path: string) => {
      const response = await fetch(server.url + path, { headers: { connection: 'close' } });
      return [response.status, response.headers.get('cache-control'), await response.json()];
    };
    expect(await get('/healthz?x')).toEqual([200, null, { status: 'ok' }]);
    expect(await get('/other')).toEqual([404, null, { error: 'not found' }]);
    const ready = { status: 'ready', checks: ['part'], failing: [] };
    expect(await get('/readyz?x')).toEqual([200, 'no-store', ready]);
    stopping.abort();
    expect(await get('/readyz')).toEqual([
      503,
      'no-store',
      { ...ready, status: 'not ready', failing: ['stopping'] },
    ]);
  } finally {
    await server.close();
  }
});
