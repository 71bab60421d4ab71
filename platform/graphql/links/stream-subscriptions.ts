import { StringDecoder } from 'node:string_decoder';

import type { ExecutionResult } from 'graphql';
import type { FormattedExecutionResult } from 'graphql-ws';
import { Agent, request as send } from 'undici';

import { toError } from '../../errors.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import type { TlsFiles } from '../../http/endpoints/failover.ts';
import { parseJson } from '../../json.ts';
import type { Logger } from '../../process/logger.ts';
import { codedError } from '../operations/errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { createPushStream } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { type EventSink, readMultipart, type ReadPart, readServerSentEvents } from './event-parts.ts';
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
  const { name, timeoutMs, tls, logger } = options;
  const agent = new Agent({
    headersTimeout: timeoutMs,
    // A subscription may be silent for as long as it likes.
    bodyTimeout: 0,
    connect: { timeout: timeoutMs, ...tls },
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
      follow(request, { options, agent, sink, signal: left.signal }).then(
        () => events.end(gone(new Error('the stream broke off'))),
        (thrown: unknown) => events.end(left.signal.aborted ? undefined : gone(thrown)),
      );
      if (signal.aborted) leaveEarly();
      else signal.addEventListener('abort', leaveEarly, { once: true });
      return events.stream;
    },
    close: () => agent.destroy(),
  };
}

interface Followed {
  readonly options: StreamSubscriptionsOptions;
  readonly agent: Agent;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
}

/** Reads a subscription to its end. */
async function follow(
  { query, operationName, variables, context }: SubgraphRequest,
  { options, agent, sink, signal }: Followed,
): Promise<void> {
  const { endpoints, protocol, headersFor } = options;
  const endpoint = endpoints.next();
  if (endpoint === undefined) throw new Error('there is nobody to ask');
  const { headers, body } = await send(endpoint.origin + endpoints.path, {
    method: 'POST',
    dispatcher: agent,
    signal,
    headers: { 'content-type': 'application/json', accept: ACCEPT[protocol], ...headersFor(context) },
    body: JSON.stringify({ query, operationName, variables }),
  });
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
