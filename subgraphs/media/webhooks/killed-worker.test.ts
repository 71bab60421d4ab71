import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { image, me, startEngine, toRegistry, until } from '../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../tasks/testing/provider.ts';
import { startUpstream } from '../tasks/testing/upstream.ts';
import { startReceiver } from './receiver.fixture.ts';
import { createWebhookWorker } from './worker.ts';

const secret = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;

it('a result webhook of a process that is killed in between goes out again under the same id', async () => {
  const [engine, upstream, receiver] = await Promise.all([startEngine(), startUpstream(), startReceiver()]);
  const { database, queue, files, logger } = engine;
  const stops = [() => engine.stop(), () => upstream.close(), () => receiver.close()];
  try {
    const sent = Promise.withResolvers<void>();
    receiver.onRequest = (response, count) => {
      if (count > 1) response.writeHead(200).end();
      else sent.resolve();
    };
    const file = new URL('worker-process.fixture.ts', import.meta.url);
    const words = [fileURLToPath(file), engine.connectionString, receiver.host, secret];
    const child = spawn(process.execPath, words, { stdio: 'inherit' });
    stops.unshift(async () => void child.kill('SIGKILL'));
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    const service = engine.service(registry);
    await engine.worker(registry);
    const { id } = await service.submit(me, { ...image(), callbackUrl: receiver.url });
    await sent.promise;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const http = createHttpClient({ outbound: createOutboundRule({ allow: [receiver.host] }), logger });
    const worker = createWebhookWorker({ database, queue, files, http, secret, logger, pauses: [0.05] });
    await worker.start();
    stops.unshift(
      () => worker.stop(0),
      () => http.close(),
    );
    const delivery = await until(async () => {
      const { rows } = await engine.pool.query<{ id: string; attempts: number; state: string }>(
        'select id, attempts, state from media.webhook_deliveries where task_id = $1',
        [id],
      );
      return rows[0]?.state === 'DELIVERED' && rows[0];
    });
    expect(delivery.attempts).toBe(2);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.id, delivery.id]);
  } finally {
    for (const stop of stops) await stop();
  }
});
