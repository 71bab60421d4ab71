import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import type { Abandonable } from '../../http/endpoints/post-text.ts';
import { silentLogger } from '../../process/logger.ts';
import { toClaims } from '../assertions/caller-assertion.ts';
import { createContext } from '../subgraph-server/two-subgraphs.fixture.ts';
import { cleanUp, cleanups, KEY, linkTo, startMedia, startTestRelay } from './channel.fixture.ts';
import { createChannels, createOpener } from './channels.ts';
import { CHANNEL_PROTOCOL, NONCE_HEADER } from './protocol.ts';

afterEach(cleanUp);

it('opens another connection beside busy ones, up to a bound', async () => {
  const { two, url } = await startMedia();
  const relay = await startTestRelay(url);
  const link = linkTo([relay.url]);
  const leave = new AbortController();
  const waiting: Promise<unknown>[] = [];
  const ask = async (count: number): Promise<void> => {
    const request = { query: '{ hang }', variables: {}, context: createContext('usr_1', leave.signal) };
    for (let index = 0; index < count; index += 1) waiting.push(link.execute(request));
    await expect.poll(() => two.hanging.length, { interval: 5 }).toBe(waiting.length);
  };
  await ask(64);
  expect(relay.connections()).toBe(1);
  await ask(1);
  await expect.poll(() => relay.connections(), { interval: 5 }).toBe(2);
  // Each time those that are open get a share.
  for (let round = 0; round < 24; round += 1) await ask(16);
  expect(relay.connections()).toBe(4);
  leave.abort();
  await Promise.all(waiting);
  await expect.poll(() => two.hanging.every(({ aborted }) => aborted)).toBe(true);
});

/** The process at an address, and channels that are told when it is gone. */
function channelsTo(url: string) {
  const endpoints = createEndpoints({ urls: [url], logger: silentLogger() });
  cleanups.push(() => endpoints.close());
  let gone: (endpoint: Endpoint) => void = () => undefined;
  const channels = createChannels({
    internalKey: KEY,
    audience: 'media',
    endpoints: { ...endpoints, onGone: (listener) => void (gone = listener) },
    maxAnswerBytes: 1_000,
  });
  cleanups.push(async () => channels.close());
  const endpoint = endpoints.next() as Endpoint;
  const call: Abandonable = { abandon: null };
  const question = { text: '{ caller }', variables: {}, caller: toClaims(createContext().caller) };
  const ask = async () => String((await channels.ask(endpoint, question, call))?.bytes);
  return { channels, endpoint, call, ask, gone: () => gone(endpoint) };
}

describe('channels to one process', () => {
  it('are left when it is gone, and opened anew when it is there again', async () => {
    const relay = await startTestRelay((await startMedia()).url);
    const { ask, gone } = channelsTo(relay.url);
    const answer = '{"data":{"caller":"user:usr_1"}}';
    expect([await ask(), await ask(), relay.connections()]).toEqual([answer, answer, 1]);
    gone();
    await expect.poll(() => relay.open()).toBe(0);
    expect([await ask(), relay.connections()]).toEqual([answer, 2]);
  });

  it('end at once when they are closed, also one that is being opened', async () => {
    const relay = await startTestRelay((await startMedia()).url);
    const { ask, channels } = channelsTo(relay.url);
    const asked = ask().catch((error: unknown) => String(error));
    channels.close();
    expect(await asked).toBe('Error: the connection was closed');
    await expect.poll(() => relay.open()).toBe(0);
  });

  it('are no longer waited for by who gives up', async () => {
    const reason = new Error('nobody waits');
    const { ask, call } = channelsTo(await startUpgrading(() => undefined));
    const asked = ask();
    expect(call.abandon).not.toBeNull();
    call.abandon?.(reason);
    await expect(asked).rejects.toBe(reason);
    expect(call.abandon).toBeNull();
  });
});

/** A server that answers upgrades with a head, or not at all. */
async function startUpgrading(head: () => string | undefined): Promise<string> {
  const server = createServer();
  const sockets = new Set<{ destroy(): unknown }>();
  server.on('upgrade', (_request, socket) => {
    sockets.add(socket);
    const text = head();
    if (text !== undefined) socket.write(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

describe('opening a channel', () => {
  const open = (url: string, timeoutMs = 10_000) => {
    const { endpoint } = channelsTo(url);
    return createOpener({ internalKey: KEY, audience: 'media', timeoutMs: () => timeoutMs })(endpoint);
  };
  const switching = (...lines: readonly string[]) =>
    ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', ...lines, '', ''].join('\r\n');

  it.each([
    ['another protocol', switching('Upgrade: other', `${NONCE_HEADER}: n`)],
    ['no nonce', switching(`Upgrade: ${CHANNEL_PROTOCOL}`)],
  ])('finds none where the answer has %s', async (_, head) => {
    expect(await open(await startUpgrading(() => head))).toBeNull();
  });

  it('has the key of what both sides have said', async () => {
    const url = await startUpgrading(() => switching(`Upgrade: ${CHANNEL_PROTOCOL}`, `${NONCE_HEADER}: n`));
    const opened = await open(url);
    expect(opened?.key.export()).toHaveLength(32);
    opened?.socket.destroy();
  });

  it('fails where nothing is answered in time', async () => {
    await expect(open(await startUpgrading(() => undefined), 20)).rejects.toMatchObject({
      code: 'NO_CHANNEL',
      message: 'no channel in time',
    });
  });
});
