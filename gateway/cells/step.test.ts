import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

import express, { type RequestHandler } from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { AppError } from '../../platform/errors.ts';
import { listenOn } from '../../platform/http/server.ts';
import { markId } from '../../platform/ids.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { attachContext } from '../request/request-context.ts';
import { inOrder } from '../request/steps.ts';
import { type CellLinks, createCellLinks, serveCells } from './cell-links.ts';
import { askHomeCell } from './home-callers.ts';

/** A gateway's steps before the server of another cell, which tells what came. */

const first = '0197f3a2-0000-7000-8000-000000000000';
const other = markId(first, 2);
const QUERY = 'query ($id: ID!) { task(id: $id) { id } }';
const servers: Server[] = [];
let links: CellLinks;
let url: string;
let there: { readonly url: string; readonly server: Server; connections: number; came: number; left: number };
const warnings: string[] = [];
const logger = {
  ...silentLogger(),
  warn: (_fields: unknown, text?: string) => void warnings.push(text ?? ''),
};

async function serve(listener: (...args: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => {
    listener(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(`thrown ${error instanceof AppError ? error.code : String(error)}`);
    });
  });
  servers.push(server);
  return (await listenOn(server, '127.0.0.1', 0)).url;
}

function linksTo(urls: ReadonlyMap<number, string>, { isOpen = false, home = 1 } = {}): CellLinks {
  return createCellLinks({ cells: { own: 1, home, urls }, logger, isOpen });
}

beforeAll(async () => {
  const thereUrl = await serve(async (request, response) => {
    const { method, url: asked = '', headers } = request;
    if (asked.startsWith('/told')) {
      response.writeHead(418, { 'x-told': 'yes', 'keep-alive': 'timeout=77' });
      response.end(JSON.stringify({ method, asked, headers }));
    } else if (asked.startsWith('/breaks')) {
      response.write('half');
      setImmediate(() => response.destroy());
    } else if (asked.startsWith('/never') || asked.startsWith('/silent')) {
      response.once('close', () => (there.left += 1));
      there.came += 1;
      if (asked.startsWith('/never')) response.write('begun');
    } else response.end(Buffer.concat([Buffer.from('there '), await buffer(request)]));
  });
  const [server] = servers;
  if (server === undefined) throw new Error('it is served');
  there = { url: thereUrl, server, connections: 0, came: 0, left: 0 };
  server.on('connection', () => (there.connections += 1));
  const urls = new Map([
    [1, 'http://127.0.0.1:9'],
    [2, there.url],
    [3, 'http://127.0.0.1:9'],
  ]);
  links = linksTo(urls);
  url = await serve(createGateway(links));
});

/** What a gateway does with a request before anybody serves it. */
function createGateway({ steps }: CellLinks) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = { request, response, path: request.url?.split('?', 1)[0] ?? '' };
    const kind = request.headers.authorization === undefined ? 'anonymous' : 'key';
    const authenticate = () => {
      attachContext(request, response, { kind, id: kind, scopes: [], traceId: 'x', address: null });
      return true;
    };
    const enter = inOrder(steps.first, authenticate, steps.whenKnown);
    if (!(await enter(exchange))) return;
    if (exchange.path === '/unread') response.end('here ');
    else response.end(Buffer.concat([Buffer.from('here '), await buffer(request)]));
  };
}

