import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type ExecutionResult, parse, subscribe } from 'graphql';
import { expect, it } from 'vitest';

import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createDiskStore } from '../../platform/object-store/disk.ts';
import { createCredentialRefusals } from './generators/credentials/refusals.ts';
import type { ChatPiece, Provider } from './providers/contract/provider.ts';
import { createMediaSubgraph } from './subgraph.ts';
import { me, toRegistry, startEngine } from './tasks/testing/engine.ts';
import { testBinding } from './tasks/testing/provider.ts';

const STREAM = parse(`subscription {
  chatStream(input: { generator: "llm", messages: [{ role: "user", content: "hello" }] }, idempotencyKey: "k") {
    delta error { code message }
  }
}`);
const NO_BOUND = { bytes: 0, files: 0 };

/** Says half of a reply, and no more until it is left. */
const halting: Provider = {
  name: 'halting',
  chat: () => Promise.reject(new Error('never asked')),
  async *chatStream(_request, { signal }): AsyncIterable<ChatPiece> {
    yield { delta: 'half' };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal.throwIfAborted();
  },
};

it('ends the chats that run in it when it closes', async () => {
  const engine = await startEngine();
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-subgraph-'));
  const { queue, bus, http, logger, platformDatabase: database } = engine;
  const shared = { database, queue, bus, http, logger, authMode: 'open', version: 'test' } as const;
  const media = createMediaSubgraph({
    ...shared,
    store: createDiskStore({ directory: folder }),
    outbound: createOutboundRule({ allow: [] }),
    registry: toRegistry(testBinding('llm#0', halting, 'http://127.0.0.1:1')),
    refusals: createCredentialRefusals(shared),
    files: {
      publicUrl: 'http://kiln.test',
      cdnBaseUrl: null,
      urlTtlSeconds: 0,
      secret: 's'.repeat(32),
      retentionDays: 0,
    },
    uploadMaxBytes: 1_000,
    uploadQuotas: { anonymous: NO_BOUND, user: NO_BOUND, key: NO_BOUND },
    eventRetentionDays: 0,
    queueMaxHours: 24,
    webhookSecret: `whsec_${'s'.repeat(44)}`,
  });
  const { subgraph } = media;
  const contextValue = subgraph.contextFor({ caller: me, signal: new AbortController().signal });
  const stream = await subscribe({ schema: subgraph.schema, document: STREAM, contextValue });
  const pieces = stream as AsyncIterableIterator<ExecutionResult>;
  expect(await pieces.next()).toMatchObject({ value: { data: { chatStream: { delta: 'half' } } } });
  await media.close();
  expect(await pieces.next()).toMatchObject({
    value: {
      data: {
        chatStream: { error: { code: 'START_UNKNOWN', message: expect.stringContaining('server stopped') } },
      },
    },
  });
  await engine.stop();
  await rm(folder, { recursive: true });
});
