import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { createReceived } from './received.ts';
import type { Wire } from './wire.ts';

const wire: Wire = {
  name: 'openai',
  mount: 'openai',
  routes: [],
  refuse: () => ({ status: 404, headers: {}, body: '' }),
};

/** Bytes of the heap that are in use. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
  return process.memoryUsage().heapUsed;
}

test('keeps the beginning of a long text, without the whole of it in memory', async () => {
  const received = createReceived();
  const before = usedHeap();
  for (let index = 0; index < 30; index += 1) {
    const image = String(index).padStart(3_000_000, 'A');
    const request = {
      method: 'POST',
      path: '/v1/images',
      params: {},
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ image })),
      baseUrl: '',
      signal: new AbortController().signal,
    };
    await received.note(wire, 'images', request);
  }
  expect(usedHeap() - before).toBeLessThan(30_000_000);
  expect(received.list()).toHaveLength(30);
  expect(received.list()[0]?.body).toEqual({ image: `${'A'.repeat(500)}...` });
});
