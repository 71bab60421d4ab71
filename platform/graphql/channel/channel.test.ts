import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';

import type { SubgraphLink } from '../operations/subgraph.ts';
import { createContext } from '../subgraph-server/two-subgraphs.fixture.ts';
import { cleanUp, cleanups, linkTo, startMedia, startTestRelay } from './channel.fixture.ts';

afterEach(cleanUp);

const asked = (query: string, variables: Record<string, unknown> = {}, context = createContext()) => ({
  query,
  variables,
  context,
});

async function startPlain(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, server };
}

/** Asks the whole time until a read is answered well. */
const awaitAnswers = (link: SubgraphLink) => expect.poll(() => link.execute(asked('{ caller }')));

describe('a channel between two processes', () => {
  it('answers what HTTP answers, data and errors', async () => {
    const { url } = await startMedia();
    const links = [linkTo([url]), linkTo([url], { channelKey: undefined })];
    const questions = [
      asked('query ($id: ID!) { task(id: $id) { id state outputs { url } } caller }', { id: 'tä1' }),
      asked('query ($__proto__: ID!) { task(id: $__proto__) { id } }', JSON.parse('{"__proto__":"t2"}')),
      asked('query A { caller } query B { task(id: "none") { id } }'),
      { ...asked('query A { caller } query B { task(id: "none") { id } }'), operationName: 'B' },
      asked('{ fail(how: "limited") unknown: fail(how: "unknown") }'),
      asked('{ nope }'),
      asked('{ task(id: "t1") { broken refused } }'),
    ];
    for (const question of questions) {
      const [overChannel, overHttp] = await Promise.all(links.map((link) => link.execute(question)));
      expect(JSON.parse(JSON.stringify(overChannel))).toEqual(JSON.parse(JSON.stringify(overHttp)));
    }
  });

  it('carries each request with its own caller over one connection, and a text once', async () => {
    const { url } = await startMedia();
    const relay = await startTestRelay(url);
    const link = linkTo([relay.url]);
    const callers = Array.from({ length: 50 }, (_, index) => `usr_${index}`);
    const answers = await Promise.all(
      callers.map((id) => link.execute(asked('query OnlyOnce { caller }', {}, createContext(id)))),
    );
    expect(answers.map(({ data }) => data?.['caller'])).toEqual(callers.map((id) => `user:${id}`));
    expect(relay.sent().split('OnlyOnce')).toHaveLength(2);
    expect(relay.connections()).toBe(1);
  });

  it('tells the other side that nobody waits any more', async () => {
    const { two, url } = await startMedia();
    const link = linkTo([url]);
    const controller = new AbortController();
    const left = link.execute(asked('{ hang }', {}, createContext('usr_1', controller.signal)));
    await expect.poll(() => two.hanging.length).toBe(1);
    controller.abort();
    await left;
    await expect.poll(() => two.hanging[0]?.aborted).toBe(true);
    const late = linkTo([url], { timeoutMs: 100 });
    // On a busy machine its time can be over before the other side has the request.
    await expect
      .poll(async () => {
        const { errors } = await late.execute(asked('{ hang }'));
        expect(errors?.[0]).toMatchObject({ message: 'subgraph "media": no answer in time' });
        return two.hanging.length;
      })
      .toBeGreaterThan(1);
    await expect.poll(() => two.hanging.every(({ aborted }) => aborted)).toBe(true);
    await expect
      .poll(async () => (await late.execute(asked('{ caller }'))).data)
      .toEqual({ caller: 'user:usr_1' });
  });

  it('does what is too large for it over HTTP, and refuses a larger answer than is wanted', async () => {
    const { url } = await startMedia();
    const relay = await startTestRelay(url);
    const link = linkTo([relay.url]);
    const large = { ids: 'x'.repeat(2_000_000) };
    const answer = await link.execute(
      asked('query Large($ids: ID!) { task(id: $ids) { state } }', { ...large }),
    );
    expect(answer.data).toEqual({ task: { state: 'RUNNING' } });
    expect(relay.sent()).toContain('POST /graphql');
    const { errors } = await linkTo([url], { maxResponseBytes: 50 }).execute(
      asked('{ tasks { id state outputs { url } } }'),
    );
    expect(errors?.[0]?.extensions['code']).toBe('UNAVAILABLE');
  });
});

