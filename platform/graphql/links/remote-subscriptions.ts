import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { FormattedExecutionResult, SubscribePayload } from 'graphql-ws';

import { AppError, toError } from '../../errors.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { isUnreachable, type TlsFiles } from '../../http/endpoints/failover.ts';
import { isObject } from '../../json.ts';
import type { Logger } from '../../process/logger.ts';
import { CALLER_EXTENSION, type CallerSigner, operationHash } from '../assertions/caller-assertion.ts';
import { codedError } from '../operations/errors.ts';
import type { RequestContext, ResultStream } from '../operations/executor.ts';
import { createPushStream } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { createSocketClients, type SocketClients, type SocketCredentials } from './socket-clients.ts';

/** The WebSocket side of a remote link: a few connections to each process for all subscriptions there, open while there are any. */
export interface RemoteSubscriptions {
  subscribe(request: SubgraphRequest): Promise<ResultStream>;
  close(): Promise<void>;
}

export interface RemoteSubscriptionsOptions {
  readonly name: string;
  /** The processes of the subgraph, which serve graphql-ws at the path of its GraphQL. */
  readonly endpoints: Endpoints;
  /** Makes a caller assertion for each subscription; absent for a foreign subgraph. */
  readonly sign: CallerSigner | undefined;
  /** What is sent in a caller's name when connecting, over a connection of its own; undefined: nothing. */
  readonly credentialsFor: (context: RequestContext) => SocketCredentials | undefined;
  /** Certificates (default: those of the system). */
  readonly tls?: TlsFiles | undefined;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  readonly logger: Logger;
}

/** Most buffered events of one subscription; one more ends it. */
const MAX_PENDING_EVENTS = 1_000;
/** Least milliseconds between two lines of the log about lost connections. */
const LOG_PAUSE_MS = 30_000;
/**
 * Makes the subscriptions of a remote link. A lost connection is one last result with code UNAVAILABLE, then the end:
 * subscribers resume from the last event they saw, so nothing is retried here.
 */
export function createRemoteSubscriptions(options: RemoteSubscriptionsOptions): RemoteSubscriptions {
  const { name, endpoints, sign, credentialsFor, logger } = options;
  const clients = createSocketClients(options);
  let loggedAt = -LOG_PAUSE_MS;
  const failed = (thrown: unknown): ExecutionResult => {
    if (isErrorList(thrown)) return { errors: thrown.map(revivedError) };
    const error = connectionError(thrown);
    // One line for all that were on it: there may be thousands.
    const now = performance.now();
    if (now - loggedAt > LOG_PAUSE_MS) {
      logger.warn({ subgraph: name, error }, 'subscriptions lost the connection to their subgraph');
      loggedAt = now;
    }
    return { errors: [codedError('UNAVAILABLE', `subgraph ${JSON.stringify(name)} is gone`)] };
  };

  return {
    async subscribe({ query, operationName, variables, context }) {
      const body = operationHash({ query, operationName, variables });
      const asserted = await sign?.(context.caller, { method: 'SUBSCRIBE', path: endpoints.path, body });
      const extensions = asserted === undefined ? {} : { [CALLER_EXTENSION]: asserted };
      const payload = {
        query,
        variables: { ...variables },
        operationName: operationName ?? null,
        extensions,
      };
      const credentials = credentialsFor(context);
      let leave = () => {};
      const leaveEarly = () => void events.stream.return();
      const events = createPushStream<ExecutionResult>({
        maxPending: MAX_PENDING_EVENTS,
        overflow: () => ({ errors: [codedError('UNAVAILABLE', 'this reader is too slow')] }),
        onEnd() {
          context.signal.removeEventListener('abort', leaveEarly);
          leave();
        },
      });
      askOne(
        { endpoints, clients, payload, credentials },
        {
          next: (result) => events.push(sign === undefined ? toEvent(result) : parsedResult(result)),
          failed: (thrown) => events.end(failed(thrown)),
          complete: () => events.end(),
          asked: (end) => (leave = end),
        },
      );
      if (context.signal.aborted) leaveEarly();
      else context.signal.addEventListener('abort', leaveEarly, { once: true });
      return events.stream;
    },
    close: () => clients.close(),
  };
}

interface Question {
  readonly endpoints: Endpoints;
  readonly clients: SocketClients;
  readonly payload: SubscribePayload;
  readonly credentials: SocketCredentials | undefined;
}

interface Reader {
  readonly next: (result: FormattedExecutionResult) => void;
  readonly failed: (thrown: unknown) => void;
  readonly complete: () => void;
  /** Gets what ends the subscription. */
  readonly asked: (end: () => void) => void;
}

/** Subscribes at one process; at the next one when no connection came about, because then nothing was asked. */
function askOne(question: Question, reader: Reader, tried: ReadonlySet<Endpoint> = new Set()): void {
  const { endpoints, clients, payload, credentials } = question;
  const endpoint = endpoints.next(tried);
  if (endpoint === undefined) return reader.failed(new Error('nobody answers'));
  const { client, connections, dispose } = clients.to(endpoint, credentials);
  const before = connections();
  let hasLeft = false;
  const end = client.subscribe(payload, {
    next(result) {
      try {
        reader.next(result as FormattedExecutionResult);
      } catch (thrown) {
        // Thrown further it would close the connection for all that share it.
        reader.failed(thrown);
      }
    },
    error(thrown) {
      dispose();
      const wasAsked = isErrorList(thrown) || before.isOpen || connections().made > before.made;
      if (wasAsked) return reader.failed(thrown);
      endpoints.failed(endpoint, { unreachable: isUnreachable(connectionError(thrown)) });
      if (hasLeft) return;
      const all = new Set([...tried, endpoint]);
      if (endpoints.next(all) === undefined) reader.failed(thrown);
      else askOne(question, reader, all);
    },
    complete() {
      dispose();
      reader.complete();
    },
  });
  reader.asked(() => {
    hasLeft = true;
    end();
    dispose();
  });
}

/**
 * Of a foreign subgraph every `next` is an event, also one that leaves out `data`: its streams end by `error`. Kiln's own
 * of the version before say an end in a last `next` without data.
 */
function toEvent(result: FormattedExecutionResult): ExecutionResult {
  const { data = null, ...rest } = parsedResult(result);
  return { ...rest, data };
}

/**
 * A result from the wire, its errors as GraphQLErrors. Some servers say `errors: null` where there are none. Throws UNAVAILABLE at
 * what are no errors.
 */
export function parsedResult(result: FormattedExecutionResult): ExecutionResult {
  const { errors, ...rest } = result;
  if (!errors) return rest as ExecutionResult;
  if (!isErrorList(errors)) throw new AppError('UNAVAILABLE', 'its errors are no list of errors');
  return { ...rest, errors: errors.map(revivedError) } as ExecutionResult;
}

function revivedError({ message, path, extensions }: GraphQLFormattedError): GraphQLError {
  return new GraphQLError(message, { path: path ?? null, extensions: extensions ?? {} });
}

function isErrorList(thrown: unknown): thrown is readonly GraphQLFormattedError[] {
  return Array.isArray(thrown) && thrown.every(isObject);
}

// graphql-ws passes the browser's event objects, which print nothing useful.
function connectionError(thrown: unknown): Error {
  if (typeof thrown !== 'object' || thrown === null) return toError(thrown);
  if ('error' in thrown) return toError(thrown.error);
  if ('code' in thrown) return new Error(`the connection was closed with code ${String(thrown.code)}`);
  return toError(thrown);
}
