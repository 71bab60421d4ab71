import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
} from 'node:net';
import { buffer, text } from 'node:stream/consumers';

import { afterEach, describe, expect, test } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import { type HttpClient, HttpFailure, type HttpRequest } from './http-client.ts';
import { createOutboundRule } from './safe-url.ts';
import { createHttpClient } from './undici-http-client.ts';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.close();
    if ('closeAllConnections' in server)
      (server as unknown as { closeAllConnections(): void }).closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  return listen(createServer(handler));
}

function client(options: { lookup?: LookupFunction; allow?: string[] } = {}): HttpClient {
  const { allow = [], ...rest } = options;
  const made = createHttpClient({ outbound: createOutboundRule({ allow }), logger: silentLogger(), ...rest });
  closing.push(() => made.close());
  return made;
}

function get(url: string, options: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    url,
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    trustedOrigins: [new URL(url).origin],
    ...options,
  };
}

async function failure(call: Promise<unknown>): Promise<HttpFailure> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(HttpFailure);
  return error as HttpFailure;
}

describe('a request', () => {
  test('sends method, headers and body, and answers any status with lower-case headers', async () => {
    const url = await serve((request, response) => {
      void text(request).then((body) => {
        response.writeHead(418, { 'X-Kind': 'Teapot', 'Set-Cookie': ['a=1', 'b=2'] });
        response.end(`${request.method} ${request.url} ${String(request.headers['x-a'])} ${body}`);
      });
    });
    const answer = await client().request(
      get(`${url}/p?q=1`, { method: 'POST', headers: { 'X-A': 'b' }, body: 'hello' }),
    );
    expect(answer.status).toBe(418);
    expect(answer.headers).toMatchObject({ 'x-kind': 'Teapot', 'set-cookie': 'a=1, b=2' });
    expect(answer.body.toString()).toBe('POST /p?q=1 b hello');
  });

  test('leaves nothing behind on the signal of its caller, answered or refused', async () => {
    const url = await serve((_request, response) => response.end('ok'));
    const { signal } = new AbortController();
    const http = client();
    for (let sent = 0; sent < 5; sent += 1) await http.request(get(url, { signal }));
    await failure(http.request(get('http://127.0.0.1:1', { signal })));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('streams a body that a factory makes', async () => {
    const url = await serve((request, response) => void text(request).then((body) => response.end(body)));
    async function* parts() {
      yield Buffer.from('one ');
      yield Buffer.from('two');
    }
    const answer = await client().request(get(url, { method: 'POST', body: parts }));
    expect(answer.body.toString()).toBe('one two');
  });

  test('stops reading an answer that is larger than the limit, declared or not', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/declared') response.setHeader('content-length', 2_000);
      response.write(Buffer.alloc(1_000));
      response.end(Buffer.alloc(1_000));
    });
    const http = client();
    for (const path of ['/declared', '/chunked']) {
      const error = await failure(http.request(get(url + path, { maxBytes: 1_999 })));
      expect(error).toMatchObject({ code: 'TOO_LARGE', sent: true });
    }
    expect((await http.request(get(`${url}/declared`, { maxBytes: 2_000 }))).body.length).toBe(2_000);
  });

  test('is refused before it has come where it is announced', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-length', 2_000);
      response.write(Buffer.alloc(1));
    });
    const error = await failure(client().request(get(url, { maxBytes: 1_999 })));
    expect(error).toMatchObject({ code: 'TOO_LARGE', sent: true });
  });
});

