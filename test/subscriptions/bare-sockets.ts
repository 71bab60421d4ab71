import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { WebSocket } from 'ws';

/** Subscribers of whom the test holds the bare sockets, to let them vanish without a word. */

export interface Subscription {
  readonly query: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Subscribes over graphql-ws. */
export async function overWebSocket(url: string, payload: Subscription): Promise<Socket> {
  const client = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  client.on('error', () => undefined);
  let socket: Socket | undefined;
  client.on('upgrade', (response) => (socket = response.socket));
  await once(client, 'open');
  client.send('{"type":"connection_init"}');
  await once(client, 'message');
  client.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
  if (socket === undefined) throw new Error('an open WebSocket has no socket');
  return socket;
}

/** Subscribes over server-sent events, and waits for the head of the answer. */
export async function overEvents(url: string, payload: Subscription): Promise<Socket> {
  const { socket } = sendRequest(url, payload);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(`refused: ${head.toString()}`);
  return socket;
}

/** The same, not waiting for an answer; `written` resolves when the request has left. */
export function sendRequest(
  url: string,
  payload: Subscription,
): { readonly socket: Socket; readonly written: Promise<void> } {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const body = JSON.stringify(payload);
  const head = [
    'POST /graphql HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    'Accept: text/event-stream',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const { promise: written, resolve } = Promise.withResolvers<void>();
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => resolve());
  return { socket, written };
}