afterAll(async () => {
  await links.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function post(path: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return told(await fetch(`${url}${path}`, options));
}

/** Where a request was served, and the body that came there. */
async function told(response: Response) {
  const answer = Buffer.from(await response.arrayBuffer());
  const end = answer.indexOf(' ');
  return { where: answer.toString('utf8', 0, end), came: answer.subarray(end + 1) };
}

describe('requests for another cell', () => {
  const long = ' '.repeat(100_000);
  const known = { authorization: 'Bearer somebody' };
  const operation = (id: string, space = '') =>
    `{ "query": "${QUERY}", "variables":${space} { "id": "${id}", "seed": 9007199254740993, "scale": 1.0 } }`;
  const message = (id: string, space = '') =>
    `{"jsonrpc":"2.0","id":1,"method":"tasks/get",${space}"params":{"taskId":"${id}","seed":9007199254740993}}`;

  it.each([
    ['an operation', '/graphql', operation(other)],
    ['a batch', '/graphql', `[${operation(other)}, ${operation(other)}]`],
    ['a long operation', '/graphql', operation(other, long)],
    ['a message of MCP', '/mcp', message(other)],
    ['a long message of MCP', '/mcp', message(other, long)],
    ['a body of the documented paths', '/api/comfy/run', `{"image_id": "${other}"}`],
    [
      'a reference within a graph',
      '/api/v2/jobs',
      `{"workflow":{"1":{"inputs":{"image":{"info":{"id":"${other}"}}}}}}`,
    ],
    ['a conversation that goes on', '/v1/videos', `{"user":"${first}","previous":"${other}"}`],
  ])('are passed on as the bytes that came: %s', async (_, path, body) => {
    expect(await post(path, body, known)).toEqual({ where: 'there', came: Buffer.from(body) });
  });

  it.each([
    ['operations of this cell', '/graphql', operation(markId(other, 1), long), known],
    ['messages of this cell', '/mcp', message(markId(other, 1)), known],
    ['long bodies of strangers', '/graphql', operation(other, long), {}],
    ['what was passed on', '/graphql', operation(other), { 'x-kiln-passed-on': '2' }],
    ['what is no JSON', '/graphql', `{ "query": ${other}`, known],
  ])('are not %s, whose body is left as it came', async (_, path, body, headers) => {
    expect(await post(path, body, headers)).toEqual({ where: 'here', came: Buffer.from(body) });
  });

  it('are passed on where their operation is in the address, as one in a body', async () => {
    const away = await serve(createGateway(linksTo(new Map([[2, there.url]]), { home: 2 })));
    const ask = async (query: string) =>
      (await told(await fetch(`${away}/graphql?${new URLSearchParams({ query }).toString()}`))).where;
    expect(await ask('{ viewer { id } }')).toBe('there');
    expect(await ask('{ viewer { id } tasks { id } }')).toBe('here');
    expect(await ask('{ viewer')).toBe('here');
  });

  it('are passed on as they came: forms, chunked and compressed bodies', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x'.repeat(2_000)]), 'a.png');
    form.append('task_id', other);
    const fetched = (path: string, body: NonNullable<RequestInit['body']>, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...known, ...headers },
        body,
        duplex: 'half',
      });
    expect((await told(await fetched('/api/extend', form))).where).toBe('there');
    const fields = new URLSearchParams({ task_id: other });
    expect((await told(await fetched('/api/extend', fields))).where).toBe('there');
    const operations = new FormData();
    operations.append('operations', operation(other));
    operations.append('0', new Blob(['x'.repeat(3_000_000)]), 'a.png');
    expect((await told(await fetched('/graphql', operations))).where).toBe('there');
    const zipped = gzipSync(operation(other, long));
    const encoding = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(await post('/graphql', zipped, { ...known, ...encoding })).toEqual({
      where: 'there',
      came: zipped,
    });
    for (const [id, where] of [
      [other, 'there'],
      [markId(other, 1), 'here'],
    ] as const) {
      const body = operation(id, long);
      const pieces = ReadableStream.from(
        [body.slice(0, 60_000), body.slice(60_000), '\n'].map((piece) => Buffer.from(piece)),
      );
      const answer = await fetched('/graphql', pieces, { 'content-type': 'application/json' });
      expect(await told(answer)).toEqual({ where, came: Buffer.from(`${body}\n`) });
    }
  });

  it('are not those whose bodies name ids of several cells, or nothing', async () => {
    const own = markId(other, 1);
    expect((await post('/v1/videos', `{"a":"${own}","b":"${other}"}`, known)).where).toBe('here');
    const nothing = await fetch(`${url}/v1/videos`, { method: 'POST', headers: known });
    expect((await told(nothing)).where).toBe('here');
    // As a body of unknown length, in which nothing comes.
    const chunked = { method: 'POST', headers: { ...known, 'transfer-encoding': 'chunked' } };
    const sent = openRequest(`${url}/v1/videos`, chunked).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect((await buffer(response)).toString()).toBe('here ');
  });

  it('leave the connection to the next request where nobody reads their body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = async (body: Buffer) => {
      const sent = openRequest(`${url}/unread`, { agent, method: 'POST', headers: known });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return (await buffer(response)).toString();
    };
    expect(await send(Buffer.alloc(4_000_000))).toBe('here ');
    expect(await send(Buffer.from('x'))).toBe('here ');
    agent.destroy();
  });

  it('come with who sent them, and get the status and the headers of the other cell', async () => {
    const headers = { ...known, 'x-forwarded-for': '192.0.2.7', 'proxy-authorization': 'x' };
    const answer = await fetch(`${url}/told?task_id=${other}&a=b%20c`, { headers });
    expect([answer.status, answer.headers.get('x-told')]).toEqual([418, 'yes']);
    expect(answer.headers.get('keep-alive')).not.toBe('timeout=77');
    const { method, asked, headers: came } = (await answer.json()) as Record<string, Record<string, string>>;
    expect([method, asked]).toEqual(['GET', `/told?task_id=${other}&a=b%20c`]);
    expect(came).toMatchObject({
      ...known,
      'x-forwarded-for': '192.0.2.7, 127.0.0.1',
      'x-kiln-passed-on': '1',
      host: there.url.slice('http://'.length),
    });
    for (const name of ['proxy-authorization', 'transfer-encoding', 'content-length'])
      expect(came).not.toHaveProperty(name);
  });

  it('are told that their cell is away, as GraphQL in its words', async () => {
    const away = operation(markId(first, 3));
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: away };
    const answer = await fetch(`${url}/graphql`, options);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await answer.json()).toMatchObject({
      errors: [
        { message: expect.stringContaining('cell 3'), extensions: { code: 'UNAVAILABLE', retryAfter: 2 } },
      ],
    });
    const elsewhere = await fetch(`${url}/api/x?task_id=${markId(first, 3)}`);
    expect(await elsewhere.text()).toBe('thrown UNAVAILABLE');
  });

  it('end where the other cell breaks off, and there when their client has left', async () => {
    const broken = await fetch(`${url}/breaks?task_id=${other}`);
    await expect(broken.text()).rejects.toThrow('terminated');
    await vi.waitFor(() => expect(warnings).toEqual(['passing on an answer failed']));
    const leaving = new AbortController();
    const answer = await fetch(`${url}/never?task_id=${other}`, { signal: leaving.signal });
    const text = answer.text().catch(() => 'left');
    leaving.abort();
    expect(await text).toBe('left');
    await vi.waitFor(() => expect(there.left).toBe(1));
    const before = new AbortController();
    const silent = fetch(`${url}/silent?task_id=${other}`, { signal: before.signal }).catch(() => 'left');
    await vi.waitFor(() => expect(there.came).toBe(2));
    before.abort();
    expect(await silent).toBe('left');
    await vi.waitFor(() => expect(there.left).toBe(2));
    expect(warnings).toHaveLength(1);
  });

  it('stay here where the path is of this cell, and go on for strangers where nobody needs a credential', async () => {
    expect((await told(await fetch(`${url}/console/tasks/${other}`))).where).toBe('here');
    const open = linksTo(new Map([[2, there.url]]), { isOpen: true });
    const openUrl = await serve(createGateway(open));
    const before = there.connections;
    for (let count = 0; count < 2; count += 1) {
      const body = operation(other, long);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${openUrl}/graphql`, { method: 'POST', headers, body });
      expect((await told(answer)).where).toBe('there');
    }
    expect(there.connections - before).toBe(1);
    const count = () =>
      new Promise<number>((resolve) => there.server.getConnections((_, found) => resolve(found)));
    const held = await count();
    await open.close();
    await vi.waitFor(async () => expect(await count()).toBe(held - 1));
  });
});

describe('the home cell', () => {
  it('is asked whom a credential stands for, and while it is away what it said holds until the end of that', async () => {
    const asked: string[] = [];
    let isAway = false;
    const expiresAt = new Date(Date.now() + 1_000);
    const person = { kind: 'user', id: 'usr_a', scopes: ['x'], generators: null, sessionId: 's' };
    const home = await serve(async ({ url: path, headers: { authorization = '' } }, response) => {
      asked.push(`${path} ${authorization}`);
      const statuses: Readonly<Record<string, number>> = { 'Bearer bad': 401, 'Bearer nobody': 204 };
      response.statusCode = isAway ? 500 : (statuses[authorization] ?? 200);
      const ends = authorization === 'Bearer short' ? expiresAt : null;
      response.end(response.statusCode === 204 ? '' : JSON.stringify({ ...person, expiresAt: ends }));
    });
    const callers = askHomeCell(`${home}/base/`);
    const lookup = (credential: string) => callers.lookup(credential);
    expect(await lookup('short')).toEqual({ ...person, expiresAt });
    const same = await Promise.all([lookup('long'), lookup('long')]);
    expect([...same, await lookup('long')]).toEqual(
      Array.from({ length: 3 }, () => ({ ...person, expiresAt: null })),
    );
    expect(await lookup('nobody')).toBeNull();
    // More of them than there are connections.
    for (let count = 0; count < 10; count += 1)
      expect(await lookup(count === 0 ? 'bad' : `x${count}`)).toBeDefined();
    expect(await lookup('bad')).toBe('invalid');
    expect(asked.slice(0, 3)).toEqual([
      '/base/caller Bearer short',
      '/base/caller Bearer long',
      '/base/caller Bearer nobody',
    ]);
    isAway = true;
    const before = asked.length;
    await expect(lookup('new')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
    await vi.waitFor(async () => {
      expect(await lookup('long')).toMatchObject({ id: 'usr_a' });
      expect(asked.length).toBeGreaterThan(before + 1);
    }, 5_000);
    await expect(lookup('short')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await callers.close();
  });
});

describe('what a cell says of itself', () => {
  const caller = { traceId: 'x', address: null, scopes: [] };
  const ask = async (path: string, who: Partial<Parameters<typeof attachContext>[2]>, own?: CellLinks) => {
    const app = express();
    const known: RequestHandler = (request, response, next) => {
      attachContext(request, response, { ...caller, kind: 'user', id: 'ada', ...who } as never);
      next();
    };
    app.use(
      known,
      serveCells(own, (_request, _response, next) => next()),
    );
    const server = createServer(app as RequestListener);
    servers.push(server);
    const answer = await fetch(`${(await listenOn(server, '127.0.0.1', 0)).url}${path}`);
    const body = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return [answer.status, isJson ? (JSON.parse(body) as unknown) : '', answer.headers.get('cache-control')];
  };
  const admin = { scopes: ['admin'] };

  it('is all cells and whether they are ready, to administrators', async () => {
    const ready = await serve(async ({ url: asked }, response) => {
      response.writeHead(asked === '/readyz' ? 200 : 404).end();
    });
    const busy = await serve(async (_request, response) => void response.writeHead(503).end());
    const urls = new Map([
      [1, ready],
      [2, busy],
      [3, 'http://127.0.0.1:9'],
    ]);
    const own = linksTo(urls);
    expect(await ask('/cells', admin, own)).toEqual([
      200,
      {
        own: 1,
        home: 1,
        cells: [
          { number: 1, url: ready, ready: true },
          { number: 2, url: busy, ready: false },
          { number: 3, url: 'http://127.0.0.1:9', ready: false },
        ],
      },
      'no-store',
    ]);
    expect(await ask('/cells', {}, own)).toEqual([
      403,
      { message: 'this needs an administrator: sign in as one' },
      'no-store',
    ]);
    await own.close();
  });

  it('is no other cell where there is only this one, which nobody asks about callers', async () => {
    expect(await ask('/cells', admin)).toEqual([200, { own: 0, home: 0, cells: [] }, 'no-store']);
    expect((await ask('/caller', admin))[0]).toBe(404);
  });

  it('is whom a credential stands for, to the other cells', async () => {
    const nothing = { generators: null, sessionId: null, expiresAt: null };
    for (const kind of ['user', 'key'] as const)
      expect(await ask('/caller', { kind, scopes: ['read'] }, links)).toEqual([
        200,
        { kind, id: 'ada', scopes: ['read'], ...nothing },
        'no-store',
      ]);
    const limited = { generators: ['fox'], sessionId: 's', expiresAt: 7 } as never;
    expect(await ask('/caller', limited, links)).toMatchObject([200, limited, 'no-store']);
    expect(await ask('/caller', { kind: 'anonymous' }, links)).toEqual([204, '', 'no-store']);
  });
});
