import { createServer, type Server } from 'node:http';

import { afterEach, expect, it } from 'vitest';

import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { listenOn } from '../../http/server.ts';
import { checkReadiness } from './remote-readiness.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A process that answers /readyz so; null: it hangs up. */
async function startProcess(answer: readonly [number, string] | null): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body] = answer ?? [0, ''];
    if (answer === null) request.socket.destroy();
    else response.writeHead(request.url === '/readyz' ? status : 404, { connection: 'close' }).end(body);
  });
  servers.push(server);
  return (await listenOn(server, '127.0.0.1', 0)).url;
}

/** What the processes of a subgraph say, asked in this order. */
async function ask(...answers: readonly (readonly [number, string] | null)[]) {
  const origins = await Promise.all(answers.map(startProcess));
  const all = origins.map((origin) => ({ origin, lookup: undefined }));
  const endpoints: Pick<Endpoints, 'next'> = {
    next: (tried) => all.find((one) => tried?.has(one as never) !== true) as never,
  };
  return checkReadiness('media', endpoints as Endpoints);
}

const READY = [200, '{"status":"ready"}'] as const;
const DEGRADED = [200, '{"degraded":["files","idp"]}'] as const;
const LACKING = [503, '{"failing":["database","queue"]}'] as const;

it.each([
  ['that is ready', [READY], []],
  ['that lacks what all lack', [DEGRADED], ['media.files', 'media.idp']],
  ['that is ready after others are not', [LACKING, null, DEGRADED, READY], ['media.files', 'media.idp']],
])('is that of the first process %s', async (_, answers, lacks) => {
  expect(await ask(...answers)).toEqual(lacks);
});

it.each([
  ['what the last process lacks', [null, LACKING], 'database, queue'],
  ['its status, where it says nothing', [[500, 'oops']], 'HTTP 500'],
  ['its status, where it says no list', [[503, '{"failing":"all"}']], 'HTTP 503'],
  ['that there was no answer', [LACKING, null], 'no answer'],
  ['that there is no process', [], 'no address'],
] as const)('is UNAVAILABLE where none is ready, and says %s', async (_, answers, reason) => {
  await expect(ask(...answers)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `subgraph "media" is not ready: ${reason}`,
  });
});
