import { setTimeout as pause } from 'node:timers/promises';

import { WebSocket } from 'ws';

import type { CrowdOrder, Crowded } from './sockets.ts';

// Clients that all come within a second, each for one task, and come again as graphql-ws clients do until they follow it.
const QUERY = 'subscription ($id: ID!) { taskProgress(id: $id) { seq stage progress task { id state } } }';
/** Most milliseconds that a client waits for its first entry, before it leaves and comes again. */
const PATIENCE_MS = 20_000;

interface Client {
  readonly id: string;
  /** Number of the last entry; a client that comes again says so. */
  seq: number;
  /** Milliseconds from the beginning until the first entry; null before. */
  steadyAt: number | null;
  tries: number;
}

const errors = new Map<string, number>();
const clients: Client[] = [];
let gaps = 0;
let begun = 0;

process.on('message', (message) => {
  const order = message as CrowdOrder;
  void ('url' in order ? come(order) : wait(order)).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function come({ url, ids, withinMs, count }: Extract<CrowdOrder, { url: string }>): Promise<Crowded> {
  begun = performance.now();
  for (let index = 0; index < count; index += 1) {
    const client: Client = { id: ids[index % ids.length] ?? '', seq: 0, steadyAt: null, tries: 0 };
    clients.push(client);
    setTimeout(() => void stay(url, client), (index / count) * withinMs);
  }
  return found();
}

/** Waits until every client has seen the entry with this number, or the time is over. */
async function wait({ seq, forMs }: Extract<CrowdOrder, { seq: number }>): Promise<Crowded> {
  const end = performance.now() + forMs;
  while (performance.now() < end && clients.some((client) => client.seq < seq)) await pause(50);
  return found();
}

function found(): Crowded {
  const steady = clients.map(({ steadyAt }) => steadyAt).filter((at) => at !== null);
  const sorted = steady.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    steady: steady.length,
    seconds: { p50: at(0.5) / 1000, p99: at(0.99) / 1000, last: at(1) / 1000 },
    tries: clients.reduce((sum, client) => sum + client.tries, 0),
    errors: Object.fromEntries(errors),
    gaps,
    lowest: Math.min(...clients.map(({ seq }) => seq)),
  };
}

async function stay(url: string, client: Client): Promise<void> {
  for (;;) {
    client.tries += 1;
    const { why, retryAfter } = await follow(url, client);
    errors.set(why, (errors.get(why) ?? 0) + 1);
    // As told; else as graphql-ws does, which doubles its pause.
    const wait = retryAfter ?? Math.min(30, 2 ** Math.min(5, client.tries - 1));
    await pause(wait * 1000 + 300 + Math.random() * 2_700);
  }
}

interface Left {
  readonly why: string;
  readonly retryAfter: number | null;
}

/** Follows the task until the connection is lost or refused; tells why. */
function follow(url: string, client: Client): Promise<Left> {
  const { promise, resolve } = Promise.withResolvers<Left>();
  const socket = new WebSocket(url, 'graphql-transport-ws');
  const leave = (why: string, retryAfter: number | null = null): void => {
    clearTimeout(patience);
    socket.removeAllListeners();
    socket.on('error', () => undefined);
    socket.terminate();
    resolve({ why, retryAfter });
  };
  const patience = setTimeout(() => leave('nothing within 20 s'), PATIENCE_MS);
  socket.on('unexpected-response', (_request, response) => {
    const after = Number(response.headers['retry-after'] ?? NaN);
    leave(`HTTP ${response.statusCode}`, Number.isNaN(after) ? null : after);
  });
  socket.on('error', (error) => leave((error as NodeJS.ErrnoException).code ?? error.message));
  socket.on('close', (code, reason) => leave(`closed with ${code} ${String(reason).slice(0, 40)}`));
  socket.on('open', () => socket.send('{"type":"connection_init"}'));
  socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as {
      readonly type: string;
      readonly payload?: Payload;
    };
    if (type === 'ping') return socket.send('{"type":"pong"}');
    if (type === 'connection_ack') {
      const variables = { id: client.id };
      const query = client.seq === 0 ? QUERY : QUERY.replace('$id)', `$id, afterSeq: ${client.seq})`);
      return socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
    }
    const progress = type === 'next' ? payload?.data?.taskProgress : undefined;
    if (progress === undefined) {
      const [error] = type === 'error' ? (payload as unknown as readonly Fault[]) : (payload?.errors ?? []);
      const { code = type, retryAfter = null } = error?.extensions ?? {};
      return leave(`${code}: ${error?.message.slice(0, 60) ?? ''}`, retryAfter);
    }
    clearTimeout(patience);
    if (progress.seq !== client.seq + 1) gaps += 1;
    client.seq = progress.seq;
    client.steadyAt ??= performance.now() - begun;
  });
  return promise;
}

interface Payload {
  readonly data?: { readonly taskProgress: { readonly seq: number } } | null;
  readonly errors?: readonly Fault[];
}

interface Fault {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly retryAfter?: number };
}
