import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { Connection } from '../contract/provider.ts';
import { createEventStream } from './event-stream.ts';

/** The reader of providers' event streams, over a real connection. */

const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
let server: Server;
let pieces: Iterable<string> | AsyncIterable<Buffer> = [];

beforeAll(async () => {
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    Readable.from(pieces).pipe(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await http.close();
  server.close();
});

/** The events of what the provider sends. */
function readEvents(sent: typeof pieces): AsyncIterable<string> {
  pieces = sent;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection: Connection = {
    baseUrl,
    pathPrefix: '',
    headers: {},
    credentials: {},
    model: null,
    nodes: [],
    resultOrigins: [],
  };
  return createEventStream(http)(
    { connection, signal: AbortSignal.timeout(100_000) },
    { method: 'GET', path: '/', maxBytes: 1 << 25, onRefusal: () => undefined },
  );
}

const received = (...sent: string[]): Promise<string[]> => Array.fromAsync(readEvents(sent));

describe('an event stream of a provider', () => {
  it.each(['\n', '\r\n', '\r'])('ends with its last event when its lines end with %j', async (end) => {
    const text = ['data: one', '', ': a comment', 'data: two', 'data: lines', '', ''].join(end);
    expect(await received(text)).toEqual(['one', 'two\nlines']);
    expect(await received(...Array.from(text))).toEqual(['one', 'two\nlines']);
  });

  it('may be cut within a character', async () => {
    const first = Promise.withResolvers<void>();
    const bytes = Buffer.from('data: one\n\ndata: 🦊\n\n');
    async function* inTwo() {
      yield bytes.subarray(0, -4);
      await first.promise;
      yield bytes.subarray(-4);
    }
    const events: string[] = [];
    for await (const event of readEvents(inTwo())) {
      events.push(event);
      first.resolve();
    }
    expect(events).toEqual(['one', '🦊']);
  });

  it('leaves out an event that was not completed, and fields without data', async () => {
    expect(await received('event: ping\n\n', 'data: one\n\n', 'data: half\n')).toEqual(['one']);
  });

  it('takes an event of megabytes and refuses one that is too long', async () => {
    const part = 'x'.repeat(1 << 14);
    const whole = await received('data: ', ...Array.from({ length: 400 }, () => part), '\n\n');
    expect(whole.map(({ length }) => length)).toEqual([400 * part.length]);
    await expect(received('data: ', ...Array.from({ length: 600 }, () => part), '\n\n')).rejects.toThrow(
      'the provider sent an event that is too long',
    );
  });
});
