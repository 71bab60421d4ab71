import { StringDecoder } from 'node:string_decoder';

import { createParser } from 'eventsource-parser';
import type { ExecutionResult } from 'graphql';
import type { FormattedExecutionResult } from 'graphql-ws';

import { toError } from '../../errors.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { createPools, type Pools, sendToOne, type TlsFiles } from '../../http/endpoints/failover.ts';
import { parseJson } from '../../json.ts';
import type { Logger } from '../../process/logger.ts';
import { codedError } from '../operations/errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { createPushStream } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { parsedResult, type RemoteSubscriptions } from './remote-subscriptions.ts';

/** How events come over HTTP. */
export type StreamProtocol = 'sse' | 'multipart';

export interface StreamSubscriptionsOptions {
  readonly name: string;
  readonly endpoints: Endpoints;
  readonly protocol: StreamProtocol;
  readonly headersFor: (context: RequestContext) => Readonly<Record<string, string>>;
  /** Milliseconds until the subgraph must have accepted. */
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  readonly tls?: TlsFiles | undefined;
  readonly logger: Logger;
}

const ACCEPT = {
  sse: 'text/event-stream',
  multipart: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0, application/json',
};
/** Most buffered events of one subscription; one more ends it. */
const MAX_PENDING_EVENTS = 1_000;

/** Subscriptions of a foreign subgraph over server-sent events or multipart: a request of its own for each. */
export function createStreamSubscriptions(options: StreamSubscriptionsOptions): RemoteSubscriptions {
  const { name, endpoints, timeoutMs, tls, logger } = options;
  const pools = createPools(endpoints, {
    headersTimeout: timeoutMs,
    // A subscription may be silent for as long as it likes.
    bodyTimeout: 0,
    connectTimeout: timeoutMs,
    connect: tls,
  });
  const gone = (thrown: unknown): ExecutionResult => {
    logger.warn({ subgraph: name, error: toError(thrown) }, 'a subscription lost its subgraph');
    return { errors: [codedError('UNAVAILABLE', `subgraph ${JSON.stringify(name)} is gone`)] };
  };
  return {
    async subscribe(request) {
      const { signal } = request.context;
      const left = new AbortController();
      const leave = (): void => left.abort();
      const events = createPushStream<ExecutionResult>({
        maxPending: MAX_PENDING_EVENTS,
        overflow: () => ({ errors: [codedError('UNAVAILABLE', 'this reader is too slow')] }),
        onEnd() {
          signal.removeEventListener('abort', leaveEarly);
          leave();
        },
      });
      const leaveEarly = (): void => void events.stream.return();
      const sink: EventSink = {
        // Every `next` is an event, also one that leaves out `data`.
        next: (result) => events.push({ data: null, ...parsedResult(result) }),
        end: (errors) => events.end(errors === undefined ? undefined : parsedResult({ errors })),
      };
      follow(request, { options, pools, sink, signal: left.signal }).then(
        () => {
          // One that has ended, also by a refusal, broke off nowhere.
          if (!left.signal.aborted) events.end(gone(new Error('the stream broke off')));
        },
        (thrown: unknown) => events.end(left.signal.aborted ? undefined : gone(thrown)),
      );
      if (signal.aborted) leaveEarly();
      else signal.addEventListener('abort', leaveEarly, { once: true });
      return events.stream;
    },
    close: () => pools.close(),
  };
}

interface Followed {
  readonly options: StreamSubscriptionsOptions;
  readonly pools: Pools;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
}