describe('channels to a process that comes and goes', () => {
  it('let what runs end when it stops, and find the one that comes after it', async () => {
    const { two, server, url } = await startMedia();
    const link = linkTo([url]);
    const running = link.execute(asked('{ hang }'));
    await expect.poll(() => two.hanging.length).toBe(1);
    let isClosed = false;
    const closed = server.close().then(() => (isClosed = true));
    await expect
      .poll(() => link.execute(asked('{ caller }')).then(({ errors }) => errors?.[0]?.extensions['code']))
      .toBe('UNAVAILABLE');
    expect(isClosed).toBe(false);
    two.hanging[0]?.dispatchEvent(new Event('abort'));
    expect(await running).toEqual({ data: { hang: 'stopped waiting' } });
    await closed;
    await startMedia({ port: Number(new URL(url).port) });
    await awaitAnswers(link).toEqual({ data: { caller: 'user:usr_1' } });
  });

  it('cut off after the grace of a stop what does not end', async () => {
    const { two, server, url } = await startMedia({ graceMs: 50 });
    const link = linkTo([url]);
    const running = link.execute(asked('{ hang }'));
    await expect.poll(() => two.hanging.length).toBe(1);
    await server.close();
    expect((await running).errors?.[0]?.extensions['code']).toBe('UNAVAILABLE');
    await expect.poll(() => two.hanging[0]?.aborted).toBe(true);
  });

  it('ask another process when one is gone: reads', async () => {
    const [one, other] = [await startMedia({ graceMs: 0 }), await startMedia()];
    const link = linkTo([one.url, other.url]);
    for (let count = 0; count < 4; count += 1) await link.execute(asked('{ caller }'));
    await one.server.close();
    for (let count = 0; count < 4; count += 1)
      expect(await link.execute(asked('{ caller }'))).toEqual({ data: { caller: 'user:usr_1' } });
  });
});

describe('a process of the version before', () => {
  it('is asked over HTTP when it refuses the upgrade', async () => {
    const requests: string[] = [];
    const listener: RequestListener = (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end('{"data":{"caller":"old"}}');
    };
    const { url, server } = await startPlain(listener);
    const sockets = new WebSocketServer({ server, path: '/graphql' });
    const link = linkTo([url]);
    const answers = await Promise.all([1, 2, 3].map(() => link.execute(asked('{ caller }'))));
    expect(answers).toEqual([1, 2, 3].map(() => ({ data: { caller: 'old' } })));
    expect(sockets.clients.size).toBe(0);
    expect(requests).toEqual(Array(3).fill('POST /graphql'));
  });

  it('is asked over HTTP when it answers the upgrade as a request', async () => {
    const { url } = await startPlain((request, response) => {
      request.resume();
      response.statusCode = request.url === '/graphql' ? 200 : 401;
      response.end('{"data":{"caller":"older"}}');
    });
    expect(await linkTo([url]).execute(asked('{ caller }'))).toEqual({ data: { caller: 'older' } });
  });

  it('is followed by a newer one at its address, which is asked from then on', async () => {
    const { server, url } = await startPlain(
      (_request, response) => void response.end('{"data":{"caller":"old"}}'),
    );
    const link = linkTo([url]);
    expect(await link.execute(asked('{ caller }'))).toEqual({ data: { caller: 'old' } });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await startMedia({ port: Number(new URL(url).port) });
    await awaitAnswers(link).toEqual({ data: { caller: 'user:usr_1' } });
  });
});
