import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { AppError } from '../../errors.ts';
import type { Tracer } from '../../tracing/span.ts';
import { CALLER_HEADER, requireBody } from '../assertions/caller-assertion.ts';
import { createAnswerer, type AnsweringSubgraph } from './answer.ts';
import {
  answerFrames,
  createBatchSigner,
  createFrameReader,
  LEAVING,
  MAX_BATCH_BYTES,
  type OutgoingAnswer,
  readBatch,
  CHANNEL_METHOD,
  CHANNEL_PATH,
  CHANNEL_PROTOCOL,
  connectionKey,
  newNonce,
  NONCE_HEADER,
  batchShape,
} from './protocol.ts';

/** The answering side of channels. */
export type ChannelServer = ReturnType<typeof createChannelServer>;

export interface ChannelServerOptions {
  readonly entryPoint: AnsweringSubgraph;
  readonly internalKey: string;
  readonly tracer: Tracer;
}

/** Most requests of one connection at a time; more are read when some are answered. */
const MAX_RUNNING = 1_024;

/** Makes the answering side of one subgraph. */
export function createChannelServer(options: ChannelServerOptions) {
  const { entryPoint, internalKey } = options;
  const open = new Set<{ leave(): void; destroy(): void }>();
  return {
    /** Whether an upgrade is for a channel. */
    isFor: ({ headers, url }: IncomingMessage) =>
      headers.upgrade === CHANNEL_PROTOCOL && url === CHANNEL_PATH,
    /** Opens a channel for another process of Kiln; anybody else is refused. Never rejects. */
    async accept({ headers }: IncomingMessage, socket: Duplex): Promise<void> {
      socket.on('error', () => void socket.destroy());
      const asking = headers[NONCE_HEADER];
      try {
        const target = { method: CHANNEL_METHOD, path: CHANNEL_PATH };
        requireBody(await entryPoint.verify(headers[CALLER_HEADER], target), String(asking));
      } catch (thrown) {
        if (!(thrown instanceof AppError)) entryPoint.logger.error({ error: thrown }, 'a channel failed');
        const head = 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
        // An end alone leaves it half open until the other side closes it, which holds up a stop.
        socket.end(head, () => socket.destroy());
        return;
      }
      const answering = newNonce();
      const facts = { audience: entryPoint.name, asking: String(asking), answering };
      const head = [
        'HTTP/1.1 101 Switching Protocols',
        'Connection: Upgrade',
        `Upgrade: ${CHANNEL_PROTOCOL}`,
        `${NONCE_HEADER}: ${answering}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      const connection = serve(socket, { ...options, key: connectionKey(internalKey, facts) });
      open.add(connection);
      socket.once('close', () => void open.delete(connection));
    },
    /** Says that no more is wanted; each connection ends with its last answer. */
    leave(): void {
      for (const connection of open) connection.leave();
    },
    /** Ends every connection now. */
    destroy(): void {
      for (const connection of open) connection.destroy();
    },
  };
}

/** The messages of a batch. Throws when it is not signed with the connection's key. */
function readMessages(frame: Buffer, signer: ReturnType<typeof createBatchSigner>) {
  const { mac, payload } = readBatch(frame);
  const expected = signer.next(payload);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected))
    throw new Error('not signed by Kiln');
  return batchShape.parse(JSON.parse(payload.toString()));
}

interface ConnectionOptions extends ChannelServerOptions {
  /** Of this connection alone. */
  readonly key: Parameters<typeof createBatchSigner>[0];
}

function serve(socket: Duplex, { entryPoint, tracer, key }: ConnectionOptions) {
  const signer = createBatchSigner(key);
  const read = createFrameReader(MAX_BATCH_BYTES);
  let outgoing: OutgoingAnswer[] = [];
  let hasEnded = false;
  const running = new Map<number, AbortController>();
  const answer = createAnswerer(entryPoint, tracer);

  const send = (one: OutgoingAnswer): void => {
    if (outgoing.length === 0) setImmediate(flush);
    outgoing.push(one);
  };
  // What is ready in one turn leaves together, and wakes the other side once.
  const flush = (): void => {
    const frames = answerFrames(outgoing);
    outgoing = [];
    if (socket.writable && !socket.write(frames)) socket.pause();
    else readOn();
    endWhenDone();
  };
  const readOn = (): void => {
    if (running.size < MAX_RUNNING && !socket.writableNeedDrain) socket.resume();
  };
  const endWhenDone = (): void => {
    if (hasEnded && running.size === 0 && outgoing.length === 0) socket.end();
  };
  const ask = async (id: number, work: (signal: AbortSignal) => Promise<string>): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    const text = await work(controller.signal);
    running.delete(id);
    if (!controller.signal.aborted) return send({ id, text });
    readOn();
    endWhenDone();
  };
  const receive = (frame: Buffer): void => {
    for (const message of readMessages(frame, signer)) {
      if ('leave' in message) running.get(message.leave)?.abort();
      else void ask(message.ask, answer(message));
    }
    if (running.size >= MAX_RUNNING) socket.pause();
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const frame of read(chunk)) receive(frame);
    } catch (thrown) {
      entryPoint.logger.warn({ error: thrown }, 'a channel was closed: what came over it is not understood');
      socket.destroy();
    }
  });
  socket.on('drain', readOn);
  socket.on('end', () => {
    hasEnded = true;
    endWhenDone();
  });
  socket.on('close', () => {
    for (const controller of running.values()) controller.abort();
  });
  return { leave: () => send({ id: LEAVING, text: '' }), destroy: () => void socket.destroy() };
}
