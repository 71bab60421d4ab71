import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type RequestListener,
  type Server,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { listenOn } from '../../platform/http/server.ts';
import { markId } from '../../platform/ids.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { attachContext } from '../request/request-context.ts';
import { inOrder } from '../request/steps.ts';
import { type CellLinks, createCellLinks } from './cell-links.ts';

/** A gateway's steps before the server of another cell, which tells what came. */

const first = '0197f3a2-0000-7000-8000-000000000000';
const other = markId(first, 2);
const QUERY = 'query ($id: ID!) { task(id: $id) { id } }';
const servers: Server[] = [];
let links: CellLinks;
let url: string;

async function serve(listener: (...args: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  servers.push(server);
  return (await listenOn(server, '127.0.0.1', 0)).url;
}

beforeAll(async () => {
  const there = await serve(async (request, response) => {
    response.end(Buffer.concat([Buffer.from('there '), await buffer(request)]));
  });
  const urls = new Map([
    [1, 'http://127.0.0.1:9'],
    [2, there],
  ]);
  links = createCellLinks({ cells: { own: 1, home: 1, urls }, logger: silentLogger() });
  url = await serve(async (request, response) => {
    const exchange = { request, response, path: request.url ?? '' };
    const kind = request.headers.authorization === undefined ? 'anonymous' : 'key';
    const authenticate = () => {
      attachContext(request, response, { kind, id: kind, scopes: [], traceId: 'x', address: null });
      return true;
    };
    const enter = inOrder(links.steps.first, authenticate, links.steps.whenKnown);
    if (!(await enter(exchange))) return;
    if (exchange.path === '/unread') response.end('here ');
    else response.end(Buffer.concat([Buffer.from('here '), await buffer(request)]));
  });
});
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
});
