import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { post, startTestGateway, until, type TestGateway } from './server-under-test.fixture.ts';
import { endSlowReaders } from './slow-readers.ts';

let gateway: TestGateway | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.close();
  gateway = undefined;
});

/** Asks for an answer of some 18 MB, and reads nothing of it. */
function askAndNotRead(): Socket {
  const { hostname, port, host } = new URL(gateway?.url ?? '');
  const fields = Array.from({ length: 20 }, (_, index) => `f${index}: task(id: $id) { id }`).join(' ');
  const variables = { id: 'x'.repeat(900_000) };
  const body = JSON.stringify({ query: `query ($id: ID!) { ${fields} }`, variables });
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  const head = ['POST /graphql HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json'];
  socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'));
  return socket;
}

const ended = (): number =>
  (gateway?.lines ?? []).filter((line) => line.includes('does not read its answer')).length;

test('ends clients that read nothing of their answers when too much waits for all of them', async () => {
  gateway = await startTestGateway({ unreadBytes: 40_000_000, stallMs: 600_000 });
  for (let count = 0; count < 12; count += 1) askAndNotRead();
  await until(() => ended() >= 8);
  // What may wait stays.
  expect(ended()).toBeLessThan(12);
  expect((await post(gateway, { query: '{ hello }' })).body).toEqual({ data: { hello: 'hi' } });
});

test('ends a client that reads nothing for a while', async () => {
  gateway = await startTestGateway({ stallMs: 500 });
  askAndNotRead();
  await until(() => ended() === 1);
  expect(gateway.lines.join('')).toContain('stalled');
});

describe('who does not read', () => {
  afterEach(() => void vi.useRealTimers());

  /** A server without a network, whose clients have waiting what the test says. */
  function watched(options: { readonly stallMs?: number; readonly unreadBytes?: number }) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const server = new EventEmitter();
    const lines: unknown[] = [];
    const logger = { ...silentLogger(), warn: (fields: object | string) => void lines.push(fields) };
    endSlowReaders(server as never, { ...options, logger });
    const ends: string[] = [];
    const client = (name: string, waiting: number) => {
      const destroy = (): void => void ends.push(name);
      const socket = Object.assign(new EventEmitter(), {
        writableLength: waiting,
        bytesWritten: waiting,
        destroy,
      });
      server.emit('connection', socket);
      return socket;
    };
    return { server, ends, lines, client };
  }

  test('is disconnected when much has waited for a while without any of it being read', () => {
    const { ends, lines, client } = watched({ stallMs: 1_000 });
    client('stands', 250_000);
    client('has little', 249_999);
    const moving = client('reads', 300_000);
    const later = client('stands later', 1_000);
    vi.advanceTimersByTime(750);
    expect(ends).toEqual([]);
    moving.bytesWritten += 1;
    Object.assign(later, { writableLength: 400_000, bytesWritten: 400_000 });
    vi.advanceTimersByTime(250);
    expect([ends.splice(0), lines.splice(0)]).toEqual([
      ['stands'],
      [{ why: 'stalled', bufferedBytes: 250_000 }],
    ]);
    vi.advanceTimersByTime(500);
    expect(ends).toEqual([]);
    vi.advanceTimersByTime(500);
    expect(ends.toSorted()).toEqual(['reads', 'stands later']);
    vi.advanceTimersByTime(60_000);
    expect(ends).toHaveLength(2);
  });

  test('is waited for half a minute, with 48 MB for all, where nothing else is said', () => {
    const { ends, client } = watched({});
    client('stands', 47_750_000);
    vi.advanceTimersByTime(29_750);
    client('another', 250_000);
    expect(ends).toEqual([]);
    client('one more', 250_000);
    vi.advanceTimersByTime(250);
    expect(ends).toEqual(['stands']);
  });

  test('is disconnected when too much waits for all: who stands longest, of those the one for whom most waits', () => {
    const { ends, lines, client } = watched({ unreadBytes: 1_000_000 });
    const moving = client('reads', 600_000);
    client('less', 300_000);
    vi.advanceTimersByTime(250);
    moving.bytesWritten += 1;
    client('has little', 200_000);
    vi.advanceTimersByTime(250);
    expect(ends).toEqual([]);
    moving.bytesWritten += 1;
    client('late', 500_000);
    client('late and more', 700_000);
    vi.advanceTimersByTime(250);
    expect(ends).toEqual(['less', 'late and more', 'late']);
    expect(lines).toEqual(
      [300_000, 700_000, 500_000].map((bufferedBytes) => ({ why: 'too much waits for all', bufferedBytes })),
    );
  });

  test('is not looked for among sockets that are WebSockets now or gone, nor after the server', () => {
    const { server, ends, client } = watched({ stallMs: 1_000 });
    const [socket, gone] = [client('upgraded', 300_000), client('gone', 300_000)];
    server.emit('upgrade', { socket });
    gone.emit('close');
    vi.advanceTimersByTime(2_000);
    client('stands', 300_000);
    server.emit('close');
    expect([ends, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
