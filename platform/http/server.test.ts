import { EventEmitter, once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';

import { afterEach, describe, expect, it } from 'vitest';

import {
  disconnectSignal,
  isHangUp,
  listenOn,
  noteRequest,
  readFacts,
  readRequestBody,
  stopAccepting,
  whenClosed,
} from './server.ts';

/** Whether this machine has it: many containers do not. */
const hasIpv6 = Object.values(networkInterfaces()).some((own) =>
  own?.some(({ address }) => address === '::1'),
);

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(answer);
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, ...(await listenOn(server, '127.0.0.1', 0)) };
}

/** Asks over a connection that is kept. */
async function ask(url: string, agent: Agent) {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.headers.connection;
}

function keepingAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(() => agent.destroy());
  return agent;
}

describe('a server', () => {
  it('says where it listens, or why it does not', async () => {
    const { url } = await serve(() => undefined);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const other = createServer();
    const { port } = new URL(url);
    await expect(listenOn(other, '127.0.0.1', Number(port))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `port ${port} of 127.0.0.1 is in use by another program: stop it, or set PORT to another one`,
    });
    await expect(listenOn(other, '192.0.2.1', 0)).rejects.toThrow(
      '192.0.2.1 is no address of this machine: set HOST',
    );
    await expect(listenOn(other, 'no host', 0)).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    });
  });

  it.runIf(hasIpv6)('listens on the socket of another one, over IPv6', async () => {
    const other = createServer();
    const holder = createSocketServer().listen(0, '::1');
    await once(holder, 'listening');
    const held = await listenOn(other, 'not asked for', 1, holder);
    expect(held.url).toBe(`http://[::1]:${(holder.address() as { port: number }).port}`);
    expect(other.listenerCount('error')).toBe(0);
    other.close();
    holder.close();
  });

  it('that stops lets what runs end, and closes connections after their answer', async () => {
    const waiting: (() => void)[] = [];
    const { server, url } = await serve((request, response) => {
      const end = () => response.end('x');
      if (request.url === '/slow') waiting.push(end);
      else end();
    });
    const [kept, slow] = [keepingAgent(), keepingAgent()];
    expect(await ask(url, kept)).toBe('keep-alive');
    const running = ask(`${url}/slow`, slow);
    await expect.poll(() => waiting.length).toBe(1);
    let isStopped = false;
    const stopped = stopAccepting(server).then(() => (isStopped = true));
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    expect(isStopped).toBe(false);
    waiting[0]?.();
    await running;
    await stopped;
    await stopAccepting(server);
  });
});

describe('a client that leaves', () => {
  const closing = (more: object) =>
    Object.assign(new EventEmitter(), { closed: false, ...more }) as unknown as ServerResponse;

  it('is known when its response closes, also to who looks late', () => {
    const [open, closed] = [
      closing({ writableFinished: false }),
      closing({ closed: true, writableFinished: false }),
    ];
    let told = 0;
    whenClosed(open, () => void (told += 1));
    expect(told).toBe(0);
    const signals = [open, closed, closing({ closed: true, writableFinished: true })].map(disconnectSignal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, false]);
    open.emit('close');
    open.emit('close');
    expect([told, signals[0]?.aborted]).toEqual([1, true]);
  });

  it('is told from other failures', () => {
    const named = Object.assign(new Error('x'), { name: 'AbortError' });
    const coded = (code: string) => Object.assign(new Error('x'), { code });
    const all = [
      named,
      coded('ERR_STREAM_PREMATURE_CLOSE'),
      coded('ECONNRESET'),
      new Error('x'),
      'AbortError',
    ];
    expect(all.map(isHangUp)).toEqual([true, true, false, false, false]);
  });
});

it('facts of a request are added to', () => {
  const response = {} as ServerResponse;
  expect(readFacts(response)).toEqual({});
  noteRequest(response, { route: '/a' });
  noteRequest(response, { changes: ['b'] });
  expect(readFacts(response)).toEqual({ route: '/a', changes: ['b'] });
});

it.each([
  [['ab', 'cd'], {}, 4, 'abcd'],
  [['ab', 'cd'], {}, 3, null],
  [['ab'], { 'content-length': '2' }, 2, 'ab'],
  [['ab'], { 'content-length': '3' }, 2, null],
  [[], {}, 0, ''],
])('the body %j with %j is read up to %i bytes: %s', async (chunks, headers, maxBytes, expected) => {
  const request = Object.assign(Readable.from(chunks.map((text) => Buffer.from(text))), { headers });
  const body = await readRequestBody(request as unknown as IncomingMessage, maxBytes);
  expect(body === null ? null : body.toString()).toBe(expected);
});
