import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of webhooks on a real socket; tests say how it answers. */
export interface Receiver {
  readonly url: string;
  /** `host:port`, for OUTBOUND_ALLOW. */
  readonly host: string;
  /** What came, in order. */
  readonly received: Received[];
  /** Answers a request; the default is 204. */
  onRequest: (response: ServerResponse, count: number) => void;
  close(): Promise<void>;
}

interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts it, at a free port or at one that was its own before. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const server = createServer((request, response) => void receive(receiver, request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    url: `http://${host}/hook`,
    host,
    received: [],
    onRequest: (response) => void response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

async function receive(
  receiver: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { url: path = '', method = '', headers } = request;
  receiver.received.push({ path, method, headers, body: Buffer.concat(chunks).toString() });
  receiver.onRequest(response, receiver.received.length);
}
