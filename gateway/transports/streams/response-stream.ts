import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import { type Caller, createClientKey } from '../../../platform/access/caller.ts';
import { toError } from '../../../platform/errors.ts';
import type {
  ResponseStream,
  ResultStream,
  StreamFormat,
  StreamPermit,
} from '../../../platform/graphql/operations/executor.ts';
import { whenClosed } from '../../../platform/http/server.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { CredentialGuard } from '../../authentication/credential-guard.ts';
import type { Slots } from '../../limits/slots.ts';

/** The open streams (SSE, multipart) of this process, in one registry that counts, bounds and ends them. */
export interface ResponseStreams {
  /** Number of streams that are reserved or open. */
  readonly size: number;
  /** Reserves a stream for a response; null when its caller, or this process, has too many. */
  reserve(response: ServerResponse, requester: StreamRequester): StreamPermit | null;
  /** Ends every stream, each with its format's `shutdown`; new ones are refused from now on. */
  endAll(): void;
}

interface StreamRequester {
  readonly request: IncomingMessage;
  readonly caller: Caller;
}

/** Bounds of the streams of this process. */
export interface ResponseStreamOptions {
  /** Milliseconds after which a client that does not read is disconnected (default 30,000). */
  readonly stallMs?: number;
  /** Most open streams of this process (default 10,000). */
  readonly maxStreams?: number | undefined;
  readonly guard: CredentialGuard;
  /** Bounds the open streams of a client. */
  readonly slots: Slots;
  readonly logger: Logger;
}

const HEARTBEAT_MS = 5_000;
/** Milliseconds for a client whose credential has ended to read the last message. */
const CREDENTIAL_END_MS = 5_000;

/** Makes the registry of this process's streams. */
export function createResponseStreams(options: ResponseStreamOptions): ResponseStreams {
  const { stallMs = 30_000, maxStreams = 10_000, guard, slots, logger } = options;
  /** What ends each stream; null while it is only reserved. */
  const streams = new Map<ServerResponse, (() => string) | null>();
  let isEnding = false;

  function open(response: ServerResponse, format: StreamFormat, requester: StreamRequester): ResponseStream {
    if (!response.closed) {
      response.writeHead(200, format.headers);
      response.write(format.opening);
      const heartbeat = setInterval(() => {
        if (!response.writableNeedDrain && !response.writableEnded) response.write(format.heartbeat);
      }, HEARTBEAT_MS);
      const unwatch = guard.watch(requester, () => endWithCredential(response, format));
      streams.set(response, format.shutdown);
      response.once('close', () => {
        clearInterval(heartbeat);
        unwatch();
      });
    }
    return {
      end(text) {
        if (!response.writableEnded) response.end(text);
      },
      onClose: (listener) => whenClosed(response, listener),
      async send(text) {
        if (response.writableEnded || response.destroyed) return false;
        if (response.write(text)) return true;
        const outcome = await waitForDrain(response, stallMs);
        if (outcome === 'stalled') {
          logger.warn({ stallMs }, 'disconnected a client that does not read its stream');
          response.destroy();
        }
        return outcome === 'drained';
      },
    };
  }

  return {
    get size() {
      return streams.size;
    },
    reserve(response, requester) {
      if (isEnding || streams.size >= maxStreams || response.destroyed) return null;
      const slot = slots.take(createClientKey(requester.caller));
      if (slot === null) return null;
      streams.set(response, null);
      whenClosed(response, () => {
        slot.release();
        streams.delete(response);
      });
      return { open: (format) => open(response, format, requester) };
    },
    endAll() {
      isEnding = true;
      for (const [response, shutdown] of streams) {
        if (shutdown !== null) response.end(shutdown());
      }
    },
  };
}

function endWithCredential(response: ServerResponse, { credentialEnd }: StreamFormat): void {
  if (response.writableEnded) return;
  response.end(credentialEnd);
  setTimeout(() => response.destroy(), CREDENTIAL_END_MS).unref();
}

/**
 * Sends the results of a source in order, one at a time: the next is requested when the client has read the last. Ends
 * the source when the stream closes. True when the source completed.
 */
export async function pumpResults(options: {
  readonly results: ResultStream;
  readonly stream: ResponseStream;
  readonly print: (result: ExecutionResult) => string;
  readonly onError: (error: Error) => string;
}): Promise<boolean> {
  const { results, stream, print, onError } = options;
  let isOpen = true;
  stream.onClose(() => {
    isOpen = false;
    // The pending next() reports a failure.
    results.return?.().catch(() => undefined);
  });
  try {
    for await (const result of results) {
      if (!(await stream.send(print(result)))) return false;
    }
    return isOpen;
  } catch (error) {
    if (isOpen) stream.end(onError(toError(error)));
    return false;
  }
}

async function waitForDrain(
  response: ServerResponse,
  stallMs: number,
): Promise<'drained' | 'closed' | 'stalled'> {
  return new Promise((resolve) => {
    const settle = (outcome: 'drained' | 'closed' | 'stalled') => () => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(outcome);
    };
    const onDrain = settle('drained');
    const onClose = settle('closed');
    const timer = setTimeout(settle('stalled'), stallMs);
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}
