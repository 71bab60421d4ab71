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
let pieces: readonly (string | Buffer)[] = [];

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

async function received(...sent: (string | Buffer)[]): Promise<string[]> {
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
  const events = createEventStream(http)(
    { connection, signal: AbortSignal.timeout(100_000) },
    { method: 'GET', path: '/', maxBytes: 1 << 25, onRefusal: () => undefined },
  );
  return Array.fromAsync(events);
}

describe('an event stream of a provider', () => {
  it.each(['\n', '\r\n', '\r'])('ends with its last event when its lines end with %j', async (end) => {
    const text = ['data: one', '', ': a comment', 'data: two', 'data: lines', '', ''].join(end);
    expect(await received(text)).toEqual(['one', 'two\nlines']);
    expect(await received(...Array.from(text))).toEqual(['one', 'two\nlines']);
  });

  it('may be cut within a character', async () => {
    const bytes = Buffer.from('data: 画像 🦊\n\n');
    expect(await received(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(['画像 🦊']);
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
