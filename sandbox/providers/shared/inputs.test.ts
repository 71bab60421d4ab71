import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, it } from 'vitest';

import { fetched } from './inputs.ts';

/** Downloads of inputs by the stand-ins, over real sockets. */

const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/** A server on an address of this machine; answers its port. */
async function serverAt(host: string, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, host);
  await once(server, 'listening');
  closes.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

const fetchInput = (address: string) =>
  fetched(address, { maxBytes: 100, signal: AbortSignal.timeout(100_000) });

// Linux answers on all of 127.0.0.0/8, so that the second address can stand for another machine that can be reached.
it.skipIf(process.platform !== 'linux')(
  'an input is fetched from this machine only, redirects included',
  async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = await serverAt('127.0.0.2', (request, response) => {
      asked.push(request.url);
      response.end('secret');
    });
    const port = await serverAt('127.0.0.1', (request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/image' }).end();
      else if (request.url === '/away')
        response.writeHead(302, { location: `http://127.0.0.2:${elsewhere}/redirected` }).end();
      else response.end('image');
    });
    const here = `http://127.0.0.1:${port}`;
    expect(String(await fetchInput(`${here}/image`))).toBe('image');
    expect(String(await fetchInput(`${here}/moved`))).toBe('image');
    expect(await fetchInput(`http://127.0.0.2:${elsewhere}/direct`)).toBeNull();
    expect(await fetchInput(`${here}/away`)).toBeNull();
    expect(await fetchInput(`file://${import.meta.filename}`)).toBeNull();
    expect(asked).toEqual([]);
  },
);

it('an input that is larger than allowed, or is not there, is none', async () => {
  const port = await serverAt('127.0.0.1', (request, response) => {
    if (request.url === '/gone') response.writeHead(404).end('nothing');
    else response.end('x'.repeat(request.url === '/large' ? 101 : 100));
  });
  expect((await fetchInput(`http://127.0.0.1:${port}/fits`))?.length).toBe(100);
  expect(await fetchInput(`http://127.0.0.1:${port}/large`)).toBeNull();
  expect(await fetchInput(`http://127.0.0.1:${port}/gone`)).toBeNull();
});
