import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';

import {
  SHOP_SECRET,
  startTestGateway,
  type TestGateway,
  until,
} from '../server/server-under-test.fixture.ts';

/** Clients that hang up at every step of a request: nothing of it stays. */

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of leftovers.splice(0).toReversed()) await stop();
});

const HANG = '{ hang }';
const FOLLOW = 'subscription { taskProgress(id: "t1") { progress task { template } } }';
const EVENT_STREAM = 'Accept: text/event-stream\r\n';
const MULTIPART = 'Accept: multipart/mixed;subscriptionSpec="1.0"\r\n';

/** What is posted, over each transport. */
const POSTED = [
  ['a query as events', EVENT_STREAM, HANG],
  ['a subscription as events', EVENT_STREAM, FOLLOW],
  ['a refused operation as events', EVENT_STREAM, '{ nothing }'],
  [
    'a subscription to nothing as events',
    EVENT_STREAM,
    'subscription { taskProgress(id: "unknown") { seq } }',
  ],
  ['a subscription as parts', MULTIPART, FOLLOW],
  ['a query', '', HANG],
  ['a query by the Express pipeline', 'Accept: application/json;q=0.9\r\n', HANG],
] as const;
const WEBSOCKET = `GET /graphql HTTP/1.1\r\nHost: kiln\r\nConnection: Upgrade\r\nUpgrade: websocket
Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
Sec-WebSocket-Protocol: graphql-transport-ws\r\nAuthorization: Bearer ${SHOP_SECRET}\r\n\r\n`.replaceAll(
  /\r?\n/g,
  '\r\n',
);

/** Turns of the event loop that requests take to where they wait, and some more. */
const TURNS = 40;
const SLOTS = 4;

function posted(query: string, headers: string): Buffer {
  const body = JSON.stringify({ query });
  return Buffer.from(
    `POST /graphql HTTP/1.1\r\nHost: kiln\r\nContent-Type: application/json\r\nAuthorization: Bearer ${SHOP_SECRET}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** The request of an EventSource. */
function opened(query: string): Buffer {
  const path = `/graphql?query=${encodeURIComponent(query)}`;
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: kiln\r\nAuthorization: Bearer ${SHOP_SECRET}\r\n${EVENT_STREAM}\r\n`,
  );
}

/** A form with a file that goes on: the client hangs up in the middle of it. */
function uploaded(): Buffer {
  const query = 'mutation ($file: Upload!) { upload(file: $file) { bytes } }';
  const fields = {
    operations: JSON.stringify({ query, variables: { file: null } }),
    map: '{"0":["variables.file"]}',
  };
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--b\r\nContent-Disposition: form-data; name="0"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n${'x'.repeat(2_000)}`;
  return Buffer.from(
    `POST /graphql HTTP/1.1\r\nHost: kiln\r\nContent-Type: multipart/form-data; boundary=b\r\nApollo-Require-Preflight: 1\r\nAuthorization: Bearer ${SHOP_SECRET}\r\nContent-Length: 900000\r\n\r\n${parts.join('')}${file}`,
  );
}

/** A message of a client: masked, as the protocol wants it. */
function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const mask = Buffer.alloc(4);
  const length =
    text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...length]), mask, text]);
}

/** Sends the bytes and resets the connection some turns of the event loop later. */
async function hangUp(url: string, bytes: Buffer, turns: number): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(bytes);
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  socket.resetAndDestroy();
  await closed;
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

async function open(): Promise<TestGateway> {
  const gateway = await startTestGateway({ connectionLimit: SLOTS, maxSockets: SLOTS });
  leftovers.push(() => gateway.close());
  return gateway;
}

/** Waits until nothing is followed or timed any more, and returns the statuses of as many streams as there are slots. */
async function openAfterwards(gateway: TestGateway, timersBefore: number): Promise<readonly number[]> {
  await until(() => gateway.server.openStreams() === 0);
  await until(() => gateway.world.listenerCount() === 0);
  await until(() => gateway.world.hanging.every(({ aborted }) => aborted));
  // A few are of connections that are kept; a leak is one for each of the requests.
  await until(() => timers() < timersBefore + TURNS / 2);
  const opened = Array.from({ length: SLOTS }, async () => {
    const { statusCode, body } = await request(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${SHOP_SECRET}`,
      },
      body: JSON.stringify({ query: 'subscription { ticks(to: 1) }' }),
    });
    await body.dump();
    return statusCode;
  });
  return Promise.all(opened);
}

test.each(POSTED)('%s leaves nothing behind, whenever its client hangs up', async (_name, headers, query) => {
  const gateway = await open();
  const before = timers();
  for (let turns = 0; turns < TURNS; turns += 1) await hangUp(gateway.url, posted(query, headers), turns);
  expect(await openAfterwards(gateway, before)).toEqual(Array(SLOTS).fill(200));
});

test.each([
  ['an EventSource', opened(FOLLOW)],
  ['an EventSource to nothing', opened('subscription { taskProgress(id: "unknown") { seq } }')],
  ['an upload', uploaded()],
])('%s leaves nothing behind either', async (_name, bytes) => {
  const gateway = await open();
  const before = timers();
  for (let turns = 0; turns < TURNS; turns += 1) await hangUp(gateway.url, bytes, turns);
  expect(await openAfterwards(gateway, before)).toEqual(Array(SLOTS).fill(200));
});

test.each([HANG, FOLLOW])(
  'a WebSocket with %s leaves nothing behind, whenever its client hangs up',
  async (query) => {
    const gateway = await open();
    const before = timers();
    const messages = [{ type: 'connection_init' }, { type: 'subscribe', id: '1', payload: { query } }];
    for (let turns = 0; turns < TURNS; turns += 1) {
      const bytes = Buffer.concat([Buffer.from(WEBSOCKET), ...messages.map(frame)]);
      await hangUp(gateway.url, bytes, turns);
    }
    expect(await openAfterwards(gateway, before)).toEqual(Array(SLOTS).fill(200));
  },
);
