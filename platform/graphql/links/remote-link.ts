import type { ExecutionResult } from 'graphql';
import type { FormattedExecutionResult } from 'graphql-ws';
import { Agent, request } from 'undici';

import { internalCaller } from '../../access/caller.ts';
import { AppError } from '../../errors.ts';
import type { Endpoint } from '../../http/endpoints/endpoint.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import type { TlsFiles } from '../../http/endpoints/failover.ts';
import type { AnswerHeaders } from '../../http/endpoints/post-text.ts';
import { newTraceId } from '../../ids.ts';
import { parseJson } from '../../json.ts';
import type { Logger } from '../../process/logger.ts';
import { activeTraceparent } from '../../tracing/span.ts';
import { failedResult } from '../operations/errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { isEndOfStream, mapStream } from '../operations/streams.ts';
import type { SubgraphLink, SubgraphRequest } from '../operations/subgraph.ts';
import { REQUEST_BYTES_HEADER, requestBytesOf } from '../uploads/request-bytes.ts';
import { extractUploads, multipartRequest } from '../uploads/upload-forwarding.ts';
import { breakCircuit, type BreakerOptions } from './broken-circuit.ts';
import { CALLER_HEADER, type CallerSigner, operationHash } from './caller-assertion.ts';
import { createPostClient, type PostAnswer, type PostClient } from './remote-http.ts';
import { createRemoteSubscriptions, parsedResult, type RemoteSubscriptions } from './remote-subscriptions.ts';
import { retryReads } from './retried-reads.ts';
import { shareReads } from './shared-reads.ts';
import type { SocketCredentials } from './socket-clients.ts';
import { createStreamSubscriptions, type StreamProtocol } from './stream-subscriptions.ts';

export interface RemoteLinkOptions {
  /** The subgraph's name, for errors and logs. */
  readonly name: string;
  /** Its processes, at the path of its GraphQL, for HTTP and graphql-ws (createEndpoints). Who made them closes them. */
  readonly endpoints: Endpoints;
  /** Makes caller assertions (createCallerSigner); absent for a foreign subgraph, which must not learn of callers. */
  readonly sign?: CallerSigner;
  /** Sends the callers' own bearer tokens along, to a foreign subgraph. */
  readonly passesBearer?: boolean;
  /** Equal reads of one caller that are on their way share one answer; never with `sign`, whose assertions all differ. */
  readonly sharesReads?: boolean;
  /** The processes for graphql-ws, where they are elsewhere than those for HTTP. Who made them closes them. */
  readonly socketEndpoints?: Endpoints | undefined;
  /** Changes the headers that a foreign subgraph gets (default: the bearer token alone). */
  readonly headersFor?:
    | ((context: RequestContext, own: Readonly<Record<string, string>>) => Record<string, string>)
    | undefined;
  /** Changes what callers see of the errors that the subgraph says (default: nothing). */
  readonly includeErrors?: ((result: ExecutionResult, traceId: string) => ExecutionResult) | undefined;
  /** Gets the headers of each answer (default: nobody does). */
  readonly onHeaders?: ((context: RequestContext, headers: AnswerHeaders) => void) | undefined;
  /** How it is subscribed at (default: graphql-ws). */
  readonly protocol?: 'graphql-ws' | StreamProtocol | undefined;
  /** What a foreign subgraph gets in connection_init (default: the bearer token alone). */
  readonly paramsFor?: RemoteLinkOptions['headersFor'];
  /** Asks nothing for a while where nothing is answered (default: always asks). */
  readonly breaker?: BreakerOptions | undefined;
  /** Most connections to one process (default 128). */
  readonly connections?: number | undefined;
  /** Certificates (default: those of the system). */
  readonly tls?: TlsFiles | undefined;
  /** How often a query that got no answer is sent again (default 0). */
  readonly retries?: number | undefined;
  /** Milliseconds for a whole response; for uploads between two chunks; for opening the WebSocket (default 30,000). */
  readonly timeoutMs?: number;
  /** Largest response or event in bytes (default 32 MiB). */
  readonly maxResponseBytes?: number;
  readonly logger: Logger;
}

/**
 * Link to a subgraph in other processes, each request to the next that is well: HTTP for queries and mutations (uploads
 * are streamed), a few lazy graphql-ws connections to each for all subscriptions there. One that does not answer is an error
 * with code UNAVAILABLE.
 */
