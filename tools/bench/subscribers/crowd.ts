import { setTimeout as pause } from 'node:timers/promises';

import { WebSocket } from 'ws';

import type { CrowdOrder, Heard } from './subscribers.ts';

// Many graphql-ws subscribers in one process, each with a socket and a task of its own.
const QUERY = 'subscription ($id: ID!) { taskProgress(id: $id) { seq at stage progress } }';
/** Sockets that are being opened at the same time. */
const OPENING = 50;
/** Longest wait for events that were written. */
const PATIENCE_MS = 20_000;

interface Progress {
  readonly seq: number;
  readonly at: string;
}

let latencies: number[] = [];
let gaps = 0;

process.on('message', (message) => {
  const order = message as CrowdOrder;
  const done = 'url' in order ? openAll(order) : hear(order);
  void done.then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

/** Waits until so many events have come, and tells how they came. */
async function hear({ expected }: { readonly expected: number }): Promise<Heard> {
  for (const deadline = Date.now() + PATIENCE_MS; latencies.length < expected; await pause(20)) {
    if (Date.now() > deadline) throw new Error(`${latencies.length} of ${expected} events came`);
  }
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  latencies = [];
  return { deliveries: sorted.length, p50: at(0.5), p99: at(0.99), gaps };
}

async function openAll({
  url,
  ids,
}: Extract<CrowdOrder, { url: string }>): Promise<{ readonly open: number }> {
  const left = [...ids];
  const openers = Array.from({ length: OPENING }, async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await open(url, id);
  });
  await Promise.all(openers);
  return { open: ids.length };
}

/** Resolves when the server has acknowledged the connection and was sent the subscription. */
function open(url: string, id: string): Promise<void> {
  const socket = new WebSocket(url, 'graphql-transport-ws');
  let lastSeq = 0;
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => {
      throw new Error(`a subscriber was cut off with ${code}`);
    });
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => {
      const now = Date.now();
      const { type, payload } = JSON.parse(data.toString()) as {
        readonly type: string;
        readonly payload?: { readonly data?: { readonly taskProgress: Progress } | null };
      };
      if (type === 'ping') return socket.send('{"type":"pong"}');
      if (type === 'connection_ack') {
        socket.send(
          JSON.stringify({ id: '1', type: 'subscribe', payload: { query: QUERY, variables: { id } } }),
        );
        return resolve();
      }
      const progress = type === 'next' ? payload?.data?.taskProgress : undefined;
      if (progress === undefined) throw new Error(`unexpected: ${data.toString().slice(0, 300)}`);
      if (progress.seq !== lastSeq + 1) gaps += 1;
      lastSeq = progress.seq;
      latencies.push(now - Date.parse(progress.at));
    });
  });
}
