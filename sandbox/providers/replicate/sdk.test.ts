import Replicate, { validateWebhook } from 'replicate';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';

import { onePixel, useSandbox } from '../../use-sandbox.fixture.ts';

/** Replicate's SDK against its stand-in. */

const sandbox = useSandbox();
const client = () => new Replicate({ auth: 'test', baseUrl: `${sandbox.url('replicate')}/v1` });
const model = 'black-forest-labs/flux-schnell';
const input = { prompt: 'a lighthouse' };

it('runs a model and reads its output', async () => {
  const output = (await client().run(model, { input })) as string[];
  expect(output).toHaveLength(1);
  expect((await (await fetch(output[0] ?? '')).arrayBuffer()).byteLength).toBeGreaterThan(50);
});

it('starts a version by its bare hash, and waits when asked', async () => {
  const { latest_version: latest } = await client().models.get('black-forest-labs', 'flux-schnell');
  const version = latest?.id ?? '';
  expect(version).toMatch(/^[0-9a-f]{64}$/);
  expect((await client().predictions.create({ version, input })).status).toBe('starting');
  const done = await client().predictions.create({ version, input, wait: 10 });
  expect(done).toMatchObject({ status: 'succeeded', model, version });
  await expect(client().predictions.create({ version: '0'.repeat(64), input })).rejects.toThrow('422');
});

it('lists predictions, cancels one and streams another', async () => {
  const started = await client().predictions.create({ model, input });
  const { results } = await client().predictions.list();
  expect(results.map(({ id }) => id)).toContain(started.id);
  expect((await client().predictions.cancel(started.id)).id).toBe(started.id);
  const events: string[] = [];
  for await (const { event } of client().stream(model, { input })) events.push(event);
  expect(events).toEqual(['output', 'done']);
});

it('keeps files and tells what they are', async () => {
  const file = await client().files.create(new Blob([onePixel], { type: 'image/png' }), { from: 'a test' });
  expect(file).toMatchObject({ content_type: 'image/png', size: onePixel.length });
  expect(await client().files.get(file.id)).toEqual(file);
  expect((await client().files.list()).results.map(({ id }) => id)).toContain(file.id);
  const kontext = 'black-forest-labs/flux-kontext-pro';
  const edited = { ...input, input_image: file.urls.get };
  expect((await client().predictions.create({ model: kontext, input: edited, wait: 10 })).status).toBe(
    'succeeded',
  );
  expect(await client().files.delete(file.id)).toBe(true);
  await expect(client().files.get(file.id)).rejects.toThrow('404');
});

it('refuses a wrong input by its name', async () => {
  const wrong = client().predictions.create({ model, input: { prompt: 'x', num_outputs: 9 } });
  await expect(wrong).rejects.toThrow('num_outputs');
});

it('signs webhooks with the secret of the account', async () => {
  const { key } = await client().webhooks.default.secret.get();
  const body = JSON.stringify({ id: 'p', status: 'succeeded' });
  const now = new Date();
  const signature = new Webhook(key).sign('msg_1', now, body);
  const request = new Request('http://kiln.test/', {
    method: 'POST',
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature,
    },
    body,
  });
  expect(await validateWebhook(request, key)).toBe(true);
});
