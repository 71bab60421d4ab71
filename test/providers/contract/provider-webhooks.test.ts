import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { WorkRequest } from '../../../subgraphs/media/domain/work/request.ts';
import type {
  JobCapability,
  ProviderWebhook,
  Provider,
  StartContext,
} from '../../../subgraphs/media/providers/contract/provider.ts';
import {
  makeContext,
  must,
  openEnvironment,
  createImage,
  type Environment,
} from '../environment/environment.ts';
import { imageRequest, videoRequest, REFERENCE } from './row.ts';
import { rows } from './rows.ts';

/** What the stand-ins tell, as their vendors do, and how the adapters check it. */

let world: Environment;
beforeAll(async () => {
  world = await openEnvironment();
});
afterAll(() => world.close());

interface Received extends ProviderWebhook {
  readonly path: string;
}

/** Somebody who takes webhooks and answers them as the adapter says. */
let received: Received[];
let status: number;
let receiver: Server;
let hook: string;
let provider: Provider;
beforeEach(async () => {
  await world.reset();
  received = [];
  status = 202;
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const webhook = { path: request.url ?? '', headers, body: Buffer.concat(chunks) };
      const answer = provider.answerChallenge?.(webhook) ?? null;
      if (answer === null) received.push(webhook);
      response.writeHead(answer === null ? status : 200).end(answer === null ? '' : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks/x?attempt=a%2F1%2F1&mac=b`;
});
afterEach(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

function contextFor(name: string): StartContext {
  const row = must(
    rows.find((one) => one.provider === name),
    'row',
  );
  const connection = world.connection(row.basePath, row.headers);
  const endpoints = { rest: `${world.proxy.origin}/fal-rest` };
  return { ...makeContext({ ...connection, endpoints }), reference: REFERENCE, webhookUrl: hook };
}

const requests = {
  IMAGE: imageRequest(),
  VIDEO: videoRequest(),
  LIP_SYNC: {
    kind: 'LIP_SYNC',
    image: createImage(),
    audio: createImage({ name: 'voice.mp3', contentType: 'audio/mpeg' }),
  },
} as const satisfies Readonly<Record<string, WorkRequest>>;

/** Starts work with an address for webhooks, and waits for the webhook of its end. */
async function webhookFrom(name: string, kind: keyof typeof requests, words: RegExp) {
  provider = must(world.providers[name], 'provider');
  await world.setLatency({ wire: name, queuedMs: 0, runningMs: 50, progressSteps: 2 });
  const job: JobCapability = must(provider.jobs?.[kind], 'job');
  await job.start(requests[kind], contextFor(name));
  const isEnd = ({ body }: ProviderWebhook) => words.test(body.toString('utf8'));
  await expect.poll(() => received.some(isEnd)).toBe(true);
  return must(received.find(isEnd), 'webhook');
}

describe('the stand-in', () => {
  it.each([
    ['midjourney', 'IMAGE', /"status":"SUCCESS"/],
    ['kling', 'VIDEO', /"task_status":"succeed"/],
    ['minimax', 'VIDEO', /"status":"Success"/],
    ['fal', 'IMAGE', /"status":"OK"/],
    ['replicate', 'IMAGE', /"status":"succeeded"/],
    ['hedra', 'LIP_SYNC', /"status":"COMPLETED"/],
  ] as const)(
    'of %s tells the end of its work at the address that came with the start',
    async (name, kind, words) => {
      const { path, headers } = await webhookFrom(name, kind, words);
      expect(path).toBe('/hooks/x?attempt=a%2F1%2F1&mac=b');
      expect(headers).not.toHaveProperty('authorization');
    },
  );

  it('of a vendor that repeats sends what nobody took again', async () => {
    status = 503;
    await webhookFrom('fal', 'IMAGE', /"status":"OK"/);
    status = 202;
    await expect.poll(() => received.length).toBeGreaterThan(1);
  });

  it('of MiniMax tells nothing where its challenge is not echoed', async () => {
    const own = must(world.providers['minimax'], 'provider');
    provider = { ...own, answerChallenge: () => ({ challenge: 'another' }) };
    await world.setLatency({ wire: 'minimax', queuedMs: 0, runningMs: 20 });
    const context = contextFor('minimax');
    const job = must(own.jobs?.VIDEO, 'job');
    const handle = await job.start(videoRequest(), context);
    await expect.poll(async () => (await job.status(handle, context)).state).toBe('finished');
    expect(received).toEqual([]);
  });
});

describe.each([
  ['fal', /"status":"OK"/, 'x-fal-webhook-timestamp', 'x-fal-webhook-signature'],
  ['replicate', /"status":"succeeded"/, 'webhook-timestamp', 'webhook-signature'],
] as const)('a signed webhook of %s', (name, words, timeHeader, signatureHeader) => {
  it('is taken as it came, and in no other form', async () => {
    const webhook = await webhookFrom(name, 'IMAGE', words);
    const context = contextFor(name);
    const check = (change: Partial<ProviderWebhook>) =>
      provider.verifyWebhook?.({ ...webhook, ...change }, context);
    const withHeader = (header: string, value: string) => ({
      headers: { ...webhook.headers, [header]: value },
    });
    expect(await check({})).toBe(true);
    expect(await check({ body: Buffer.from(webhook.body.toString('utf8').replace('"', ' "')) })).toBe(false);
    const time = Number(webhook.headers[timeHeader]);
    for (const other of [time - 301, time + 301, time - 1]) {
      expect(await check(withHeader(timeHeader, String(other)))).toBe(false);
    }
    expect(await check(withHeader(timeHeader, 'soon'))).toBe(false);
    expect(await check(withHeader(signatureHeader, ''))).toBe(false);
    expect(await check({ headers: {} })).toBe(false);
  });

  it('asks for the keys once, however many forged ones come', async () => {
    const webhook = await webhookFrom(name, 'IMAGE', words);
    const context = contextFor(name);
    const asked = () =>
      world.proxy.sent.filter(({ path }) => /jwks|webhooks\/default\/secret/.test(path)).length;
    await provider.verifyWebhook?.(webhook, context);
    const before = asked();
    for (let forged = 0; forged < 5; forged += 1) {
      const body = Buffer.from(`{"forged":${forged}}`);
      expect(await provider.verifyWebhook?.({ ...webhook, body }, context)).toBe(false);
    }
    expect(asked()).toBe(before);
  });
});

it('a webhook of fal signed by somebody else’s key is none', async () => {
  const webhook = await webhookFrom('fal', 'IMAGE', /"status":"OK"/);
  const { privateKey } = generateKeyPairSync('ed25519');
  const signature = sign(null, Buffer.from('anything'), privateKey).toString('hex');
  const headers = { ...webhook.headers, 'x-fal-webhook-signature': signature };
  expect(await provider.verifyWebhook?.({ ...webhook, headers }, contextFor('fal'))).toBe(false);
});

it('keys that can not be had leave a webhook unchecked, which is no refusal', async () => {
  const webhook = await webhookFrom('replicate', 'IMAGE', /"status":"succeeded"/);
  const context = contextFor('replicate');
  const headers = { authorization: 'Bearer nobody' };
  const unknown = { ...context, connection: { ...context.connection, headers } };
  await expect(provider.verifyWebhook?.(webhook, unknown)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
