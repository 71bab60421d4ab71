import { createServer, type ServerResponse } from 'node:http';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { listenOn } from '../../platform/http/server.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { isWhole } from '../kit/extent.ts';
import {
  type KilnProcess,
  serviceKey,
  startKilnProcess,
  temporaryDataDir,
} from '../kit/processes/kiln-process.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

/** Planned stops (SIGTERM) of every role: it says at once that it is not ready, and ends what nobody else can take up. */

let upstream: Awaited<ReturnType<typeof startUpstream>>;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Speaks the wire of images and chats, which are there when the test says so: calls that only their own process can end. */
async function startUpstream() {
  const waiting: { readonly path: string; readonly response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    waiting.push({ path: request.url ?? '', response });
  });
  const { url } = await listenOn(server, '127.0.0.1', 0);
  const choice = { index: 0, delta: { content: 'At last.' }, finish_reason: 'stop' };
  const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'slow-1', choices: [choice] };
  const chat = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const image = JSON.stringify({ created: 1, data: [{ b64_json: IMAGE }] });
  return {
    settings: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: url, REST_AUTH: 'open' },
    waiting: () => waiting.length,
    answer(): void {
      for (const { path, response } of waiting.splice(0)) {
        const isChat = path.includes('chat');
        const type = isChat ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type }).end(isChat ? chat : image);
      }
    },
    stop: () => server.close().closeAllConnections(),
  };
}

const START = 'mutation { generateImage(input: { generator: "union", prompt: "a pier" }) { id } }';

async function start(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { data, errors } = await graphql(url, START, {}, headers);
  expect(errors).toBeUndefined();
  return data.generateImage.id as string;
}

async function untilWaiting(count: number): Promise<void> {
  await until(
    async () => upstream.waiting(),
    (found) => found === count,
  );
}

/** What /readyz says; null where nobody answers. */
async function readiness(
  origin: string,
): Promise<{ readonly status: number; readonly failing: unknown } | null> {
  try {
    const response = await fetch(`${origin}/readyz`);
    return { status: response.status, failing: ((await response.json()) as { failing: unknown }).failing };
  } catch {
    return null;
  }
}

const STOPPING = { status: 503, failing: ['stopping'] };

describe.runIf(isWhole)('one process that is everything', () => {
  let database: TestDatabase;
  let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
  const started: KilnProcess[] = [];
  beforeAll(async () => {
    [database, folder] = await Promise.all([migratedDatabase(), temporaryDataDir()]);
  });
  afterEach(async () => {
    upstream.answer();
    for (const kiln of started.splice(0)) await kiln.stop();
  });
  afterAll(async () => {
    await database?.drop();
    folder?.remove();
  });
  async function startKiln(): Promise<KilnProcess & { readonly url: string }> {
    const settings = {
      ...upstream.settings,
      DATABASE_URL: database.connectionString,
      WORKER_GRACE_SECONDS: '60',
      DRAIN_SECONDS: '3',
    };
    const kiln = await startKilnProcess({ dataDir: folder.dataDir, settings });
    started.push(kiln);
    return kiln;
  }

  it('takes nothing more from the first moment, and finishes the calls that answer with the result', async () => {
    const first = await startKiln();
    const called = await start(first.url, serviceKey);
    await untilWaiting(1);
    first.signal('SIGTERM');
    await until(
      async () => first.output(),
      (text) => text.includes('finishing calls that no other worker can take up'),
    );
    // It still serves for DRAIN_SECONDS.
    expect(await readiness(first.url)).toEqual(STOPPING);
    const left = await start(first.url, serviceKey);
    await until(
      () => readiness(first.url),
      (found) => found === null,
    );
    expect(upstream.waiting()).toBe(1);
    upstream.answer();
    expect(await first.exited).toEqual({ code: 0, signal: null });

    const second = await startKiln();
    await untilWaiting(1);
    upstream.answer();
    for (const id of [called, left]) {
      const { data } = await until(
        () => graphql(second.url, TASK, { id }, serviceKey),
        (answer) => answer.data.task.state === 'SUCCEEDED',
      );
      expect(data.task.attempts).toHaveLength(1);
    }
  });

  it('ends at once at a second signal, and the next one says what became of the call', async () => {
    const first = await startKiln();
    const id = await start(first.url, serviceKey);
    await untilWaiting(1);
    first.signal('SIGTERM');
    await until(
      async () => first.output(),
      (text) => text.includes('finishing calls that no other worker can take up'),
    );
    const signalledAt = performance.now();
    first.signal('SIGINT');
    expect(await first.exited).toEqual({ code: 1, signal: null });
    // It would have waited for the call for a minute.
    expect(performance.now() - signalledAt).toBeLessThan(30_000);
    const second = await startKiln();
    const { data } = await until(
      () => graphql(second.url, TASK, { id }, serviceKey),
      (answer) => answer.data.task.error !== null,
    );
    expect(data.task.error.code).toBe('START_UNKNOWN');
  });
});

