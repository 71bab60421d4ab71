import { randomUUID } from 'node:crypto';

import sharp from 'sharp';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

import { once } from '../../../platform/once.ts';
import type { WireUpgrade } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { Job } from '../../jobs/job.ts';
import { createNarrator } from './narrator.ts';
import type { Message } from './narrator.ts';

/**
 * The machine's WebSocket. Messages of a prompt go only to the client that started it, except an interruption. A client
 * that reconnects replaces its old socket and gets only the current node.
 */
export interface Sockets {
  accept(upgrade: WireUpgrade): void;
  /** Closes all connections. */
  cutOff(): void;
}

const MAX_PAYLOAD = 1 << 20;

/** Creates the sockets of one machine. */
export function createSockets(runner: JobRunner): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD });
  const clients = new Map<string, WebSocket>();
  const narrator = createNarrator(runner);
  const status = (sid?: string): Message => {
    const remaining = runner.list().filter((job) => !hasEnded(job)).length;
    const data = { status: { exec_info: { queue_remaining: remaining } } };
    return { type: 'status', data: sid === undefined ? data : { ...data, sid } };
  };
  runner.onChange((job) => {
    const own = clients.get(readClientId(job));
    for (const message of narrator.tell(job)) {
      if (message.isForAll === true) for (const socket of clients.values()) send(socket, message);
      else if (own !== undefined) send(own, message);
    }
    if (own !== undefined && narrator.isSampling(job)) void preview().then((frame) => own.send(frame));
    for (const socket of clients.values()) send(socket, status());
  });
  const welcome = (socket: WebSocket, client: string) => {
    clients.get(client)?.terminate();
    clients.set(client, socket);
    socket.on('error', () => socket.terminate()); // the connection broke
    socket.on('close', () => {
      if (clients.get(client) === socket) clients.delete(client);
    });
    socket.on('message', (data: Buffer) => {
      if (data.toString('utf8').includes('"feature_flags"')) send(socket, FEATURES);
    });
    send(socket, status(client));
    const running = runner.list().find((job) => job.state === 'running' && readClientId(job) === client);
    if (running !== undefined) send(socket, narrator.now(running));
  };
  return {
    accept({ query, request, socket, head }) {
      const client = query.get('clientId') ?? randomUUID().replaceAll('-', '');
      server.handleUpgrade(request, socket, head, (accepted) => welcome(accepted, client));
    },
    cutOff() {
      for (const socket of clients.values()) socket.terminate();
    },
  };
}

const FEATURES: Message = {
  type: 'feature_flags',
  data: { supports_preview_metadata: true, max_upload_size: 104_857_600 },
};

function send(socket: WebSocket, { type, data }: Message): void {
  socket.send(JSON.stringify({ type, data }));
}

/** A preview as a server sends it with `--preview-method`: its kind (1), its format (1: JPEG), the picture. */
const preview = once(async () => {
  const background = { r: 120, g: 110, b: 140 };
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .jpeg()
    .toBuffer();
  return Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), picture]);
});

function readClientId({ input }: Job): string {
  return typeof input['clientId'] === 'string' ? input['clientId'] : '';
}
