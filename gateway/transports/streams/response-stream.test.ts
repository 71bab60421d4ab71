import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createSlots } from '../../limits/slots.ts';
import { attachContext } from '../../request/request-context.ts';
import { until } from '../../server/server-under-test.fixture.ts';
import { createPartSender } from './incremental.ts';
import { createResponseStreams, type ResponseStreams } from './response-stream.ts';

const format = {
  headers: {},
  opening: ':\n\n',
  heartbeat: ':\n\n',
  shutdown: () => 'bye',
  credentialEnd: '',
};
const caller = anonymousCaller('trace', '192.0.2.1');
const MOST = 20;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

let streams: ResponseStreams;
let watched: Set<object>;
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url === '/parts') return void answerInParts(request, response);
  const permit = streams.reserve(response, { request, caller });
  if (permit === null) response.writeHead(503).end();
  else permit.open(format);
};
const server = createServer(answer);
let url: string;
beforeEach(async () => {
  const credentials = (watched = new Set<object>());
  const guard = {
    watch(credential: object) {
      credentials.add(credential);
      return () => void credentials.delete(credential);
    },
  };
  streams = createResponseStreams({
    guard,
    slots: createSlots(0),
    logger: silentLogger(),
    maxStreams: MOST,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Opens a stream that the client leaves when it is told to. */
async function open() {
  const leaving = new AbortController();
  const { status } = await fetch(url, { signal: leaving.signal });
  return { status, leave: () => leaving.abort() };
}

test('no more streams are opened than this process may have, until one has closed', async () => {
  const opened = await Promise.all(Array.from({ length: MOST }, open));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await open()).status).toBe(503);
  opened[0]?.leave();
  await until(() => streams.size === MOST - 1);
  expect((await open()).status).toBe(200);
});

test('nothing of a stream stays when it has closed: no heartbeat, no watch over its credential', async () => {
  const opened = await Promise.all(Array.from({ length: MOST }, open));
  expect(watched.size).toBe(MOST);
  const before = timers();
  for (const { leave } of opened) leave();
  await until(() => streams.size === 0);
  expect(watched.size).toBe(0);
  // Some timers of this process are not of streams.
  await until(() => timers() <= before - MOST / 2);
});

/** An answer in parts of which the second one never comes. */
async function answerInParts(request: IncomingMessage, response: ServerResponse): Promise<void> {
  attachContext(request, response, caller);
  const errors = { formatError: () => ({ message: '' }), formatResult: () => ({}) };
  const send = createPartSender({ errors, streams });
  async function* parts() {
    yield { data: { hello: 'hi' }, hasNext: true };
    await once(response, 'close');
  }
  await send(request, response, parts());
}

test('an answer in parts says that it is over when all are ended', async () => {
  const response = await fetch(`${url}/parts`);
  await until(() => streams.size === 1);
  streams.endAll();
  const parts = (await response.text()).split('\r\n').filter((line) => line.startsWith('{'));
  expect(parts.map((part) => JSON.parse(part) as unknown)).toEqual([
    { data: { hello: 'hi' }, hasNext: true },
    { hasNext: false },
  ]);
});

test('none is opened any more once all have been ended', async () => {
  expect((await open()).status).toBe(200);
  streams.endAll();
  await until(() => streams.size === 0);
  expect((await open()).status).toBe(503);
});