/** Reads a subscription to its end. */
async function follow(
  { query, operationName, variables, context }: SubgraphRequest,
  { options, pools, sink, signal }: Followed,
): Promise<void> {
  const { endpoints, protocol, headersFor } = options;
  const request = {
    method: 'POST',
    path: endpoints.path,
    signal,
    headers: { 'content-type': 'application/json', accept: ACCEPT[protocol], ...headersFor(context) },
    body: JSON.stringify({ query, operationName, variables }),
  } as const;
  const send = (endpoint: Endpoint) => pools.of(endpoint).request(request);
  const { headers, body } = await sendToOne({ endpoints, signal, again: 'unsent', send });
  const decoder = new StringDecoder('utf8');
  const read = createReader(String(headers['content-type'] ?? ''), options, sink);
  if (read !== null) {
    for await (const chunk of body) read(decoder.write(chunk as Buffer));
    return;
  }
  let text = '';
  for await (const chunk of body) {
    text += decoder.write(chunk as Buffer);
    if (text.length > options.maxMessageBytes) throw new Error('the answer is too large');
  }
  const { errors } = Object(parseJson(text)) as Partial<FormattedExecutionResult>;
  if (!Array.isArray(errors)) throw new Error('the answer is no stream of events');
  sink.end(errors);
}

/** What reads a stream of this type; null where it is none. */
function createReader(
  type: string,
  { maxMessageBytes }: StreamSubscriptionsOptions,
  sink: EventSink,
): ReadPart | null {
  if (type.startsWith('text/event-stream')) return readServerSentEvents(sink, maxMessageBytes);
  if (!type.startsWith('multipart/mixed')) return null;
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1] ?? '-';
  return readMultipart(sink, boundary, maxMessageBytes);
}

/** Readers of the two ways in which events of a subscription come over HTTP. */

/** What is read of a stream. */
interface EventSink {
  readonly next: (result: FormattedExecutionResult) => void;
  /** The subscription is over; with errors it has failed. */
  readonly end: (errors?: FormattedExecutionResult['errors']) => void;
}

/** Takes the text of a stream piece by piece. Throws when one event has more characters than `maxLength`. */
type ReadPart = (text: string) => void;

/** Server-sent events of graphql-sse: `next` with a result, then `complete`. */
function readServerSentEvents({ next, end }: EventSink, maxLength: number): ReadPart {
  let unread = 0;
  let isRead = false;
  const parser = createParser({
    onEvent({ event, data }) {
      isRead = true;
      if (event === 'complete') return end();
      const result = parseJson(data) as FormattedExecutionResult | null | undefined;
      if (typeof result !== 'object' || result === null) return;
      if (event === 'error') return end(result.errors ?? (Array.isArray(result) ? result : []));
      next(result);
    },
    onComment: () => void (isRead = true),
  });
  return (text) => {
    isRead = false;
    parser.feed(text);
    unread = isRead ? text.length : unread + text.length;
    if (unread > maxLength) throw new Error('an event of the subgraph is too large');
  };
}

/** Apollo's multipart subscriptions: parts with `{ payload }`, `{}` in between to stay awake. */
function readMultipart({ next, end }: EventSink, boundary: string, maxLength: number): ReadPart {
  // Only at the start of a line: strings in JSON hold no raw line break, so that no event's text can contain it.
  const delimiter = `\n--${boundary}`;
  let rest = '\n';
  const readOne = (part: string): void => {
    const at = part.indexOf('\r\n\r\n');
    const said = parseJson(at < 0 ? part : part.slice(at + 4)) as
      | {
          readonly payload?: FormattedExecutionResult | null;
          readonly errors?: FormattedExecutionResult['errors'] | null;
        }
      | undefined;
    if (said?.errors) return end(said.errors);
    if (said?.payload !== undefined && said.payload !== null) next(said.payload);
  };
  return (text) => {
    rest += text;
    for (let at = rest.indexOf(delimiter); at >= 0; at = rest.indexOf(delimiter)) {
      // What is behind tells whether it is the last.
      if (rest.length < at + delimiter.length + 2) break;
      const part = rest.slice(0, at);
      const isLast = rest.startsWith('--', at + delimiter.length);
      rest = rest.slice(at + delimiter.length);
      if (part.trim() !== '') readOne(part);
      if (isLast) return end();
    }
    if (rest.length > maxLength) throw new Error('an event of the subgraph is too large');
  };
}
