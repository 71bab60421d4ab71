import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { internalCaller } from '../../access/caller.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { CALLER_HEADER, toClaims, createCallerSigner } from '../assertions/caller-assertion.ts';
import { createContext } from '../subgraph-server/two-subgraphs.fixture.ts';
import { cleanUp, KEY, startMedia } from './channel.fixture.ts';
import { createOpener } from './channels.ts';
import {
  batchFrame,
  createBatchSigner,
  createFrameReader,
  readAnswer,
  CHANNEL_METHOD,
  CHANNEL_PATH,
  CHANNEL_PROTOCOL,
  NONCE_HEADER,
} from './protocol.ts';

afterEach(cleanUp);

const question = JSON.stringify([
  { ask: 1, slot: 0, text: '{ caller }', variables: {}, caller: toClaims(createContext('usr_1').caller) },
]);

/** An opened channel, over which anything may be sent. */
async function open(url: string) {
  const endpoints = createEndpoints({ urls: [url], logger: silentLogger() });
  const endpoint = endpoints.next();
  const opener = createOpener({ internalKey: KEY, audience: 'media', timeoutMs: () => 5_000 });
  const opened = endpoint === undefined ? null : await opener(endpoint);
  if (opened === null) throw new Error('no channel');
  return opened;
}

/** The first answer; null when the other side closes the connection instead. */
async function firstAnswer(socket: Socket): Promise<string | null> {
  const read = createFrameReader(1_000_000);
  const answers = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      for (const frame of read(chunk)) resolve(readAnswer(frame).bytes.toString());
    });
  });
  return Promise.race([answers, once(socket, 'close').then(() => null)]);
}

/** The status of the answer to an upgrade with these headers. */
async function upgrade(url: string, headers: Record<string, string>): Promise<number> {
  const upgrading = { connection: 'Upgrade', upgrade: CHANNEL_PROTOCOL, ...headers };
  const sent = request(new URL(CHANNEL_PATH, url), { agent: false, headers: upgrading });
  sent.end();
  const answered = once(sent, 'response').then(([{ statusCode }]) => statusCode as number);
  const opened = once(sent, 'upgrade').then(([, socket]) => {
    (socket as Socket).destroy();
    return 101;
  });
  return Promise.race([answered, opened]);
}

