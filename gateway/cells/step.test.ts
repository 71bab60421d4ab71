import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { listenOn } from '../../platform/http/server.ts';
import { markId } from '../../platform/ids.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { attachContext } from '../request/request-context.ts';
import { inOrder } from '../request/steps.ts';
import { takenBytesOf } from '../request/taken-body.ts';
import { type CellLinks, createCellLinks } from './cell-links.ts';

/** A gateway's steps before the server of another cell, which tells what came. */

const other = markId('0197f3a2-0000-7000-8000-000000000000', 2);
const QUERY = 'query ($id: ID!) { task(id: $id) { id } }';
const servers: Server[] = [];
let links: CellLinks;
let url: string;

async function serve(listener: (...args: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  servers.push(server);
  return (await listenOn(server, '127.0.0.1', 0)).url;
}

const bodyOf = async (request: IncomingMessage): Promise<string> =>
  (takenBytesOf(request) ?? (await text(request))).toString();

beforeAll(async () => {
  const there = await serve(async (request, response) => {
    response.end(`there ${await text(request)}`);
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
    if (await enter(exchange)) response.end(`here ${await bodyOf(request)}`);
  });
});
afterAll(async () => {
  await links.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const [where, ...came] = (await (await fetch(`${url}${path}`, options)).text()).split(' ');
  return { where, came: came.join(' ') };
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
  ])('are passed on as the bytes that came: %s', async (_, path, body) => {
    expect(await post(path, body, known)).toEqual({ where: 'there', came: body });
  });

  it.each([
    ['operations of this cell', '/graphql', operation(markId(other, 1), long), known],
    ['messages of this cell', '/mcp', message(markId(other, 1)), known],
    ['long bodies of strangers', '/graphql', operation(other, long), {}],
    ['what was passed on', '/graphql', operation(other), { 'x-kiln-passed-on': '2' }],
    ['what is no JSON', '/graphql', `{ "query": ${other}`, known],
  ])('are not %s, whose body is left as it came', async (_, path, body, headers) => {
    expect(await post(path, body, headers)).toEqual({ where: 'here', came: body });
  });
});
