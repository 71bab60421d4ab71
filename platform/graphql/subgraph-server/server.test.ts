import { createHash } from 'node:crypto';

import { createClient } from 'graphql-ws';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { AppError } from '../../errors.ts';
import { silentLogger } from '../../process/logger.ts';
import { CALLER_HEADER, createCallerSigner } from '../links/caller-assertion.ts';
import { createSubgraphServer, type SubgraphServerOptions } from './server.ts';
import { contextOf, createTwoSubgraphs } from './two-subgraphs.fixture.ts';

const KEY = 'the-internal-key-of-the-tests-0123456789';
const sign = createCallerSigner({ key: KEY, audience: 'media' });
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(options: Partial<SubgraphServerOptions> = {}) {
  const two = createTwoSubgraphs();
  const server = await createSubgraphServer({
    subgraph: two.media,
    internalKey: KEY,
    logger: silentLogger(),
    host: '127.0.0.1',
    port: 0,
    uploadMaxBytes: 1_000,
    readiness: () => Promise.resolve(),
    ...options,
  });
  cleanups.push(() => server.close());
  return { two, server };
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly data?: Record<string, unknown> | null;
    readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[];
  };
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
}

const code = ({ body }: Answer) => body.errors?.[0]?.extensions['code'];

describe('a subgraph served alone', () => {
  it('answers what any federation router asks', async () => {
    const { server } = await start();
    const sdl = await post(server.url, { query: '{ _service { sdl } }' });
    expect(JSON.stringify(sdl.body.data)).toContain('type Task');
    const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Task { state } } }';
    const entities = await post(server.url, {
      query,
      variables: { r: [{ __typename: 'Task', id: 't1' }] },
      operationName: null,
    });
    expect(entities).toEqual({ status: 200, body: { data: { _entities: [{ state: 'RUNNING' }] } } });
  });

  it('takes the caller from an assertion, else from what identifies an end user, else nobody', async () => {
    const { server } = await start({
      identify: async ({ headers }, traceId) =>
        headers.authorization === 'Bearer good' ? { ...contextOf('usr_5').caller, traceId } : null,
    });
    const asked = { query: '{ caller }' };
    const assertion = await sign(contextOf('usr_1').caller);
    expect((await post(server.url, asked)).body.data).toEqual({ caller: 'anonymous:anon' });
    expect((await post(server.url, asked, { [CALLER_HEADER]: assertion })).body.data).toEqual({
      caller: 'user:usr_1',
    });
    expect((await post(server.url, asked, { authorization: 'Bearer good' })).body.data).toEqual({
      caller: 'user:usr_5',
    });
  });

  it('refuses a forged assertion, also where a refusal could be thrown', async () => {
    const { server } = await start({
      identify: () => Promise.reject(new AppError('UNAUTHENTICATED', 'expired')),
    });
    const forged = await post(server.url, { query: '{ caller }' }, { [CALLER_HEADER]: 'a.b.c' });
    expect([forged.status, code(forged)]).toEqual([401, 'UNAUTHENTICATED']);
    const expired = await post(server.url, { query: '{ caller }' });
    expect([expired.status, code(expired)]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('lets only Kiln introspect, unless it is opened', async () => {
    const query = '{ __schema { queryType { name } } }';
    const { server } = await start();
    const { server: opened } = await start({ openIntrospection: true });
    const assertion = await sign(contextOf().caller);
    expect(code(await post(server.url, { query }))).toBe('GRAPHQL_VALIDATION_FAILED');
    expect((await post(server.url, { query }, { [CALLER_HEADER]: assertion })).status).toBe(200);
    expect((await post(opened.url, { query })).status).toBe(200);
  });

  it('refuses what is malformed, too large or not for HTTP', async () => {
    const { server } = await start();
    const status = async (body: unknown, headers = {}) => (await post(server.url, body, headers)).status;
    expect(await status('{"query"')).toBe(400);
    expect(await status([{ query: '{ caller }' }])).toBe(400);
    expect(await status({ query: 7 })).toBe(400);
    expect(await status({ query: '{ nothing }' })).toBe(400);
    expect(await status({ query: 'subscription { refusing }' })).toBe(400);
    expect(await status({ query: '{ caller }' }, { 'content-type': 'text/plain' })).toBe(400);
    expect(await status({ query: `{ caller } #${'x'.repeat(5_000_000)}` })).toBe(413);
    const tokens = await post(server.url, { query: `{ ${'caller '.repeat(6_000)} }` });
    expect(code(tokens)).toBe('QUERY_REFUSED');
  });

  it('stores an upload of exactly the limit, and refuses one byte more', async () => {
    const { server } = await start();
    const exact = await postFile(server.url, Buffer.alloc(1_000, 'x'));
    const sha256 = createHash('sha256').update(Buffer.alloc(1_000, 'x')).digest('hex');
    expect(exact.body.data).toMatchObject({ upload: { bytes: 1_000, sha256 } });
    expect(code(await postFile(server.url, Buffer.alloc(1_001, 'x')))).toBe('PAYLOAD_TOO_LARGE');
  });

  it('refuses an upload that a form of another site could have sent', async () => {
    const { server } = await start();
    const refused = await postFile(server.url, Buffer.from('x'), {});
    expect(refused.status).toBe(400);
    expect(refused.body.errors?.[0]?.message).toContain('apollo-require-preflight');
  });

  it('names an announced file that never comes', async () => {
    const { server } = await start();
    const answer = await postFile(server.url, null);
    expect(code(answer)).toBe('BAD_USER_INPUT');
  });

  it('says whether it is ready, and serves what else is mounted', async () => {
    let isReady = false;
    const { server } = await start({
      readiness: () => (isReady ? Promise.resolve() : Promise.reject(new Error('no database'))),
      extraRoutes: (app) => app.get('/extra', (_request, response) => void response.json('extra')),
    });
    const get = async (path: string) => {
      const answer = await request(new URL(path, server.url));
      return [answer.statusCode, await answer.body.json()];
    };
    expect(await get('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await get('/readyz')).toEqual([503, { status: 'not ready' }]);
    isReady = true;
    expect(await get('/readyz')).toEqual([200, { status: 'ready' }]);
    expect(await get('/extra')).toEqual([200, 'extra']);
  });

  it('fails to start where the port is taken', async () => {
    const { server } = await start();
    await expect(start({ port: Number(new URL(server.url).port) })).rejects.toThrow(
      /^port \d+ of 127\.0\.0\.1 is in use by another program/,
    );
  });
});

describe('a subgraph served alone, over graphql-ws', () => {
  function connect(url: string) {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    cleanups.push(async () => await client.dispose());
    return client;
  }

  it('serves queries and subscriptions of somebody who comes directly', async () => {
    const { two, server } = await start();
    const client = connect(server.url);
    const answer = await client.iterate({ query: '{ caller }' }).next();
    expect(answer.value).toEqual({ data: { caller: 'anonymous:anon' } });
    const events = client.iterate({ query: 'subscription { taskProgress(id: "t1") { seq caller } }' });
    const first = events.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t1', 1);
    expect((await first).value).toEqual({ data: { taskProgress: { seq: 1, caller: 'anon' } } });
    await events.return?.();
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('refuses a wrong assertion for its operation only', async () => {
    const { server } = await start();
    const client = connect(server.url);
    const other = client.iterate({ query: 'subscription { taskProgress(id: "t1") { seq } }' });
    void other.next();
    const forged = client.iterate({ query: '{ caller }', extensions: { kilnCaller: 'a.b.c' } });
    await expect(forged.next()).rejects.toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    const right = { kilnCaller: await sign(contextOf('usr_3').caller) };
    const answer = await client.iterate({ query: '{ caller }', extensions: right }).next();
    expect(answer.value).toEqual({ data: { caller: 'user:usr_3' } });
    await other.return?.();
  });

  it('bounds what one socket may have open', async () => {
    const { two, server } = await start();
    const client = connect(server.url);
    const query = 'subscription { taskProgress(id: "t1") { seq } }';
    const streams = Array.from({ length: 100 }, () => client.iterate({ query }));
    const waiting = streams.map((stream) => stream.next());
    await expect.poll(() => two.listenerCount()).toBe(100);
    await expect(client.iterate({ query }).next()).rejects.toMatchObject([
      { extensions: { code: 'RATE_LIMITED' } },
    ]);
    await client.dispose();
    await Promise.all(waiting);
    await expect.poll(() => two.listenerCount()).toBe(0);
  });
});

async function postFile(
  url: string,
  content: Buffer | null,
  headers: Record<string, string> = { 'apollo-require-preflight': 'true' },
): Promise<Answer> {
  const query = 'mutation ($file: Upload!) { upload(file: $file) { bytes sha256 } }';
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { file: null } }));
  form.set('map', JSON.stringify({ file: ['variables.file'] }));
  if (content !== null) form.set('file', new Blob([new Uint8Array(content)]), 'x.bin');
  const answer = await fetch(url, { method: 'POST', headers, body: form });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}