describe('a channel', () => {
  it('is opened only with an assertion for its own nonce, at its own subgraph', async () => {
    const { url } = await startMedia();
    const assertion = (audience: string, method: string, body: string) =>
      createCallerSigner({ key: KEY, audience })(internalCaller('t'), { method, path: CHANNEL_PATH, body });
    const with_ = (asserted: string, nonce = 'nonce') => ({
      [CALLER_HEADER]: asserted,
      [NONCE_HEADER]: nonce,
    });
    expect(await upgrade(url, {})).toBe(401);
    expect(await upgrade(url, with_('made-up'))).toBe(401);
    expect(await upgrade(url, with_(await assertion('media', CHANNEL_METHOD, 'another')))).toBe(401);
    expect(await upgrade(url, with_(await assertion('workflow', CHANNEL_METHOD, 'nonce')))).toBe(401);
    expect(await upgrade(url, with_(await assertion('media', 'POST', 'nonce')))).toBe(401);
    expect(await upgrade(url, with_(await assertion('media', CHANNEL_METHOD, 'nonce')))).toBe(101);
  });

  it('that is refused does not hold up the stop, also where a stranger keeps the connection open', async () => {
    const { url, server } = await startMedia();
    const { hostname, port } = new URL(url);
    const stranger = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const head = ['Host: x', 'Connection: Upgrade', `Upgrade: ${CHANNEL_PROTOCOL}`].join('\r\n');
    stranger.write(`GET ${CHANNEL_PATH} HTTP/1.1\r\n${head}\r\n\r\n`);
    expect(String((await once(stranger, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
    await server.close();
    stranger.destroy();
  });

  it('takes what is signed for it', async () => {
    const { url } = await startMedia();
    const { socket, key } = await open(url);
    socket.write(batchFrame(question, createBatchSigner(key)));
    expect(await firstAnswer(socket)).toBe('{"data":{"caller":"user:usr_1"}}');
    socket.destroy();
  });

  it('ends when the other side has ended it and has its last answer', async () => {
    const { two, url } = await startMedia();
    const idle = await open(url);
    idle.socket.resume().end();
    await once(idle.socket, 'end');
    const { socket, key } = await open(url);
    const caller = toClaims(createContext().caller);
    const ask = { ask: 1, slot: 0, text: '{ hang }', variables: {}, caller };
    socket.write(batchFrame(JSON.stringify([ask]), createBatchSigner(key)));
    socket.end();
    const answered = firstAnswer(socket);
    await expect.poll(() => two.hanging.length).toBe(1);
    expect([two.hanging[0]?.aborted, socket.readableEnded]).toEqual([false, false]);
    const ended = once(socket, 'end');
    two.hanging[0]?.dispatchEvent(new Event('abort'));
    expect(await answered).toBe('{"data":{"hang":"stopped waiting"}}');
    await ended;
  });

  it('ends at what is repeated, changed, or signed for another connection', async () => {
    const { url } = await startMedia();
    const [one, other] = [await open(url), await open(url)];
    const frame = batchFrame(question, createBatchSigner(one.key));
    other.socket.write(frame);
    expect(await firstAnswer(other.socket)).toBeNull();
    one.socket.write(frame);
    expect(await firstAnswer(one.socket)).not.toBeNull();
    one.socket.write(frame);
    await once(one.socket, 'close');
    const third = await open(url);
    const changed = batchFrame(question, createBatchSigner(third.key));
    changed.writeUInt8(changed.readUInt8(changed.length - 5) ^ 1, changed.length - 5);
    third.socket.write(changed);
    expect(await firstAnswer(third.socket)).toBeNull();
  });

  it('ends at what nobody of Kiln would send, and at too much of it', async () => {
    const { url } = await startMedia();
    const caller = toClaims(createContext().caller);
    const ask = { ask: 1, slot: 0, text: '{ caller }', variables: {}, caller };
    const { text: _text, ...unknownText } = ask;
    const wrong = ['[', '{}', JSON.stringify([{ ...ask, caller: {} }]), JSON.stringify([unknownText])];
    for (const text of [...wrong, JSON.stringify([{ ...ask, slot: 100_000 }])]) {
      const { socket, key } = await open(url);
      socket.write(batchFrame(text, createBatchSigner(key)));
      expect(await firstAnswer(socket)).toBeNull();
    }
    const { socket } = await open(url);
    socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    expect(await firstAnswer(socket)).toBeNull();
  });

  it('reads on after as many requests as it takes at a time, of which nobody waits for one', async () => {
    const { two, url } = await startMedia();
    const { socket, key } = await open(url);
    const signer = createBatchSigner(key);
    const caller = toClaims(createContext('usr_1').caller);
    const first = { ask: 1, slot: 0, text: '{ hang }', variables: {}, caller };
    const asks = Array.from({ length: 1_024 }, (_, index) => ({ ...first, ask: index + 1 }));
    const leaves = asks.map(({ ask }) => ({ leave: ask }));
    socket.write(batchFrame(JSON.stringify([...asks, ...leaves]), signer));
    await expect.poll(() => two.hanging.filter(({ aborted }) => aborted).length).toBe(1_024);
    socket.write(batchFrame(JSON.stringify([{ ...first, slot: 1, text: '{ caller }' }]), signer));
    expect(await firstAnswer(socket)).toBe('{"data":{"caller":"user:usr_1"}}');
    socket.destroy();
  });

  it('refuses an operation that is too deep or a subscription, and goes on', async () => {
    const { url } = await startMedia();
    const { socket, key } = await open(url);
    const signer = createBatchSigner(key);
    const caller = toClaims(createContext().caller);
    const deep = JSON.parse(`${'[{"a":'.repeat(200)}1${'}]'.repeat(200)}`) as unknown;
    const asks = [
      { ask: 1, slot: 0, text: '{ caller }', variables: { deep }, caller },
      { ask: 2, slot: 1, text: 'subscription { refusing }', variables: {}, caller },
      { ask: 3, slot: 0, variables: {}, caller },
    ];
    const answers = new Map<number, string>();
    const read = createFrameReader(1_000_000);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of read(chunk)) answers.set(readAnswer(frame).id, readAnswer(frame).bytes.toString());
    });
    socket.write(batchFrame(JSON.stringify(asks), signer));
    await expect.poll(() => answers.size).toBe(3);
    expect(answers.get(1)).toContain('nest deeper');
    expect(answers.get(2)).toContain('subscribe over graphql-ws');
    expect(answers.get(3)).toBe('{"data":{"caller":"user:usr_1"}}');
    socket.destroy();
  });
});