const TASK = 'query ($id: ID!) { task(id: $id) { state error { code } attempts { state } } }';

describe('processes of their own', () => {
  let kiln: SplitKiln;
  beforeAll(async () => {
    kiln = await startSplitKiln({
      ...upstream.settings,
      WORKER_GRACE_SECONDS: '60',
      DRAIN_SECONDS: '3',
      STOP_GRACE_SECONDS: '5',
    });
  });
  afterAll(() => kiln?.close());

  it.each(['media', 'workflow'] as const)(
    '%s still serves while it says that it is not ready, then ends',
    async (role) => {
      const origin = kiln.findOrigin(role);
      const ended = kiln.end(role, 'SIGTERM');
      await until(
        () => readiness(origin),
        (found) => found?.status !== 200,
      );
      expect(await readiness(origin)).toEqual(STOPPING);
      const query = role === 'media' ? '{ tasks(first: 1) { totalCount } }' : '{ templates { code } }';
      const { errors } = await graphql(kiln.url, query, {});
      expect(errors).toBeUndefined();
      await ended;
      expect(await readiness(origin)).toBeNull();
      expect(kiln.output(role)).toContain('"msg":"stopped"');
      await kiln.start(role);
    },
  );

  it('media finishes the chats that run there, and begins none meanwhile', async () => {
    const chat =
      'mutation ($input: ChatInput!, $key: String) { chat(input: $input, idempotencyKey: $key) { text } }';
    const ask = (key: string) =>
      graphql(kiln.url, chat, {
        key,
        input: { generator: 'llm', messages: [{ role: 'user', content: 'Slowly.' }] },
      });
    const slow = ask('slow');
    await untilWaiting(1);
    const ended = kiln.end('media', 'SIGTERM');
    await until(
      async () => kiln.output('media'),
      (text) => text.includes('finishing chats that nobody else can take up'),
    );
    expect((await ask('late')).errors?.[0]?.extensions?.code).toBe('UNAVAILABLE');
    upstream.answer();
    expect((await slow).data).toEqual({ chat: { text: 'At last.' } });
    await ended;
    await kiln.start('media');
  });

  it('a worker says that it is not ready while it finishes what only it can', async () => {
    const called = await start(kiln.url);
    await untilWaiting(1);
    const origin = kiln.findOrigin('worker');
    expect(await readiness(origin)).toMatchObject({ status: 200 });
    const ended = kiln.end('worker', 'SIGTERM');
    await until(
      () => readiness(origin),
      (found) => found?.status !== 200,
    );
    expect(await readiness(origin)).toEqual(STOPPING);
    upstream.answer();
    await ended;
    await kiln.start('worker');
    const { data } = await until(
      () => graphql(kiln.url, TASK, { id: called }),
      (answer) => answer.data.task.state === 'SUCCEEDED',
    );
    expect(data.task.attempts).toHaveLength(1);
  });
});
