import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { WebSocket } from 'ws';

import { listenOn } from '../../../platform/http/server.ts';
import type { BenchTools, Figure } from '../bench.ts';
import { median } from '../rounds.ts';
import { startKilnOver } from './servers.ts';

/** Events of one subscription, each joined with what another subgraph answers after a while: how late each comes to its subscriber. */

const PER_SECOND = 1_000;
const SECONDS = 5;
const JOIN_MS = 100;
const TICK_MS = 10;

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])`;
const SOURCE = `${LINK} type Item @key(fields: "id") { id: ID! sentAt: Float! } type Query { none: Int } type Subscription { items: Item! }`;
const JOINED = `${LINK} type Item @key(fields: "id") { id: ID! note: String! }`;

export async function eventsInTime(tools: BenchTools): Promise<Figure> {
  const source = await serve(tools, (_request, response) => void emitAll(response));
  const joined = await serve(tools, (request, response) => void join(request, response));
  const { supergraphSdl } = composeServices([
    { name: 'source', url: `${source}/graphql`, typeDefs: parse(SOURCE) },
    { name: 'joined', url: `${joined}/graphql`, typeDefs: parse(JOINED) },
  ]);
  const gateway = await startKilnOver(tools, {
    supergraph: supergraphSdl ?? '',
    config: 'subgraphs:\n  source:\n    subscriptions: { protocol: sse }\n',
    query: '{ __typename }',
  });
  const late = await listenTo(gateway.url);
  await gateway.stop();
  const worst = Math.max(...late);
  tools.say(`${late.length} events, the latest after ${worst.toFixed(0)} ms`);
  return {
    what: `${PER_SECOND} events a second, each with a join of ${JOIN_MS} ms, for ${SECONDS} s`,
    ours: `${late.length} events in order; late by ${median(late).toFixed(0)} ms, at most ${worst.toFixed(0)} ms`,
    baseline: '',
    ratio: { value: 1_000 / worst, target: 1 },
    note: 'from the source to the subscriber; target: within a second',
  };
}

/** Serves until the bench is over. */
async function serve({ lifecycle }: BenchTools, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  lifecycle.add('subgraph', async () => server.close().closeAllConnections());
  return (await listenOn(server, '127.0.0.1', 0)).url;
}

/** Sends all events over server-sent events, evenly. */
async function emitAll(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const startedAt = performance.now();
  let sent = 0;
  while (sent < PER_SECOND * SECONDS) {
    const due = Math.min(PER_SECOND * SECONDS, ((performance.now() - startedAt) * PER_SECOND) / 1_000);
    for (; sent < due; sent += 1) {
      const item = { __typename: 'Item', id: String(sent), sentAt: performance.now() };
      response.write(`event: next\ndata: ${JSON.stringify({ data: { items: item } })}\n\n`);
    }
    await pause(TICK_MS);
  }
  response.end('event: complete\ndata:\n\n');
}

async function join(request: Parameters<typeof text>[0], response: ServerResponse): Promise<void> {
  const { variables } = JSON.parse(await text(request)) as {
    readonly variables: { readonly representations: readonly { readonly id: string }[] };
  };
  await pause(JOIN_MS);
  const _entities = variables.representations.map(({ id }) => ({ note: `note on ${id}` }));
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { _entities } }));
}

interface Next {
  readonly type: string;
  readonly payload?: {
    readonly data?: {
      readonly items: { readonly id: string; readonly sentAt: number; readonly note: string };
    };
  };
}

/** How late each event came, in milliseconds; all of them, and in order. */
function listenTo(url: string): Promise<readonly number[]> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  const late: number[] = [];
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => reject(new Error(`after ${late.length} events: ${why}`));
    socket.on('error', reject);
    socket.on('close', (code) =>
      late.length === PER_SECOND * SECONDS ? resolve(late) : failed(String(code)),
    );
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString()) as Next;
      if (type === 'ping') socket.send('{"type":"pong"}');
      if (type === 'connection_ack') {
        const query = 'subscription { items { id sentAt note } }';
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
      }
      if (type === 'complete') socket.close();
      if (type !== 'next') return;
      const item = payload?.data?.items;
      if (item?.id !== String(late.length) || item.note !== `note on ${item.id}`)
        return failed(data.toString().slice(0, 300));
      late.push(performance.now() - item.sentAt);
    });
  });
}
