import { createFalClient, type QueueStatus } from '@fal-ai/client';
import { expect, it } from 'vitest';

import { isWhole } from '../../../test/kit/extent.ts';
import { onePixel, useSandbox } from '../../use-sandbox.fixture.ts';

/** fal's SDK against the stand-ins of its queue, its direct endpoint and its storage. */

const sandbox = useSandbox();
const MODEL = 'fal-ai/flux/schnell';
const input = { prompt: 'a lighthouse' };
const PLACES: Readonly<Record<string, string>> = {
  'https://queue.fal.run': 'fal',
  'https://fal.run': 'fal/run',
  'https://rest.fal.ai': 'fal-rest',
  'https://rest.alpha.fal.ai': 'fal-rest',
};

/** The SDK knows one address per service; here each is a mount of the sandbox. */
const client = () =>
  createFalClient({
    credentials: 'test',
    fetch(address, init) {
      const url = new URL(address instanceof Request ? address.url : address);
      const mount = PLACES[url.origin];
      const target = mount === undefined ? url.href : sandbox.url(mount) + url.pathname + url.search;
      return fetch(target, init);
    },
  });

it('submits, follows and reads a request', async () => {
  const seen: string[] = [];
  const { data, requestId } = await client().subscribe(MODEL, {
    input,
    pollInterval: 20,
    logs: true,
    onQueueUpdate: ({ status }: QueueStatus) => seen.push(status),
  });
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(data.images[0]?.url).toContain('/results/');
  expect(seen.at(-1)).toBe('COMPLETED');
});

it('streams the status and cancels', async () => {
  const { request_id: requestId } = await client().queue.submit(MODEL, { input });
  const stream = await client().queue.streamStatus(MODEL, { requestId });
  const seen: string[] = [];
  for await (const { status } of stream) seen.push(status);
  expect(seen.at(-1)).toBe('COMPLETED');
  await expect(client().queue.cancel(MODEL, { requestId })).rejects.toMatchObject({ status: 400 });
});

it('answers a direct run', async () => {
  const { data, requestId } = await client().run(MODEL, { input });
  expect(data.images).toHaveLength(1);
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
});

it('names what is wrong with an input', async () => {
  const wrong = client().run(MODEL, { input: { prompt: 'x', num_images: 9 } });
  await expect(wrong).rejects.toMatchObject({
    name: 'ValidationError',
    status: 422,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    body: { detail: [expect.objectContaining({ loc: ['body', 'num_images'] })] },
  });
});

it('keeps files', async () => {
  const small = await client().storage.upload(new Blob([onePixel], { type: 'image/png' }));
  expect(Buffer.from(await (await fetch(small)).arrayBuffer())).toEqual(onePixel);
});

// The SDK sends nothing smaller in parts.
it.runIf(isWhole)('keeps files of more than 90 MiB, which come in parts', async () => {
  const size = (90 << 20) + 1;
  const large = await client().storage.upload(new Blob([new Uint8Array(size)], { type: 'video/mp4' }));
  const answer = await fetch(large);
  expect(answer.headers.get('content-length')).toBe(String(size));
  await answer.body?.cancel();
});