describe('whether a failed request was sent', () => {
  test('no, when nobody listens', async () => {
    const server = createTcpServer();
    const url = await listen(server);
    server.close();
    await once(server, 'close');
    expect(await failure(client().request(get(url)))).toMatchObject({ code: 'CONNECT', sent: false });
  });

  test('no, when the name does not resolve', async () => {
    const lookup: LookupFunction = (_hostname, _options, callback) => {
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 0);
    };
    const error = await failure(
      client({ lookup }).request(get('http://gone.example/', { trustedOrigins: [] })),
    );
    expect(error).toMatchObject({ code: 'CONNECT', sent: false });
    expect(error.message).toContain('ENOTFOUND');
  });

  test('no, when the caller had given up before', async () => {
    const url = await serve((_request, response) => response.end());
    const error = await failure(client().request(get(url, { signal: AbortSignal.abort() })));
    expect(error).toMatchObject({ code: 'ABORTED', sent: false });
  });

  test('no, when the time is up while connecting', async () => {
    // Its name never resolves, so no connection is made.
    const lookup: LookupFunction = () => undefined;
    const request = get('http://slow.example/', { timeoutMs: 50, trustedOrigins: [] });
    expect(await failure(client({ lookup }).request(request))).toMatchObject({
      code: 'TIMED_OUT',
      sent: false,
    });
  });

  test('yes, when the connection is cut before the answer', async () => {
    const url = await serve((request) => request.socket.destroy());
    const error = await failure(client().request(get(url, { method: 'POST', body: 'x' })));
    expect(error).toMatchObject({ code: 'CUT', sent: true });
  });

  test('yes, when the answer is cut in the middle', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-length', 100);
      response.write('half', () => response.destroy());
    });
    expect(await failure(client().request(get(url)))).toMatchObject({ code: 'CUT', sent: true });
  });

  test('yes, when no answer comes in time', async () => {
    const url = await serve(() => undefined);
    expect(await failure(client().request(get(url, { timeoutMs: 100 })))).toMatchObject({
      code: 'TIMED_OUT',
      sent: true,
    });
  });

  test('yes, when the caller gives up while waiting; and the connection is closed', async () => {
    const abort = new AbortController();
    const closed = Promise.withResolvers<void>();
    const url = await serve((request) => {
      request.socket.on('close', () => closed.resolve());
      abort.abort();
    });
    const error = await failure(client().request(get(url, { signal: abort.signal })));
    expect(error).toMatchObject({ code: 'ABORTED', sent: true });
    await closed.promise;
  });
});

describe('a download', () => {
  test('hands out the body as a stream', async () => {
    const content = Buffer.alloc(300_000, 'kiln');
    const url = await serve((_request, response) => response.end(content));
    const { signal } = new AbortController();
    const download = await client().download(get(url, { signal }));
    expect(download.status).toBe(200);
    expect(content.equals(await buffer(download.body))).toBe(true);
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('takes as long as it needs while bytes come, and fails when they stop coming', async () => {
    const url = await serve((request, response) => {
      response.write('first ');
      if (request.url === '/stalls') return;
      let rest = 10;
      const drip = setInterval(() => {
        rest -= 1;
        if (rest > 0) return response.write('.');
        clearInterval(drip);
        return response.end('last');
      }, 250);
    });
    const http = client();
    const steady = await http.download(get(`${url}/ends`, { timeoutMs: 2_250 }));
    expect(await text(steady.body)).toBe('first .........last');
    const stalled = await http.download(get(`${url}/stalls`, { timeoutMs: 300 }));
    expect(await failure(text(stalled.body))).toMatchObject({ code: 'TIMED_OUT', sent: true });
  });

  test('ends with TOO_LARGE, CUT or ABORTED inside its stream', async () => {
    const url = await serve((request, response) => {
      response.setHeader('content-length', 50_000);
      response.write(Buffer.alloc(10_000), () => void (request.url === '/cut' && response.destroy()));
    });
    const http = client();
    const large = await http.download(get(url, { maxBytes: 49_999 }));
    expect(await failure(buffer(large.body))).toMatchObject({ code: 'TOO_LARGE' });
    const cut = await http.download(get(`${url}/cut`));
    expect(await failure(buffer(cut.body))).toMatchObject({ code: 'CUT' });
    const abort = new AbortController();
    const aborted = await http.download(get(url, { signal: abort.signal }));
    aborted.body.once('data', () => abort.abort());
    const [error] = await once(aborted.body, 'error').catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject({ code: 'ABORTED' });
  });

  test('closes the connection when its reader goes away', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await serve((request, response) => {
      request.socket.on('close', () => closed.resolve());
      response.write(Buffer.alloc(10_000));
    });
    const { body } = await client().download(get(url));
    body.destroy();
    await closed.promise;
    expect(body.destroyed).toBe(true);
  });
});

describe('redirects', () => {
  test('are followed for GET, and credentials do not follow to another origin', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(
        request.headers.authorization,
        request.headers['x-api-key'] as string,
        request.headers.accept,
      );
      response.end('there');
    });
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      const location = request.url === '/a' ? '/b' : `${other}/c`;
      response.writeHead(302, { location }).end('moved');
    });
    const headers = { Authorization: 'Bearer x', 'X-Api-Key': 'y', Accept: 'text/plain' };
    const trustedOrigins = [url, other];
    const answer = await client().request(get(`${url}/a`, { headers, trustedOrigins }));
    expect(answer.body.toString()).toBe('there');
    expect(seen).toEqual(['Bearer x', 'Bearer x', undefined, undefined, 'text/plain']);
  });

  test('to an address that is not public are refused', async () => {
    const other = await serve((_request, response) => response.end('secret'));
    const url = await serve((_request, response) => response.writeHead(302, { location: other }).end());
    const error = await failure(client().download(get(url)));
    expect(error).toMatchObject({ code: 'REFUSED_ADDRESS', sent: true });
  });

  test('are followed five times, and never for a POST', async () => {
    let calls = 0;
    const url = await serve((_request, response) => {
      calls += 1;
      response.writeHead(307, { location: '/again' }).end();
    });
    const http = client();
    expect((await http.request(get(url))).status).toBe(307);
    expect(calls).toBe(6);
    expect((await http.request(get(url, { method: 'POST', body: 'x' }))).status).toBe(307);
    expect(calls).toBe(7);
  });
});

