import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createOldReader } from './old-reader.ts';

const logger = silentLogger();
const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
const bodies: Readonly<Record<string, string>> = {
  '/large': JSON.stringify({ data: 'x'.repeat(5 * 1024 * 1024) }),
  '/page': '<html>not here</html>',
  '/fine': '{"status":true}',
};
let server: Server;
let url: string;
let requests = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    response.end(bodies[request.url ?? '']);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close().closeAllConnections();
  await http.close();
});

const read = (target: string) => ({
  method: 'GET',
  target,
  authorization: null,
  signal: new AbortController().signal,
});

describe('the reader of an old service', () => {
  it.each(['/large', '/page'])('does not take %s for an answer', async (target) => {
    const reader = createOldReader({ http, logger, url });
    await expect(reader(read(target))).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 15 });
    expect(await reader(read('/fine'))).toEqual({ status: 200, body: { status: true } });
  });

  it('does not ask a service for a while that has failed five times in a row', async () => {
    const reader = createOldReader({ http, logger, url });
    for (let failure = 0; failure < 5; failure += 1) await reader(read('/page')).catch(() => undefined);
    const before = requests;
    await expect(reader(read('/fine'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requests).toBe(before);
  });
});
