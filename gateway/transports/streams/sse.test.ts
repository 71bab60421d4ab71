import { EventSource } from 'eventsource';
import { createClient } from 'graphql-sse';
import { request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';

import { startRelay } from '../../../test/kit/clients/relay.ts';
import { type TestGateway, post, startTestGateway, until } from '../../server/server-under-test.fixture.ts';

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of leftovers.splice(0).toReversed()) await stop();
});

async function open(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  leftovers.push(() => gateway.close());
  return gateway;
}

const PROGRESS = 'subscription ($id: ID!) { taskProgress(id: $id) { progress task { template } } }';

function formatUrl(base: string, query: string, variables: Record<string, unknown> = {}): string {
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  return `${base}/graphql?${search.toString()}`;
}

interface Seen {
  readonly progress: number[];
  readonly ids: string[];
  completes: number;
}

function listen(url: string): { source: EventSource; seen: Seen } {
  const seen: Seen = { progress: [], ids: [], completes: 0 };
  const source = new EventSource(url);
  leftovers.push(() => source.close());
  source.addEventListener('next', ({ data, lastEventId }) => {
    const { data: result } = JSON.parse(String(data)) as { data: { taskProgress: { progress: number } } };
    seen.progress.push(result.taskProgress.progress);
    seen.ids.push(lastEventId);
  });
  source.addEventListener('complete', () => (seen.completes += 1));
  return { source, seen };
}