test('a redirect whose own body never ends is given up in time', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(302, { location: '/next' });
    response.write('endless');
  });
  expect(await failure(client().request(get(url, { timeoutMs: 200 })))).toMatchObject({
    code: 'TIMED_OUT',
    sent: true,
  });
});

describe('the outbound rule', () => {
  test('is checked before anything is sent', async () => {
    const url = await serve((_request, response) => response.end());
    const error = await failure(client().request(get(url, { trustedOrigins: [] })));
    expect(error).toMatchObject({ code: 'REFUSED_ADDRESS', sent: false });
  });

  test('is checked again when a public-looking name is connected to', async () => {
    const url = await serve((_request, response) => response.end('inside'));
    const lookup: LookupFunction = (_hostname, _options, callback) => {
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const rebound = `http://rebound.example:${new URL(url).port}/`;
    const error = await failure(client({ lookup }).request(get(rebound, { trustedOrigins: [] })));
    expect(error).toMatchObject({ code: 'REFUSED_ADDRESS', sent: false });
  });

  test('lets allowed hosts through', async () => {
    const url = await serve((_request, response) => response.end('inside'));
    const http = client({ allow: [new URL(url).host] });
    expect((await http.request(get(url, { trustedOrigins: [] }))).body.toString()).toBe('inside');
  });
});

describe('trying again', () => {
  /** Answers with each status in turn, then 200. */
  function failing(statuses: (number | 'cut')[], headers: Record<string, string> = {}) {
    const state = { calls: 0 };
    const url = serve((request, response) => {
      const status = statuses[state.calls++] ?? 200;
      if (status === 'cut') request.socket.destroy();
      else response.writeHead(status, headers).end(String(status));
    });
    return { state, url };
  }

  test('happens for safe requests on 429, 502, 503, 504 and a cut connection', async () => {
    const { state, url } = failing([503, 'cut', 429]);
    expect((await client().request(get(await url, { retry: 'safe' }))).status).toBe(200);
    expect(state.calls).toBe(4);
  });

  test('ends after three times with the last answer', async () => {
    const { state, url } = failing([502, 504, 503, 502, 200], { 'retry-after': '0' });
    expect((await client().request(get(await url, { retry: 'safe' }))).status).toBe(502);
    expect(state.calls).toBe(4);
  });

  test('waits as long as Retry-After says, or not at all when that is too long for this call', async () => {
    const soon = failing([429], { 'retry-after': '1' });
    const startedAt = performance.now();
    expect((await client().request(get(await soon.url, { retry: 'safe' }))).status).toBe(200);
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    const late = failing([429], { 'retry-after': '3600' });
    const answer = await client().request(get(await late.url, { retry: 'safe' }));
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3600' } });
  });

  test('stops while a host fails again and again, until it has answered once', async () => {
    const { state, url } = failing([503, 503, 503, 503, 503, 'cut', 503, 200, 503], { 'retry-after': '0' });
    const one = client();
    const ask = async () => one.request(get(await url, { retry: 'safe' }));
    expect([(await ask()).status, state.calls]).toEqual([503, 4]);
    expect([(await ask()).status, state.calls]).toEqual([503, 5]);
    expect(await failure(ask())).toMatchObject({ code: 'CUT' });
    expect([(await ask()).status, state.calls]).toEqual([503, 7]);
    expect([(await ask()).status, state.calls]).toEqual([200, 8]);
    expect([(await ask()).status, state.calls]).toEqual([200, 10]);
  });

  test('does not happen unless asked for, nor on other statuses', async () => {
    const never = failing([503]);
    expect((await client().request(get(await never.url))).status).toBe(503);
    const other = failing([500]);
    expect((await client().request(get(await other.url, { retry: 'safe' }))).status).toBe(500);
    const cut = failing(['cut']);
    expect(await failure(client().request(get(await cut.url)))).toMatchObject({ code: 'CUT' });
    expect(cut.state.calls).toBe(1);
  });
});
