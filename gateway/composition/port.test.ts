import { createServer } from 'node:http';

import { expect, it } from 'vitest';

import { listenOn, stopAccepting } from '../../platform/http/server.ts';
import { reservePort } from './port.ts';

it('keeps a free port from other programs until the server takes it over', async () => {
  const stops: (() => Promise<void>)[] = [];
  const lifecycle = { add: (_name: string, stop: () => Promise<void>) => void stops.push(stop) };
  const { port, holder } = await reservePort({ host: '127.0.0.1', port: 0 }, lifecycle);
  expect(stops).toHaveLength(1);
  expect(await reservePort({ host: '127.0.0.1', port: 4711 }, lifecycle)).toEqual({ port: 4711 });
  expect(stops).toHaveLength(1);
  const other = createServer();
  await expect(listenOn(other, '127.0.0.1', port)).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');

  const server = createServer((_request, response) => void response.end('served'));
  const { url } = await listenOn(server, '127.0.0.1', port, holder);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect(await (await fetch(url)).text()).toBe('served');

  await stopAccepting(server);
  for (const stop of stops) await stop();
  await listenOn(other, '127.0.0.1', port);
  await stopAccepting(other);
});