describe('server-sent events', () => {
  test('lets an EventSource resume by itself: every event once, in order, then no reconnect', async () => {
    const gateway = await open();
    const relay = await startRelay(gateway.url);
    leftovers.push(() => relay.close());
    gateway.world.advance('t1', 10);
    const { source, seen } = listen(formatUrl(relay.url, PROGRESS, { id: 't1' }));
    await until(() => seen.progress.length === 1);
    relay.cut();
    relay.mend();
    await until(() => gateway.world.listenerCount() === 0);
    gateway.world.advance('t1', 20);
    gateway.world.advance('t1', 30);
    await until(() => seen.progress.length === 3);
    relay.cut();
    relay.mend();
    gateway.world.advance('t1', 40);
    gateway.world.finish('t1');
    await until(() => seen.completes === 1);
    // The EventSource comes back once more, is told to stop (204), and closes.
    await until(() => source.readyState === source.CLOSED);
    expect(seen).toEqual({ progress: [10, 20, 30, 40], ids: ['1', '2', '3', '4'], completes: 1 });
    expect(gateway.world.listenerCount()).toBe(0);
  });

  test('takes its own numbering out of what the client asked for', async () => {
    const gateway = await open();
    gateway.world.advance('t1', 10);
    gateway.world.finish('t1');
    const query = `
      query other { hello }
      subscription progress($from: Int) { ...root }
      fragment root on Subscription { renamed: taskProgress(id: "t1", afterSeq: $from) { progress } }`;
    const search = new URLSearchParams({ query, operationName: 'progress' });
    const response = await fetch(`${gateway.url}/graphql?${search.toString()}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toContain('id: 1\ndata: {"data":{"renamed":{"progress":10}}}\n\n');
  });

  test.each([
    ['without afterSeq', 'subscription { taskProgress(id: "t1") { progress } }', {}],
    ['with a literal afterSeq', 'subscription { taskProgress(id: "t1", afterSeq: 0) { progress } }', {}],
    [
      'with a variable afterSeq',
      'subscription ($n: Int!) { taskProgress(id: "t1", afterSeq: $n) { progress } }',
      { n: 0 },
    ],
  ])('resumes a document %s after Last-Event-ID', async (_name, query, variables) => {
    const gateway = await open();
    for (const progress of [10, 20, 30]) gateway.world.advance('t1', progress);
    gateway.world.finish('t1');
    const response = await fetch(formatUrl(gateway.url, query, variables), {
      headers: { accept: 'text/event-stream', 'last-event-id': '2' },
    });
    const text = await response.text();
    expect(text.match(/progress":(\d+)/g)).toEqual(['progress":30']);
    expect(text).toMatch(/event: complete\nid: complete\ndata:\n\n$/);
  });

  test('serves the graphql-sse client in distinct mode: subscriptions, queries and mutations', async () => {
    const gateway = await open();
    const client = createClient({ url: `${gateway.url}/graphql`, singleConnection: false, retryAttempts: 0 });
    leftovers.push(() => client.dispose());
    const seen: unknown[] = [];
    for await (const { data } of client.iterate({ query: 'subscription { ticks(to: 3) }' })) seen.push(data);
    for await (const { data } of client.iterate({ query: '{ hello }' })) seen.push(data);
    for await (const { data } of client.iterate({ query: 'mutation { start }' })) seen.push(data);
    expect(seen).toEqual([{ ticks: 1 }, { ticks: 2 }, { ticks: 3 }, { hello: 'hi' }, { start: 'task-1' }]);
    // In the log as a mutation of any other transport.
    const changed = () => gateway.lines.flatMap((line) => /"changes":\[.*?\]/.exec(line)?.[0] ?? []);
    await expect.poll(changed).toEqual(['"changes":["start"]']);
  });

  test('is not opened by pages of other origins than those that may call', async () => {
    const gateway = await open({ corsOrigins: ['https://shop.example'] });
    const url = formatUrl(gateway.url, 'subscription { ticks(to: 1) }');
    const readStatus = async (origin: string) => {
      const headers = { accept: 'text/event-stream', origin };
      const { status, body } = await fetch(url, { headers });
      await body?.cancel();
      return status;
    };
    expect(await readStatus('https://elsewhere.example')).toBe(403);
    expect(await readStatus('https://shop.example')).toBe(200);
    expect(await readStatus(new URL(gateway.url).origin)).toBe(200);
    // A page's `no-cors` request names no origin; its browser says that it comes from elsewhere.
    const readSite = async (site: string) => {
      const headers = { accept: 'text/event-stream', 'sec-fetch-site': site };
      const { statusCode, body } = await request(
        `${gateway.url}/graphql?query=subscription%7Bticks(to:1)%7D`,
        {
          headers,
        },
      );
      await body.dump();
      return statusCode;
    };
    expect(await readSite('cross-site')).toBe(403);
    expect(await readSite('same-site')).toBe(403);
    expect(await readSite('same-origin')).toBe(200);
    expect(await readSite('none')).toBe(200);
  });

  test('opens subscriptions only by GET', async () => {
    const gateway = await open();
    const headers = { accept: 'text/event-stream' };
    expect((await fetch(formatUrl(gateway.url, 'mutation { start }'), { headers })).status).toBe(405);
    expect((await fetch(formatUrl(gateway.url, '{ hello }'), { headers })).status).toBe(405);
    expect(gateway.world.starts).toBe(0);
  });

  test('tells refusals in the stream and ends it', async () => {
    const gateway = await open();
    const headers = { accept: 'text/event-stream' };
    const refused = [
      ['subscription { taskProgress(id: "unknown") { seq } }', 'NOT_FOUND'],
      ['subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      [
        `subscription { taskProgress(id: 1) { task { ${'previous { '.repeat(50)} id ${'}'.repeat(53)}`,
        'QUERY_REFUSED',
      ],
    ] as const;
    for (const [query, code] of refused) {
      const text = await (await fetch(formatUrl(gateway.url, query), { headers })).text();
      expect(text).toContain(`"code":"${code}"`);
      expect(text).toContain('event: complete');
    }
  });

  test('ends the sources of 200 subscribers that vanish', async () => {
    const gateway = await open();
    const hangUps = Array.from({ length: 200 }, () => new AbortController());
    const requests = hangUps.map(({ signal }) =>
      fetch(formatUrl(gateway.url, PROGRESS, { id: 'quiet' }), {
        headers: { accept: 'text/event-stream' },
        signal,
      }).catch((error: unknown) => error),
    );
    await until(() => gateway.world.listenerCount() === 200);
    for (const hangUp of hangUps) hangUp.abort();
    await until(() => gateway.world.listenerCount() === 0 && gateway.server.openStreams() === 0);
    await Promise.all(requests);
    expect(gateway.world.listenerCount()).toBe(0);
  });

  test('cuts off a client that does not read', async () => {
    const gateway = await open({ stallMs: 300 });
    const { connect } = await import('node:net');
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    leftovers.push(() => socket.destroy());
    socket.on('error', () => undefined);
    const query = 'subscription { taskProgress(id: "t1") { padding(bytes: 4000000) } }';
    const path = formatUrl('', query);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
    socket.pause();
    await until(() => gateway.world.listenerCount() === 1);
    for (let index = 0; index < 10; index += 1) gateway.world.advance('t1', index);
    await until(() => gateway.world.listenerCount() === 0);
    await until(() => gateway.server.openStreams() === 0);
    expect(gateway.lines.join('')).toContain('does not read');
  });

  test('ends streams without `complete` when the server stops, so that clients come back', async () => {
    const gateway = await startTestGateway();
    const response = await fetch(formatUrl(gateway.url, PROGRESS, { id: 'quiet' }), {
      headers: { accept: 'text/event-stream' },
    });
    await gateway.close();
    const text = await response.text();
    expect(text).toContain('the server is stopping');
    expect(text).not.toContain('event: complete');
    expect(gateway.world.listenerCount()).toBe(0);
    await expect(post(gateway, { query: '{ hello }' })).rejects.toThrow('fetch failed');
  });
});

test('resumes by Last-Event-ID without changing a variable that stands elsewhere too', async () => {
  const gateway = await open();
  for (const progress of [10, 20, 30]) gateway.world.advance('t1', progress);
  gateway.world.finish('t1');
  const resumed = async (query: string): Promise<unknown[]> => {
    const { body } = await request(formatUrl(gateway.url, query, { n: 1 }), {
      headers: { accept: 'text/event-stream', 'last-event-id': '2' },
    });
    const lines = (await body.text()).split('\n').filter((line) => line.startsWith('data: {'));
    return lines.map((line) => (JSON.parse(line.slice(6)) as { data: unknown }).data);
  };
  expect(
    await resumed(
      'subscription ($n: Int!) { taskProgress(id: "t1", afterSeq: $n) { progress padding(bytes: $n) } }',
    ),
  ).toEqual([{ taskProgress: { progress: 30, padding: 'x' } }]);
  expect(
    await resumed(
      'subscription ($n: Int!) { taskProgress(id: "t1", afterSeq: $n) { progress padding(bytes: 2) } }',
    ),
  ).toEqual([{ taskProgress: { progress: 30, padding: 'xx' } }]);
});