export function createRemoteLink(options: RemoteLinkOptions): SubgraphLink {
  const { name, endpoints, sign, logger } = options;
  const client = clientOf(options);
  const { includeErrors = (result: ExecutionResult) => result } = options;
  const subscriptions = subscriptionsOf(options);

  const post = async (request: SubgraphRequest): Promise<PostAnswer> => {
    const { headers, body } = await encode(request, options);
    const isRead = !MAY_WRITE.test(request.query);
    const { context } = request;
    const onHeaders = options.onHeaders && ((found: AnswerHeaders) => options.onHeaders?.(context, found));
    return await client.post({ headers, body, isRead, signal: context.signal, onHeaders });
  };
  const execute = async (request: SubgraphRequest): Promise<ExecutionResult> => {
    const { caller, signal } = request.context;
    try {
      return includeErrors(parsedResult(decode(await post(request))), caller.traceId);
    } catch (thrown) {
      const error = named(thrown, name);
      if (!signal.aborted)
        logger.warn({ subgraph: name, error, traceId: caller.traceId }, 'a subgraph failed');
      return failedResult(error, { logger, traceId: caller.traceId, subgraph: name });
    }
  };

  return {
    execute,
    async subscribe(request) {
      const stream = await subscriptions.subscribe(request);
      if (options.includeErrors === undefined) return stream;
      const { caller, signal } = request.context;
      const origin = { logger, traceId: caller.traceId, subgraph: name };
      return mapStream<ExecutionResult, ExecutionResult>({
        source: stream,
        map: (result) => (isEndOfStream(result) ? result : includeErrors(result, caller.traceId)),
        failed: (thrown) => failedResult(thrown, origin),
        signals: [signal],
      });
    },
    async check() {
      // Ours say what they lack; of a foreign one it is only known whether it answers.
      const lacks = sign === undefined ? [] : checkReadiness(name, endpoints);
      const context = { caller: internalCaller(newTraceId()), signal: AbortSignal.timeout(READINESS_MS) };
      // A query too: an address with a wrong path has a process that is ready, and answers no operation.
      const answered = execute({ query: '{__typename}', variables: {}, context });
      const [degraded, { errors }] = await Promise.all([lacks, answered]);
      if (errors !== undefined) throw new AppError('UNAVAILABLE', errors[0]?.message ?? `${name} is gone`);
      return degraded;
    },
    async close() {
      await Promise.all([subscriptions.close(), client.close()]);
    },
  };
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** What fetches, with what the options put around it. */
function clientOf(options: RemoteLinkOptions): PostClient {
  const { endpoints, timeoutMs = TIMEOUT_MS, maxResponseBytes = MAX_BYTES, connections, tls } = options;
  const { breaker, retries, sharesReads = false, sign } = options;
  const own = createPostClient({ endpoints, timeoutMs, maxResponseBytes, connections, tls });
  const broken = breaker === undefined ? own : breakCircuit(own, breaker);
  const retried = retries === undefined ? broken : retryReads(broken, retries);
  return sharesReads && sign === undefined ? shareReads(retried) : retried;
}

function subscriptionsOf(options: RemoteLinkOptions): RemoteSubscriptions {
  const {
    name,
    endpoints,
    sign,
    logger,
    timeoutMs = TIMEOUT_MS,
    maxResponseBytes = MAX_BYTES,
    tls,
  } = options;
  const { protocol = 'graphql-ws' } = options;
  const common = {
    name,
    endpoints: options.socketEndpoints ?? endpoints,
    timeoutMs,
    logger,
    maxMessageBytes: maxResponseBytes,
    tls,
  };
  if (protocol === 'graphql-ws')
    return createRemoteSubscriptions({ ...common, sign, credentialsFor: credentialsOf(options) });
  const headersFor = (context: RequestContext) => ownHeaders(context, options);
  return createStreamSubscriptions({ ...common, protocol, headersFor });
}

/** Whether a document may hold a mutation: one that only mentions the word is taken for one, which is never sent twice. */
const MAY_WRITE = /\bmutation\b/;

async function encode(
  { query, document, operationName, variables, context }: SubgraphRequest,
  options: Pick<RemoteLinkOptions, 'sign' | 'endpoints' | 'passesBearer' | 'headersFor'>,
) {
  const { sign, endpoints } = options;
  const operation = operationName === undefined ? { query } : { query, operationName };
  const own = ownHeaders(context, options);
  const extracted = extractUploads(variables, document);
  const asserted =
    sign &&
    (await sign(context.caller, {
      method: 'POST',
      path: endpoints.path,
      body: operationHash({ ...operation, variables: extracted.variables }),
    }));
  const traceparent = sign && activeTraceparent();
  const credentials = {
    ...own,
    ...(asserted && { [CALLER_HEADER]: asserted }),
    ...(traceparent != null && { traceparent }),
  };
  if (extracted.uploads.size === 0) {
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...credentials };
    return { headers, body: JSON.stringify({ ...operation, variables }) };
  }
  const form = multipartRequest(operation, extracted);
  // The second header tells the subgraph's CSRF protection that this is not a browser's form.
  const [bytes] = [...extracted.uploads.keys()].map(requestBytesOf);
  const headers = {
    'content-type': form.contentType,
    'apollo-require-preflight': 'true',
    ...(bytes != null && { [REQUEST_BYTES_HEADER]: String(bytes) }),
    ...credentials,
  };
  return { headers: { ...headers, accept: 'application/json' }, body: form.body };
}

