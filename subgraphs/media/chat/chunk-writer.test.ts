import { afterAll, beforeAll, expect, it } from 'vitest';

import { startEngine, type TestEngine } from '../tasks/testing/engine.ts';
import { createChunkWriter } from './chunk-writer.ts';
import { type ChatStore, createChatStore } from './store.ts';

/** A reply that somebody pays for is written whole, whatever becomes of the acknowledgements. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

async function begun(key: string): Promise<{ store: ChatStore; id: string }> {
  const store = createChatStore(engine.database);
  const id = await store.begin({ owner: 'usr_me', key, fingerprint: 'f' });
  if (id === null) throw new Error('the key is taken');
  return { store, id };
}

it('writes a chunk once whose acknowledgement was lost, and what came meanwhile after it', async () => {
  const { store, id } = await begun('lost');
  const lost = Promise.withResolvers<void>();
  let tries = 0;
  const shaky: ChatStore = {
    ...store,
    async append(...chunk) {
      const isKept = await store.append(...chunk);
      tries += 1;
      if (tries > 2) return isKept;
      lost.resolve();
      throw new Error('Connection terminated unexpectedly');
    },
  };
  const reasons: Error[] = [];
  const writer = createChunkWriter({ id, store: shaky, bus: engine.bus, onLost: (why) => reasons.push(why) });
  writer.add('Hello ');
  await lost.promise;
  writer.add('world');
  await writer.finish();
  writer.close();
  expect(reasons).toEqual([]);
  expect(await store.chunks(id, 0, 10)).toEqual(['Hello ', 'world']);
  // Whoever follows the reply reads until there are as many.
  expect(await store.byId(id)).toMatchObject({ chunks: 2 });
});

it('keeps characters whole that come in halves, and leaves out what no text can have', async () => {
  const { store, id } = await begun('halves');
  const writer = createChunkWriter({ id, store, bus: engine.bus, onLost: () => undefined });
  writer.add('a fox \uD83E');
  await expect.poll(async () => (await store.chunks(id, 0, 10)).length).toBe(1);
  writer.add('\uDD8A and\0 a hare \uD83D');
  await writer.finish();
  writer.close();
  expect((await store.chunks(id, 0, 10)).join('')).toBe('a fox 🦊 and a hare \uFFFD');
});
