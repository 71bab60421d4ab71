import type { Readable } from 'node:stream';

import { createParser } from 'eventsource-parser';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext } from '../contract/provider.ts';
import { toHttpRequest, transportError, type ExchangeAnswer, type ExchangeRequest } from './exchange.ts';

/** Server-sent events of an upstream, for streamed answers. */

interface EventStreamRequest extends ExchangeRequest {
  /** Called with a status of 400 or above, or an answer that is no event stream; throws the vendor's error. */
  readonly onRefusal: (answer: ExchangeAnswer) => void;
  /** Called with the answer of an upstream that does not stream, which is then the whole; absent: that is an error. */
  readonly onWhole?: (answer: ExchangeAnswer) => void;
  /** Longest single event in characters (default 8 million). */
  readonly maxEvent?: number;
}

/** Opens a stream of server-sent events and yields the data of each. */
export type EventStream = (context: CallContext, request: EventStreamRequest) => AsyncGenerator<string>;

/** Most bytes of an error body that are read. */
const MAX_REFUSAL = 1 << 20;
/** Longest single event, in characters. */
const MAX_EVENT = 8 << 20;

/**
 * Creates the reader of event streams: yields the `data` of each event. `timeoutMs` is the longest pause, also before
 * the first byte. Throws UpstreamError; leaving the loop early closes the connection.
 */
export function createEventStream(http: HttpClient): EventStream {
  return async function* events(context, request) {
    const sent = toHttpRequest(context, request);
    const headers = { ...sent.headers, accept: 'text/event-stream' };
    const answer = await http.download({ ...sent, headers }).catch((error: unknown) => {
      throw transportError(error);
    });
    try {
      const isStream = answer.headers['content-type']?.includes('text/event-stream') ?? false;
      if (answer.status >= 400 || !isStream) {
        const isWhole = answer.status < 300 && request.onWhole !== undefined;
        const json = await readJson(answer.body, isWhole ? Infinity : MAX_REFUSAL);
        const found = { status: answer.status, headers: answer.headers, json };
        if (isWhole && json !== undefined) {
          request.onWhole?.(found);
          return;
        }
        request.onRefusal(found);
        throw new UpstreamError('UNAVAILABLE', 'the provider answered with something that is no stream', {
          startUnknown: true,
        });
      }
      yield* readData(answer.body, request.maxEvent ?? MAX_EVENT);
    } catch (error) {
      throw error instanceof UpstreamError ? error : brokenOff(error);
    } finally {
      answer.body.destroy();
    }
  };
}

/** The answer had begun, so that the work may have been done. */
function brokenOff(error: unknown): UpstreamError {
  const { code, message, cause } = transportError(error);
  return new UpstreamError(code, message, { startUnknown: true, cause });
}

async function readJson(body: Readable, most: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined; // an error page: the status suffices
  }
}

/** The data of each complete event. */
async function* readData(body: Readable, maxEvent: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const events: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type }) => {
      // The other errors are of single lines, which the standard says to skip.
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  for await (const chunk of body as AsyncIterable<Buffer>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
    if (isTooLong) throw new UpstreamError('UNAVAILABLE', 'the provider sent an event that is too long');
  }
}
