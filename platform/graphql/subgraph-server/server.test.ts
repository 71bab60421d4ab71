import { createHash } from 'node:crypto';

import { createClient } from 'graphql-ws';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import type { Caller } from '../../access/caller.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import {
  bytesHash,
  CALLER_HEADER,
  createCallerSigner,
  operationHash,
} from '../assertions/caller-assertion.ts';
import { createRemoteLink } from '../links/remote-link.ts';
import { createSubgraphServer, type SubgraphServerOptions } from './server.ts';
import { createContext, createTwoSubgraphs } from './two-subgraphs.fixture.ts';

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
    readiness: {},
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

interface Operation {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string | null;
}

/** The header of a gateway's request with this operation. */
async function assertedBy(operation: Operation, caller: Caller = createContext().caller) {
  const request = { method: 'POST', path: '/graphql', body: operationHash(operation) };
  return { [CALLER_HEADER]: await sign(caller, request) };
}

/** Posts as the gateway does, unless other headers are given. */
async function post(url: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers ?? (await assertedBy(body as Operation))) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
}

const code = ({ body }: Answer) => body.errors?.[0]?.extensions['code'];

describe('a subgraph served alone', () => {
  it('answers what the gateway asks', async () => {
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

  it('takes the caller from the assertion, and answers nobody without one', async () => {
    const { server } = await start();
    const asked = { query: '{ caller }' };
    expect((await post(server.url, asked)).body.data).toEqual({ caller: 'user:usr_1' });
    for (const headers of [{}, { authorization: 'Bearer good' }, { [CALLER_HEADER]: 'a.b.c' }]) {
      const refused = await post(server.url, asked, headers);
      expect([refused.status, code(refused)]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });

  it('takes an assertion for its own operation only', async () => {
    const { server } = await start();
    const headers = await assertedBy({ query: '{ caller }' });
    const replayed = await post(server.url, { query: '{ tasks { id } }' }, headers);
    expect([replayed.status, code(replayed)]).toEqual([401, 'UNAUTHENTICATED']);
    const variables = { query: '{ caller }', variables: { id: 'other' } };
    expect((await post(server.url, variables, headers)).status).toBe(401);
    expect((await post(`${server.url}?a=b`, { query: '{ caller }' }, headers)).status).toBe(401);
    expect((await post(server.url, { query: '{ caller }' }, headers)).status).toBe(200);
  });

  it('lets Kiln introspect', async () => {
    const { server } = await start();
    expect((await post(server.url, { query: '{ __schema { queryType { name } } }' })).status).toBe(200);
  });

  it('refuses what is malformed, too large or not for HTTP', async () => {
    const { server } = await start();
    const asserted = await assertedBy({ query: '{ caller }' });
    const status = async (body: unknown, headers?: Record<string, string>) =>
      (await post(server.url, body, headers)).status;
    expect(await status('{"query"', asserted)).toBe(400);
    expect(await status([{ query: '{ caller }' }], asserted)).toBe(400);
    expect(await status({ query: 7 }, asserted)).toBe(400);
    expect(await status({ query: '{ nothing }' })).toBe(400);
    expect(await status({ query: 'subscription { refusing }' })).toBe(400);
    expect(await status({ query: '{ caller }' }, { ...asserted, 'content-type': 'text/plain' })).toBe(400);
    expect(await status({ query: `{ caller } #${'x'.repeat(5_000_000)}` })).toBe(413);
    const deep = JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)) as unknown;
    const nested = await post(server.url, { query: '{ caller }', variables: { deep } });
    expect([nested.status, nested.body.errors?.[0]?.message]).toEqual([
      400,
      expect.stringMatching(/^variables nest deeper than \d+$/),
    ]);
    const tokens = await post(server.url, { query: `{ ${'caller '.repeat(11_000)} }` });
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
      readiness: { database: () => (isReady ? Promise.resolve() : Promise.reject(new Error('gone'))) },
      extraRoutes: (app) => app.get('/extra', (_request, response) => void response.json('extra')),
    });
    const get = async (path: string) => {
      const target = { method: 'GET', path, body: null };
      const headers = { [CALLER_HEADER]: await sign(createContext().caller, target) };
      const answer = await request(new URL(path, server.url), { headers });
      return [answer.statusCode, await answer.body.json()];
    };
    expect(await get('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await get('/readyz')).toEqual([
      503,
      { status: 'not ready', checks: ['database'], failing: ['database'] },
    ]);
    isReady = true;
    expect(await get('/readyz')).toEqual([200, { status: 'ready', checks: ['database'], failing: [] }]);
    expect(await get('/extra')).toEqual([200, 'extra']);
  });

  it('takes a megabyte at most at what else is mounted, as it was signed, and hides what fails there', async () => {
    const { server } = await start({
      extraRoutes(app) {
        app.post('/extra', (sent, response) => void response.json((sent.body as Buffer).length));
        app.get('/broken', () => {
          throw new Error('a secret of ours');
        });
      },
    });
    const send = async (path: string, body: Buffer | null, signed = body) => {
      const method = body === null ? 'GET' : 'POST';
      const hash = signed === null ? null : bytesHash(signed);
      const headers = {
        [CALLER_HEADER]: await sign(createContext().caller, { method, path, body: hash }),
      };
      const answer = await request(new URL(path, server.url), { method, headers, body });
      const text = await answer.body.text();
      return [answer.statusCode, JSON.parse(text) as unknown];
    };
    const most = Buffer.alloc(1024 * 1024);
    const refused = (code: string) => ({ errors: [{ message: expect.any(String), extensions: { code } }] });
    expect(await send('/extra', most)).toEqual([200, most.length]);
    expect(await send('/extra', Buffer.alloc(most.length + 1))).toEqual([413, refused('PAYLOAD_TOO_LARGE')]);
    expect(await send('/extra', Buffer.from('a'), Buffer.from('b'))).toEqual([
      401,
      refused('UNAUTHENTICATED'),
    ]);
    expect(await send('/broken', null)).toEqual([
      500,
      { errors: [{ message: 'internal error', extensions: { code: 'INTERNAL' } }] },
    ]);
  });

  it('fails to start where the port is taken', async () => {
    const { server } = await start();
    await expect(start({ port: Number(new URL(server.url).port) })).rejects.toThrow(
      /^port \d+ of 127\.0\.0\.1 is in use by another program/,
    );
  });
});

