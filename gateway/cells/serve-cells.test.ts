import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import express from 'express';
import { afterEach, expect, it } from 'vitest';

import { anonymousCaller, type Caller, internalCaller } from '../../platform/access/caller.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { attachContext } from '../request/request-context.ts';
import { type CellLinks, createCellLinks, serveCells } from './cell-links.ts';

const servers: Server[] = [];
const opened: CellLinks[] = [];
afterEach(async () => {
  for (const links of opened.splice(0)) await links.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(own: number, urls: ReadonlyMap<number, string>): CellLinks {
  const links = createCellLinks({ cells: { own, home: 0, urls }, logger: silentLogger() });
  opened.push(links);
  return links;
}

/** Asks a cell as somebody; what was counted of it comes along. */
async function asks(links: CellLinks | undefined, path: string, caller: Caller) {
  const counted: string[] = [];
  const cell = express().use(
    serveCells(links, (request, response, next) => {
      counted.push(request.path);
      attachContext(request, response, caller);
      next();
    }),
  );
  const answer = await fetch(`${await listen(cell)}${path}`);
  const text = await answer.text();
  const body = answer.headers.get('content-type')?.includes('json') ? (JSON.parse(text) as unknown) : null;
  return { status: answer.status, body, counted, cache: answer.headers.get('cache-control') };
}

const nobody = anonymousCaller('t', null);
const user: Caller = { ...nobody, kind: 'user', id: 'usr_1', scopes: ['tasks'] };
const admin: Caller = { ...user, scopes: ['tasks', 'admin'] };

it('a cell tells administrators which cells there are, and which of them are ready', async () => {
  const asked: unknown[] = [];
  const ready = await listen(({ url }, response) => (asked.push(url), response.end('{}')));
  const busy = await listen((_, response) => response.writeHead(503).end('{}'));
  const away = 'http://127.0.0.1:1';
  const links = open(
    1,
    new Map([
      [0, ready],
      [2, busy],
      [3, away],
    ]),
  );
  expect(await asks(links, '/cells', admin)).toEqual({
    status: 200,
    body: {
      own: 1,
      home: 0,
      cells: [
        { number: 0, url: ready, ready: true },
        { number: 2, url: busy, ready: false },
        { number: 3, url: away, ready: false },
      ],
    },
    counted: ['/cells'],
    cache: 'no-store',
  });
  expect(asked).toEqual(['/readyz']);
  const refused = { status: 403, body: { message: 'this needs an administrator: sign in as one' } };
  for (const caller of [user, nobody])
    expect(await asks(links, '/cells', caller)).toMatchObject({ ...refused, cache: 'no-store' });
});

it('one cell alone has no others, and nobody asks it who is calling', async () => {
  expect((await asks(undefined, '/cells', admin)).body).toEqual({ own: 0, home: 0, cells: [] });
  expect(await asks(undefined, '/caller', user)).toMatchObject({ status: 404, counted: [] });
});

it('a cell tells the others whom a credential stands for', async () => {
  const links = open(0, new Map());
  const expiresAt = new Date('2026-11-27T00:00:00Z');
  const unknown = { generators: null, sessionId: null, expiresAt: null };
  const known = { kind: 'user', id: 'usr_1', scopes: ['tasks'] };
  expect(await asks(links, '/caller', user)).toEqual({
    status: 200,
    body: { ...known, ...unknown },
    counted: ['/caller'],
    cache: 'no-store',
  });
  const key: Caller = { ...user, kind: 'key', generators: ['a'], sessionId: 'ses_1', expiresAt };
  expect((await asks(links, '/caller', key)).body).toEqual({
    ...known,
    kind: 'key',
    generators: ['a'],
    sessionId: 'ses_1',
    expiresAt: expiresAt.toISOString(),
  });
  for (const caller of [nobody, internalCaller('t')])
    expect(await asks(links, '/caller', caller)).toMatchObject({ status: 204, cache: 'no-store' });
});

it('every cell but the home cell asks that one about credentials', async () => {
  const asked: unknown[] = [];
  const home = await listen(({ url, headers }, response) => {
    asked.push([url, headers.authorization]);
    response.writeHead(204).end();
  });
  const urls = new Map([[0, home]]);
  expect(open(0, urls).lookup).toBeNull();
  expect(open(1, new Map()).lookup).toBeNull();
  expect(await open(1, urls).lookup?.('secret')).toBeNull();
  expect(asked).toHaveLength(1);
});
