import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { newId } from '../../../platform/ids.ts';
import { UpstreamError } from '../domain/failure.ts';
import { isPublicHttps } from '../domain/public-https.ts';
import type { ProviderWebhook, Provider } from '../providers/contract/provider.ts';
import { createRunningAttempts } from '../tasks/running-attempts.ts';
import { image, me, toRegistry, startEngine, until, type TestEngine } from '../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../tasks/testing/provider.ts';
import { startUpstream, type Upstream } from '../tasks/testing/upstream.ts';
import { createProviderWebhookAddresses, createProviderWebhookHandler } from './handler.ts';
import { createWakeUps, type WakeUps } from './wake-ups.ts';

const PAUSE_MS = 100;
let engine: TestEngine;
let upstream: Upstream;
let server: Server;
let wakeUps: WakeUps;
let asked: number;
/** A wire that is asked every ten minutes unless a webhook comes. */
async function startTask(change: Partial<Provider> = {}, { isMoved = false } = {}) {
  let ends = false;
  upstream.onStatus = () => {
    asked += 1;
    return ends ? { state: 'finished' } : { state: 'running', progress: null };
  };
  const wire = testProvider(engine.http);
  const job = wire.jobs?.IMAGE;
  if (job === undefined) throw new Error('the wire of the tests makes images');
  const addressed: (string | undefined)[] = [];
  const provider: Provider = {
    name: 'telling',
    jobs: {
      IMAGE: {
        ...job,
        pollMs: 600_000,
        start(request, context) {
          addressed.push(context.webhookUrl);
          return job.start(request, context);
        },
      },
    },
    ...change,
  };
  const registry = toRegistry(testBinding('test#0', provider, upstream.url, { sandbox: true }));
  const moved = (id: string, name: string, url: string) =>
    testBinding(id, provider, url, { name, sandbox: true });
  const heardBy = isMoved
    ? toRegistry(
        moved('test#0', 'test:another', 'http://127.0.0.1:1'),
        moved('test#1', 'test:0', upstream.url),
      )
    : registry;
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = createProviderWebhookAddresses({ publicUrl, secret: 'a secret of the tests' });
  const attempts = createRunningAttempts(engine);
  wakeUps = createWakeUps({
    makeDue: (key) => attempts.makeDue(key),
    logger: engine.logger,
    pauseMs: PAUSE_MS,
  });
  const handle = createProviderWebhookHandler({
    attempts,
    registry: heardBy,
    addresses,
    wakeUps,
    logger: engine.logger,
  });
  const service = engine.service(registry);
  await engine.worker(registry, { webhookAddress: addresses.addressFor });
  const { id } = await service.submit(me, image());
  const running = await until(async () =>
    (await engine.database.selectFrom('media.attempts').selectAll().execute()).find(
      ({ state }) => state === 'RUNNING',
    ),
  );
  const url = addressed[0] ?? '';
  return {
    service,
    id,
    url,
    publicUrl,
    addresses,
    reference: running.reference,
    finish: () => {
      ends = true;
    },
    due: async () => {
      const [attempt] = await engine.database.selectFrom('media.attempts').selectAll().execute();
      return attempt?.nextPollAt?.getTime();
    },
    binding: registry.byId('test#0') ?? testBinding('none', provider, ''),
  };
}

const tell = (url: string, body: string = '{"status":"OK"}', headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers });

describe('a webhook', () => {
  beforeEach(async () => {
    engine = await startEngine();
    upstream = await startUpstream();
    asked = 0;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await wakeUps.close();
    await engine.stop();
    await upstream.close();
  });

  it('leads to the question at once, though nobody would have asked for ten minutes', async () => {
    const { service, id, url, finish } = await startTask();
    expect(asked).toBe(0);
    finish();
    expect((await tell(url)).status).toBe(202);
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(asked).toBe(1);
  });

  it('that lies changes nothing but when the upstream is asked', async () => {
    const { service, id, url } = await startTask();
    expect((await tell(url, '{"status":"succeeded","output":["https://evil.example/x.png"]}')).status).toBe(
      202,
    );
    await until(async () => asked === 1);
    const [task] = await service.readMany(me, [id]);
    expect(task).toMatchObject({ state: 'RUNNING' });
  });

  it('sent over and over leads to a question about once in a pause', async () => {
    const { url } = await startTask();
    const since = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => tell(url)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    await until(async () => asked >= 2);
    // One at once, one at the end of each pause since.
    expect(asked).toBeLessThanOrEqual(2 + (performance.now() - since) / PAUSE_MS);
  });

  it.each([
    [
      'another proof',
      (url: string) => url.replace(/mac=./, (text) => (text === 'mac=A' ? 'mac=B' : 'mac=A')),
    ],
    ['no proof', (url: string) => url.replace(/&mac=.*/, '')],
    ['the proof of another attempt', (url: string) => url.replace(/%2F1%2F1/, '%2F1%2F2')],
  ])('with %s does nothing', async (_what, spoil) => {
    const { url, due } = await startTask();
    const before = await due();
    expect((await tell(spoil(url))).status).toBe(401);
    expect([await due(), asked]).toEqual([before, 0]);
  });

  it('of an attempt that is not there is answered like any other', async () => {
    const { addresses, binding, due } = await startTask();
    const before = await due();
    for (const reference of [`${newId()}/1/1`, 'no reference', `${newId()}/1/1/1`]) {
      expect((await tell(addresses.addressFor(binding, reference) ?? '')).status).toBe(202);
    }
    expect([await due(), asked]).toEqual([before, 0]);
  });

  it('is refused unsigned where the vendor signs, whether its attempt is there or not', async () => {
    const verifyWebhook = async ({ headers }: ProviderWebhook) => headers['x-signed'] === 'yes';
    const { url, due, addresses, binding } = await startTask({ verifyWebhook });
    const before = await due();
    const elsewhere = addresses.addressFor(binding, `${newId()}/1/1`) ?? '';
    expect([(await tell(url)).status, (await tell(elsewhere)).status]).toEqual([401, 401]);
    expect([await due(), asked]).toEqual([before, 0]);
    expect((await tell(url, '{}', { 'x-signed': 'yes' })).status).toBe(202);
    await until(async () => asked === 1);
  });

  it('that can not be checked now is asked for again', async () => {
    const verifyWebhook = async () => {
      throw new UpstreamError('UNAVAILABLE', 'the keys can not be read');
    };
    const { url, due } = await startTask({ verifyWebhook });
    const before = await due();
    const { status, headers } = await tell(url);
    expect([status, headers.get('retry-after')]).toEqual([503, '30']);
    expect([await due(), asked]).toEqual([before, 0]);
  });

  it('is checked with the account of its attempt, which has another place in the list by now', async () => {
    const verifyWebhook: Provider['verifyWebhook'] = async (_, { connection }) =>
      connection.baseUrl === upstream.url;
    const { url } = await startTask({ verifyWebhook }, { isMoved: true });
    expect((await tell(url)).status).toBe(202);
    await until(async () => asked === 1);
  });

  it('is refused when it is too large, is no POST, or names a provider that nobody knows', async () => {
    const { url, publicUrl } = await startTask();
    expect((await tell(url, 'x'.repeat((1 << 20) + 1))).status).toBe(413);
    expect((await fetch(url)).status).toBe(405);
    expect((await tell(`${publicUrl}/hooks/nobody?attempt=a&mac=b`)).status).toBe(404);
    expect(asked).toBe(0);
  });

  it('that tries the address is answered as its vendor wants', async () => {
    const { url } = await startTask({ answerChallenge: ({ body }) => ({ echo: body.toString('utf8') }) });
    const answer = await tell(url, 'a challenge');
    expect([answer.status, await answer.json()]).toEqual([200, { echo: 'a challenge' }]);
    expect(asked).toBe(0);
  });
});

describe('an address for webhooks', () => {
  const sandboxed = { provider: { name: 'fal' }, sandbox: true };
  const real = { ...sandboxed, sandbox: false };

  it('is given to real upstreams where they could reach it, and to the sandbox always', () => {
    const at = (publicUrl: string) => createProviderWebhookAddresses({ publicUrl, secret: 's' });
    expect(at('https://kiln.example.com/api').addressFor(real, 'a/1/1')).toMatch(
      /^https:\/\/kiln\.example\.com\/api\/hooks\/fal\?attempt=a%2F1%2F1&mac=[\w-]{43}$/,
    );
    expect(at('http://127.0.0.1:4000').addressFor(real, 'a/1/1')).toBeUndefined();
    expect(at('http://127.0.0.1:4000').addressFor(sandboxed, 'a/1/1')).toContain('/hooks/fal?');
  });

  it.each([
    ['https://kiln.example.com', true],
    ['https://203.0.113.9', false],
    ['https://8.8.8.8', true],
    ['http://kiln.example.com', false],
    ['https://localhost:4000', false],
    ['https://kiln.local', false],
    ['https://10.0.0.1', false],
    ['https://[::1]', false],
  ])('takes %s for public: %s', (address, expected) => {
    expect(isPublicHttps(address)).toBe(expected);
  });
});