describe('a subgraph served alone, over graphql-ws', () => {
  const query = 'subscription { taskProgress(id: "t1") { seq caller } }';
  const assertionFor = (method: string, body: string | null) =>
    sign(createContext('usr_3').caller, { method, path: '/graphql', body });

  function connect(url: string, connectionParams: () => Promise<Record<string, unknown>>) {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams,
    });
    cleanups.push(async () => await client.dispose());
    return client;
  }
  const asGateway = async () => ({ kilnCaller: await assertionFor('CONNECT', null) });

  it('serves the subscriptions of a gateway, each for its own caller', async () => {
    const { two, server } = await start();
    const link = createRemoteLink({
      name: 'media',
      endpoints: createEndpoints({ urls: [server.url], logger: silentLogger() }),
      sign,
      logger: silentLogger(),
    });
    cleanups.push(() => link.close());
    const stream = await link.subscribe({ query, variables: {}, context: createContext('usr_3') });
    const events = stream as AsyncIterableIterator<unknown>;
    const first = events.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t1', 1);
    expect((await first).value).toEqual({ data: { taskProgress: { seq: 1, caller: 'usr_3' } } });
    await events.return?.();
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('closes the socket of anybody else', async () => {
    const { server } = await start();
    const asHttp = async () => ({ kilnCaller: await assertionFor('POST', null) });
    for (const parameters of [async () => ({}), async () => ({ kilnCaller: 'a.b.c' }), asHttp]) {
      const client = connect(server.url, parameters);
      await expect(client.iterate({ query: '{ caller }' }).next()).rejects.toMatchObject({ code: 4403 });
    }
  });

  it('refuses a wrong assertion, and what is no operation, for that operation only', async () => {
    const { server } = await start();
    const client = connect(server.url, asGateway);
    const ask = (asked: string, kilnCaller?: string) =>
      client.iterate({ query: asked, extensions: { kilnCaller } }).next();
    const refusal = [{ extensions: { code: 'UNAUTHENTICATED' } }];
    const right = await assertionFor('SUBSCRIBE', operationHash({ query: '{ caller }' }));
    await expect(ask('{ caller }')).rejects.toMatchObject(refusal);
    await expect(ask('{ caller }', 'a.b.c')).rejects.toMatchObject(refusal);
    await expect(ask('{ tasks { id } }', right)).rejects.toMatchObject(refusal);
    const nothing = await assertionFor('SUBSCRIBE', operationHash({ query: '{ nothing }' }));
    await expect(ask('{ nothing }', nothing)).rejects.toMatchObject([
      { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
    ]);
    expect((await ask('{ caller }', right)).value).toEqual({ data: { caller: 'user:usr_3' } });
  });
});

async function postFile(
  url: string,
  content: Buffer | null,
  headers: Record<string, string> = { 'apollo-require-preflight': 'true' },
): Promise<Answer> {
  const query = 'mutation ($file: Upload!) { upload(file: $file) { bytes sha256 } }';
  const asserted = await assertedBy({ query, variables: { file: null } });
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { file: null } }));
  form.set('map', JSON.stringify({ file: ['variables.file'] }));
  if (content !== null) form.set('file', new Blob([new Uint8Array(content)]), 'x.bin');
  const answer = await fetch(url, { method: 'POST', headers: { ...asserted, ...headers }, body: form });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}
