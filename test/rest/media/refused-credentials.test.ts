import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { listenOn, stopAccepting } from '../../../platform/http/server.ts';
import { graphql, rest } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** An upstream that refuses our own credentials is not asked again for the same work, and operators see it at once. */

const key = createHash('sha256').update('refused credentials').digest('hex');
const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let status = 401;
let requests = 0;
let hasFallback = true;
const upstream = createServer((request, response) => {
  requests += 1;
  request.resume();
  if (request.url?.includes(':generateContent')) {
    const made = { inlineData: { mimeType: 'image/png', data: image } };
    const candidates = [{ content: { parts: [made] }, finishReason: 'STOP' }];
    const answer = JSON.stringify({ candidates: hasFallback ? candidates : [] });
    response.writeHead(hasFallback ? 200 : 403, { 'content-type': 'application/json' }).end(answer);
    return;
  }
  const body = status === 200 ? { data: [{ b64_json: image }] } : { error: { message: 'Incorrect API key' } };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

const lines: string[] = [];
let kiln: KilnUnderTest;
beforeAll(async () => {
  const { url } = await listenOn(upstream, '127.0.0.1', 0);
  kiln = await startKiln({
    settings: {
      MIDJOURNEY_BASE_URL: url,
      MIDJOURNEY_SECRET: 'a-midjourney-secret',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: 'an-openai-key',
      GEMINI_BASE_URL: `${url}/v1beta`,
      GEMINI_API_KEY: 'a-gemini-key',
      REST_AUTH: 'open',
      SERVICE_KEYS: `operator=${createHash('sha256').update(key).digest('hex')}`,
    },
    logLevel: 'silent',
    onLogLine: (line) => void lines.push(line),
  });
});
afterAll(async () => {
  await kiln?.close();
  await stopAccepting(upstream);
});

const health = async (authorization = ''): Promise<Record<string, unknown>> => {
  const { data } = await graphql(
    kiln.url,
    '{ health { generators { generator state setting problem } } }',
    {},
    { authorization },
  );
  const all = data.health.generators as { generator: string }[];
  return Object.fromEntries(all.map(({ generator, ...facts }) => [generator, facts]));
};

/** By the refusing upstream alone, or by whoever of its generator can. */
const makeImage = (model?: string) => {
  const form = new FormData();
  form.set('prompt', 'a pier');
  if (model !== undefined) form.set('model', model);
  return rest(kiln.url, 'POST', '/api/union/img/sync/generate/image', form);
};

it.each([401, 403])('ends the work of %i at once, with one request', async (refusal) => {
  status = refusal;
  requests = 0;
  const { body } = await makeImage('gpt-image-2');
  expect(body).toMatchObject({ status: false, data: { error: { code: 'unavailable', retryable: false } } });
  expect(requests).toBe(1);
});

it('has work that others can do done by the next of its generator', async () => {
  requests = 0;
  expect((await makeImage()).body).toMatchObject({ status: true, data: { provider: 'gemini' } });
  expect(requests).toBe(2);
});

it('is logged at error with provider and setting, without the credential', () => {
  const line = lines.find((one) => one.includes('refuses our credentials')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ level: 50, provider: 'openai', setting: 'OPENAI_API_KEY' });
  expect(lines.join('\n')).not.toContain('an-openai-key');
});

it('turns the health of its generators red, with the setting for administrators alone', async () => {
  expect(await health(`Bearer ${key}`)).toMatchObject({
    union: {
      state: 'degraded',
      setting: 'OPENAI_API_KEY',
      problem: expect.stringContaining('openai refuses our credentials'),
    },
  });
  expect(await health()).toMatchObject({ union: { state: 'degraded', setting: null, problem: null } });
});

it('fails the health operation of a group that has no other provider', async () => {
  expect((await rest(kiln.url, 'GET', '/api/imga/health')).body['status']).toBe(true);
  await rest(kiln.url, 'POST', '/api/imga/sync/image?prompt=a+pier');
  const { body } = await rest(kiln.url, 'GET', '/api/imga/health');
  expect(body).toMatchObject({ status: false, data: { checks: { imga: 'not available' } } });
});

it('turns green again once the credentials are accepted', async () => {
  status = 200;
  expect((await makeImage('gpt-image-2')).body['status']).toBe(true);
  expect(await health()).toMatchObject({ union: { state: 'ok' } });
});

it('has nothing made up by the sandbox where each real provider refuses', async () => {
  status = 401;
  hasFallback = false;
  requests = 0;
  const { body } = await makeImage();
  expect(body).toMatchObject({ status: false, data: { error: { code: 'unavailable' } } });
  expect(requests).toBe(2);
});
