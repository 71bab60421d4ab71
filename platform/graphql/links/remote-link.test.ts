import { getEventListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import type { ExecutionResult } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import { afterEach, describe, expect, it } from 'vitest';

import { AppError } from '../../errors.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { isStream } from '../operations/streams.ts';
import { createContext } from '../subgraph-server/two-subgraphs.fixture.ts';
import type { PostClient } from './remote-http.ts';
import { createRemoteLink, type RemoteLinkOptions } from './remote-link.ts';
import { breakCircuit } from './resilient-http.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A link to a server that answers as the test wants. */
async function linkTo(listener: RequestListener, options: Partial<RemoteLinkOptions> = {}) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const endpoints = createEndpoints({ urls: [url], logger: silentLogger() });
  const link = createRemoteLink({ name: 'media', endpoints, logger: silentLogger(), ...options });
  cleanups.push(() => link.close());
  return { link, server };
}

const ask = { query: '{ a }', variables: {}, context: createContext() };

function failure(result: ExecutionResult) {
  const error = result.errors?.[0];
  return { code: error?.extensions['code'], message: error?.message };
}

describe('a remote link', () => {
  it('gives up in time on a subgraph that does not answer', async () => {
    const { link } = await linkTo(() => {}, { timeoutMs: 50 });
    expect(failure(await link.execute(ask))).toEqual({
      code: 'UNAVAILABLE',
      message: 'subgraph "media": no answer in time',
    });
  });

  it('gives up on a subgraph that stops in the middle of its answer', async () => {
    const { link } = await linkTo((_request, response) => void response.write('{"data":'), {
      timeoutMs: 50,
    });
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
  });

  it('refuses an answer that is too large', async () => {
    const { link } = await linkTo(
      (_request, response) => void response.end(`{"data":{"a":"${'x'.repeat(5_000)}"}}`),
      {
        maxResponseBytes: 1_000,
      },
    );
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
  });

  it.each([
    [502, '<h1>Bad gateway</h1>'],
    [200, 'null'],
    [200, '[]'],
    [200, '{"data":{"a":1},"errors":"no"}'],
    [200, '{"data":{"a":1},"errors":[null]}'],
    [401, 'Unauthorized'],
  ])('calls HTTP %i with %s unavailable', async (status, body) => {
    const { link } = await linkTo((_request, response) => void response.writeHead(status).end(body));
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    await expect(link.check()).rejects.toBeInstanceOf(AppError);
  });

  it('takes the errors of a refused document as they are', async () => {
    const body = '{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}';
    const { link } = await linkTo((_request, response) => void response.writeHead(400).end(body));
    expect(failure(await link.execute(ask))).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED', message: 'no' });
  });

  it('says of a credential that is refused whose it was: ours, or that of the caller at a foreign subgraph', async () => {
    const body = '{"errors":[{"message":"who?","extensions":{"code":"UNAUTHENTICATED"}}]}';
    const refuse: RequestListener = (_request, response) => void response.writeHead(401).end(body);
    const [foreign, ours] = [await linkTo(refuse), await linkTo(refuse, { sign: async () => 'signed' })];
    expect(failure(await foreign.link.execute(ask))).toEqual({ code: 'UNAUTHENTICATED', message: 'who?' });
    expect(failure(await ours.link.execute(ask))).toEqual({
      code: 'UNAVAILABLE',
      message: 'subgraph "media": our credential was refused',
    });
  });

  it('takes a foreign subgraph for ready that answers, if only that it needs to know who asks', async () => {
    const body = '{"errors":[{"message":"who?","extensions":{"code":"UNAUTHENTICATED"}}]}';
    const refuse: RequestListener = (_request, response) => void response.end(body);
    const [foreign, ours] = [await linkTo(refuse), await linkTo(refuse, { sign: async () => 'signed' })];
    expect(await foreign.link.check()).toEqual([]);
    await expect(ours.link.check()).rejects.toBeInstanceOf(AppError);
  });

  it('takes an answer that says of its errors that there are none', async () => {
    const body = '{"data":{"a":1},"errors":null}';
    const { link } = await linkTo((_request, response) => void response.end(body));
    expect(await link.execute(ask)).toEqual({ data: { a: 1 } });
  });

  it('asks another process when a proxy answers, not when the subgraph itself can not', async () => {
    let asked = 0;
    let body = '{"errors":[{"message":"full","extensions":{"code":"RATE_LIMITED"}}]}';
    const answer: RequestListener = ({ method }, response) => {
      // GET: whether it is ready.
      if (method === 'POST') asked += 1;
      response.writeHead(method === 'POST' ? 503 : 200).end(body);
    };
    const urls = [await linkTo(answer), await linkTo(answer)].map(
      ({ server }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    );
    const logger = silentLogger();
    const endpoints = createEndpoints({ urls, logger });
    const link = createRemoteLink({ name: 'media', endpoints, logger });
    // Two endpoints are asked for /readyz until they are closed, and other tests may get their ports.
    cleanups.push(
      () => endpoints.close(),
      () => link.close(),
    );
    expect(failure(await link.execute(ask))).toEqual({ code: 'RATE_LIMITED', message: 'full' });
    expect(asked).toBe(1);
    body = '<h1>Away</h1>';
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    expect(asked).toBe(3);
  });

  it('asks once more where a kept connection was closed, and never a mutation', async () => {
    const asked = new Map<object, number>();
    const listener: RequestListener = (request, response) => {
      const before = asked.get(request.socket) ?? 0;
      asked.set(request.socket, before + 1);
      if (before === 0) response.end('{"data":{"a":1}}');
      else request.socket.destroy();
    };
    const { link } = await linkTo(listener, { connections: 1 });
    const counts = () => [...asked.values()];
    expect([await link.execute(ask), await link.execute(ask)]).toEqual([
      { data: { a: 1 } },
      { data: { a: 1 } },
    ]);
    expect(counts()).toEqual([2, 1]);
    expect(failure(await link.execute({ ...ask, query: 'mutation { a }' })).code).toBe('UNAVAILABLE');
    expect(counts()).toEqual([2, 2]);
  });

  it('gives the headers of the answer itself, not of one that broke off and was asked for again', async () => {
    let asked = 0;
    const told: unknown[] = [];
    const { link } = await linkTo(
      (_request, response) => {
        asked += 1;
        response.setHeader('set-cookie', `asked=${asked}`);
        if (asked > 1) response.end('{"data":{"a":1}}');
        else response.write('{"data":', () => response.destroy());
      },
      { retries: 1, onHeaders: (_context, headers) => void told.push(headers['set-cookie']) },
    );
    expect(await link.execute(ask)).toEqual({ data: { a: 1 } });
    expect(told).toEqual(['asked=2']);
  });

  it('asks a subgraph once that closes every connection', async () => {
    let count = 0;
    const { link } = await linkTo((request) => {
      count += 1;
      request.socket.destroy();
    });
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    expect(count).toBe(1);
  });

  it('says that nobody is there, for requests and subscriptions', async () => {
    const { link, server } = await linkTo(() => {});
    await new Promise((resolve) => server.close(resolve));
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    const started = await link.subscribe({ ...ask, query: 'subscription { a }' });
    if (!isStream<ExecutionResult>(started)) throw new Error('no stream');
    expect(failure((await started.next()).value as ExecutionResult).code).toBe('UNAVAILABLE');
    expect((await started.next()).done).toBe(true);
  });

  it('tells a foreign subgraph nothing about callers', async () => {
    const seen: string[] = [];
    const { link } = await linkTo((request, response) => {
      seen.push(...Object.keys(request.headers));
      response.end('{"data":{"__typename":"Query"}}');
    });
    await link.check();
    expect(seen).not.toContain('x-kiln-caller');
    expect(seen).not.toContain('authorization');
  });

  it('is not ready at an address whose process is, but answers no operation there', async () => {
    const sign = async () => 'assertion';
    const { link } = await linkTo(
      (request, response) => {
        if (request.url !== '/readyz') response.statusCode = 404;
        response.end('{"status":"ready","failing":[]}');
      },
      { sign },
    );
    await expect(link.check()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('tells what all processes of the subgraph lack, which does not make it fail', async () => {
    const { link } = await linkTo(
      (request, response) => {
        const isReadiness = request.url === '/readyz';
        response.end(
          isReadiness ? '{"status":"degraded","degraded":["files"]}' : '{"data":{"__typename":"Query"}}',
        );
      },
      { sign: async () => 'assertion' },
    );
    expect(await link.check()).toEqual(['media.files']);
  });

  describe('that shares reads', () => {
    /** A link whose server answers, with a number that counts the requests, when told to. */
    async function countingLink() {
      const waiting: (() => void)[] = [];
      let count = 0;
      const { link } = await linkTo(
        (request, response) => {
          request.resume();
          count += 1;
          const data = `{"data":{"a":${count}}}`;
          waiting.push(() => response.end(data));
        },
        { sharesReads: true, passesBearer: true },
      );
      const seen = (amount: number) => expect.poll(() => count).toBe(amount);
      return { link, seen, answer: () => waiting.splice(0).forEach((end) => end()) };
    }
    const readData = async (results: Promise<ExecutionResult>[]) =>
      (await Promise.all(results)).map(({ data }) => data?.['a']);

    it('asks once for equal queries of one credential, and gives each its own answer', async () => {
      const { link, seen, answer } = await countingLink();
      const of = (bearer: string) => {
        const context = createContext();
        return { ...ask, context: { ...context, caller: { ...context.caller, bearer } } };
      };
      const alike = [link.execute(of('one')), link.execute(of('one'))];
      const others = [link.execute(of('two')), link.execute({ ...of('one'), variables: { x: 1 } })];
      await seen(3);
      answer();
      expect(await readData(others)).toEqual([2, 3]);
      const [first, second] = await Promise.all(alike);
      expect([first?.data, second?.data]).toEqual([{ a: 1 }, { a: 1 }]);
      expect(first?.data).not.toBe(second?.data);
      const later = link.execute(of('one'));
      await seen(4);
      answer();
      expect(await readData([later])).toEqual([4]);
    });

    it('gives each a copy of everything that is in the answer', async () => {
      const text =
        '{"data":{"list":[{"one":{"deep":[1,null,"x"]}},{"__proto__":{"own":true}}],"nothing":null}}';
      const waiting: (() => void)[] = [];
      const { link } = await linkTo(
        (request, response) => {
          request.resume();
          waiting.push(() => response.end(text));
        },
        { sharesReads: true },
      );
      const asked = [link.execute(ask), link.execute(ask), link.execute(ask)];
      await expect.poll(() => waiting.length).toBe(1);
      waiting[0]?.();
      const results = await Promise.all(asked);
      for (const result of results) expect(JSON.stringify(result)).toBe(text);
      const objectsIn = (value: unknown): readonly unknown[] =>
        typeof value === 'object' && value !== null
          ? [value, ...Object.values(value).flatMap(objectsIn)]
          : [];
      const objects = results.flatMap(({ data }) => objectsIn(data));
      expect(objects).toHaveLength(3 * 7);
      expect(new Set(objects).size).toBe(objects.length);
    });

    it('gives nobody after a mutation what was asked before it', async () => {
      const { link, seen, answer } = await countingLink();
      const before = link.execute(ask);
      const mutation = link.execute({ ...ask, query: 'mutation { a }' });
      const during = link.execute(ask);
      await seen(3);
      answer();
      expect(await readData([before, mutation, during])).toEqual([1, 2, 3]);
    });

    it('goes on for those who stay when one hangs up', async () => {
      const { link, seen, answer } = await countingLink();
      const leaving = new AbortController();
      const first = link.execute({ ...ask, context: { ...createContext(), signal: leaving.signal } });
      const second = link.execute(ask);
      await seen(1);
      leaving.abort();
      expect(failure(await first).code).toBe('UNAVAILABLE');
      answer();
      expect(await readData([second])).toEqual([1]);
    });
  });

  /** A request with a file, whose bytes a stream has. */
  function uploading(createReadStream: () => AsyncIterable<unknown>) {
    const file = new Upload() as Upload & { resolve(file: unknown): void };
    file.resolve({ filename: 'x', mimetype: 'text/plain', encoding: '7bit', createReadStream });
    return { ...ask, query: 'mutation ($file: Upload!) { upload(file: $file) }', variables: { file } };
  }

  it('gives the headers of the answer to an upload too', async () => {
    const told: unknown[] = [];
    const { link } = await linkTo(
      (request, response) => {
        request.resume();
        request.once('end', () => response.setHeader('x-of', 'upload').end('{"data":{"upload":true}}'));
      },
      { onHeaders: (_context, headers) => void told.push(headers['x-of']) },
    );
    const { data } = await link.execute(uploading(() => Readable.from(['text'])));
    expect([data, told]).toEqual([{ upload: true }, ['upload']]);
  });

  it('fails an upload whose stream fails, with the reason it has', async () => {
    const { link } = await linkTo((request, response) => {
      request.resume();
      request.once('end', () => response.end('{"data":{"upload":true}}'));
    });
    const broken = new Readable({
      read() {
        this.destroy(new AppError('PAYLOAD_TOO_LARGE', 'a file may have at most 5 bytes'));
      },
    });
    const result = await link.execute(uploading(() => broken));
    expect(failure(result)).toEqual({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'a file may have at most 5 bytes',
    });
  });

  it('lets an upload take longer than the time limit as long as it moves', async () => {
    const { link } = await linkTo(
      (request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.length));
        request.once('end', () => response.end(JSON.stringify({ data: { bytes } })));
      },
      { timeoutMs: 2_500 },
    );
    async function* slowly() {
      for (let index = 0; index < 15; index += 1) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        yield Buffer.alloc(10);
      }
    }
    const { signal } = new AbortController();
    const context = { ...ask.context, signal };
    const result = await link.execute({ ...uploading(slowly), context });
    expect(result.errors).toBeUndefined();
    expect(result.data?.['bytes']).toBeGreaterThan(150);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a circuit breaker', () => {
  function breakerAfter(failures: number, pauseMs: number) {
    const subgraph = { isAway: true, asked: 0 };
    const post: PostClient['post'] = async () => {
      subgraph.asked += 1;
      if (subgraph.isAway) throw new AppError('UNAVAILABLE', 'away');
      return { status: 200, json: () => null };
    };
    const client = breakCircuit({ post, close: async () => undefined }, { failures, pauseMs });
    const request = (signal = new AbortController().signal) =>
      client.post({ headers: {}, body: '', isRead: true, signal }).then(
        () => 'answered',
        (error: AppError) => error.message,
      );
    return { subgraph, request };
  }

  it('leaves what failed so often in a row alone, whoever hung up not counted', async () => {
    const { subgraph, request } = breakerAfter(3, 60_000);
    for (let count = 0; count < 5; count += 1) expect(await request(AbortSignal.abort())).toBe('away');
    for (let count = 0; count < 2; count += 1) expect(await request()).toBe('away');
    subgraph.isAway = false;
    expect(await request()).toBe('answered');
    subgraph.isAway = true;
    for (let count = 0; count < 3; count += 1) expect(await request()).toBe('away');
    expect(await request()).toContain('left alone');
    expect(subgraph.asked).toBe(11);
  });

  it('lets one request try after a pause', async () => {
    const { subgraph, request } = breakerAfter(1, 1);
    expect(await request()).toBe('away');
    subgraph.isAway = false;
    await expect.poll(() => request()).toBe('answered');
    expect(await request()).toBe('answered');
  });
});
