import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';

import { silentLogger } from '../../platform/process/logger.ts';
import { createCellLinks, type CellLinks } from './cell-links.ts';

interface Message {
  readonly id?: string;
  readonly type: string;
  readonly payload?: { readonly query?: string };
}

/** Another cell, which speaks graphql-transport-ws and answers as the test says. */
const cell = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const listening = once(cell, 'listening');
const seen: unknown[] = [];
let answers: readonly (object | 'cut')[] = [];
let links: CellLinks;

beforeAll(async () => {
  cell.on('connection', (socket, { url, headers }) => {
    seen.push({ url, from: headers['x-kiln-passed-on'] });
    socket.on('close', () => seen.push('closed'));
    socket.on('message', (data: Buffer) => {
      const { id, type, payload } = JSON.parse(data.toString()) as Message;
      if (type !== 'complete') seen.push(payload ?? null);
      if (type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }));
      if (type !== 'subscribe') return;
      for (const answer of answers) {
        if (answer === 'cut') socket.terminate();
        else socket.send(JSON.stringify({ id, ...answer }));
      }
    });
  });
  await listening;
  const { port } = cell.address() as AddressInfo;
  const urls = new Map([
    [0, 'http://127.0.0.1:1'],
    [1, 'http://127.0.0.1:1'],
    [2, `http://127.0.0.1:${port}`],
  ]);
  links = createCellLinks({ cells: { own: 1, home: 0, urls }, logger: silentLogger() });
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(async () => {
  await links.close();
  cell.close();
});

const operation = { query: '{ a }', operationName: 'A', variables: { b: 1 } };
const next = (a: number) => ({ type: 'next', payload: { data: { a } } });

function elsewhere(url: string, headers: object = {}, authorization?: string) {
  const request = { url, headers } as IncomingMessage;
  const found = links.elsewhere(operation, {
    request,
    ...(authorization !== undefined && { authorization }),
  });
  return found;
}

async function follow(url: string, signal = new AbortController().signal): Promise<unknown[]> {
  const results: unknown[] = [];
  for await (const result of elsewhere(url)?.subscribe(signal) ?? []) results.push(result);
  return results;
}

it('an operation stays here when no other cell is named, or when another one has passed it on', () => {
  expect(elsewhere('/graphql')).toBeNull();
  expect(elsewhere('/graphql?cell=1')).toBeNull();
  expect(elsewhere('/graphql?cell=2', { 'x-kiln-passed-on': '0' })).toBeNull();
  expect(elsewhere('/graphql?cell=2')).not.toBeNull();
});

it('one of another cell is run there in the name of its caller, and its connection ends', async () => {
  answers = [next(1), { type: 'complete' }];
  const signal = new AbortController().signal;
  const found = elsewhere('/graphql?cell=2', { authorization: 'Bearer header' });
  expect(await found?.execute(signal)).toEqual({ data: { a: 1 } });
  await expect.poll(() => seen.at(-1)).toBe('closed');
  expect(seen).toEqual([
    { url: '/graphql', from: '1' },
    { authorization: 'Bearer header' },
    operation,
    'closed',
  ]);
  await elsewhere('/graphql?cell=2', { authorization: 'Bearer header' }, 'Bearer init')?.execute(signal);
  expect(seen[5]).toEqual({ authorization: 'Bearer init' });
  seen.length = 0;
  await elsewhere('/graphql?cell=2')?.execute(signal);
  expect(seen.find((one) => one === null)).toBeNull();
});

it('its results come one after the other, with the errors of that cell', async () => {
  answers = [next(1), next(2), { type: 'complete' }];
  expect(await follow('/graphql?cell=2')).toEqual([{ data: { a: 1 } }, { data: { a: 2 } }]);
  answers = [{ type: 'error', payload: [{ message: 'no such field' }] }];
  expect(await follow('/graphql?cell=2')).toEqual([{ errors: [{ message: 'no such field' }] }]);
});

it('a cell that goes away, is not there or says nothing does not answer', async () => {
  const away = (number: number, cause: unknown) => ({
    errors: [
      expect.objectContaining({
        cause,
        message: `cell ${number}, which this belongs to, does not answer now: try again`,
        extensions: expect.objectContaining({ code: 'UNAVAILABLE' }),
      }),
    ],
  });
  answers = [next(1), 'cut'];
  expect(await follow('/graphql?cell=2')).toEqual([{ data: { a: 1 } }, away(2, expect.any(Error))]);
  expect(await follow('/graphql?cell=0')).toEqual([away(0, expect.any(Error))]);
  answers = [next(1)];
  const impatient = createCellLinks({ cells: links.cells, logger: silentLogger(), silenceMs: 300 });
  const request = { url: '/graphql?cell=2', headers: {} } as IncomingMessage;
  const results: unknown[] = [];
  const signal = new AbortController().signal;
  for await (const one of impatient.elsewhere(operation, { request })?.subscribe(signal) ?? [])
    results.push(one);
  expect(results).toEqual([{ data: { a: 1 } }, away(2, expect.any(Error))]);
  await impatient.close();
  answers = [{ type: 'complete' }];
  expect(await elsewhere('/graphql?cell=2')?.execute(new AbortController().signal)).toEqual(
    away(2, undefined),
  );
});

it('nothing is said to one who has left', async () => {
  answers = [next(1)];
  const leaving = new AbortController();
  const results: unknown[] = [];
  for await (const result of elsewhere('/graphql?cell=2')?.subscribe(leaving.signal) ?? []) {
    results.push(result);
    leaving.abort();
  }
  expect(results).toEqual([{ data: { a: 1 } }]);
  await expect.poll(() => seen.at(-1)).toBe('closed');
});

it('one who leaves before the other cell has taken the socket breaks nothing when that never does', async () => {
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const urls = new Map([[2, `http://127.0.0.1:${port}`]]);
  const toSilent = createCellLinks({ cells: { own: 1, home: 1, urls }, logger: silentLogger() });
  try {
    const leaving = new AbortController();
    const request = { url: '/graphql?cell=2', headers: {} } as IncomingMessage;
    const asked = once(silent, 'connection') as Promise<[Socket]>;
    const result = toSilent.elsewhere(operation, { request })?.subscribe(leaving.signal).next();
    const [socket] = await asked;
    leaving.abort();
    socket.destroy();
    expect(await result).toEqual({ done: true, value: undefined });
    // Node tells of a rejection at the end of the turn in which nobody took it.
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', hear);
    silent.close();
    await toSilent.close();
  }
});