/** What a subgraph gets of a caller. */
function ownHeaders(
  context: RequestContext,
  { passesBearer = false, headersFor }: Pick<RemoteLinkOptions, 'passesBearer' | 'headersFor'>,
): Readonly<Record<string, string>> {
  const { bearer } = context.caller;
  const own = passesBearer && bearer !== undefined ? { authorization: `Bearer ${bearer}` } : {};
  return headersFor === undefined ? own : headersFor(context, own);
}

/** The same with an upgrade and its connection_init: one that has something of a caller's is for that caller alone. */
function credentialsOf(
  options: RemoteLinkOptions,
): (context: RequestContext) => SocketCredentials | undefined {
  return (context) => {
    const headers = ownHeaders(context, options);
    const params = ownHeaders(context, { ...options, headersFor: options.paramsFor ?? undefined });
    const isEmpty = Object.keys(headers).length === 0 && Object.keys(params).length === 0;
    return isEmpty ? undefined : { headers, params };
  };
}

/** Milliseconds for the answers of a subgraph's processes, which bound their own checks. */
const READINESS_MS = 1_700;

/** What the first process that is ready says that all lack: one that is ready is enough. */
async function checkReadiness(name: string, endpoints: Endpoints): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(READINESS_MS);
  const tried = new Set<Endpoint>();
  let reason = 'no address';
  for (let one = endpoints.next(tried); one !== undefined; one = endpoints.next(tried)) {
    tried.add(one);
    const said = await readinessOf(one, signal);
    if (said.isReady) return said.lacks.map((part) => `${name}.${part}`);
    reason = said.lacks.join(', ');
  }
  throw new AppError('UNAVAILABLE', `subgraph ${JSON.stringify(name)} is not ready: ${reason}`);
}

/** Whether a process is ready, and what it lacks: where it is ready, what all lack. */
async function readinessOf(
  { origin, lookup }: Endpoint,
  signal: AbortSignal,
): Promise<{ readonly isReady: boolean; readonly lacks: readonly string[] }> {
  const dispatcher = new Agent(lookup === undefined ? {} : { connect: { lookup } });
  try {
    const { statusCode, body } = await request(new URL('/readyz', origin), { signal, dispatcher });
    const { failing, degraded } = Object(parseJson(await body.text())) as Record<string, unknown>;
    const isReady = statusCode === 200;
    const lacks: unknown = isReady ? (degraded ?? []) : failing;
    return { isReady, lacks: Array.isArray(lacks) ? lacks.map(String) : [`HTTP ${statusCode}`] };
  } catch {
    return { isReady: false, lacks: ['no answer'] };
  } finally {
    await dispatcher.destroy();
  }
}

function decode({ status, json }: PostAnswer): FormattedExecutionResult {
  // A refused assertion means a wrong INTERNAL_KEY, not a caller who must sign in.
  if (status === 401) throw new AppError('UNAVAILABLE', 'our credential was refused');
  const result = json();
  if (typeof result === 'object' && result !== null && ('data' in result || 'errors' in result)) {
    return result as FormattedExecutionResult;
  }
  throw new AppError('UNAVAILABLE', `HTTP ${status} without a GraphQL result`);
}

function named(thrown: unknown, name: string): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'UNAVAILABLE') return thrown;
  return new AppError('UNAVAILABLE', `subgraph ${JSON.stringify(name)}: ${thrown.message}`, {
    cause: thrown,
  });
}
