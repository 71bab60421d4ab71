import type { ExecutionResult } from 'graphql';
import type { FormattedExecutionResult } from 'graphql-ws';

import { internalCaller } from '../../access/caller.ts';
import { AppError } from '../../errors.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import type { TlsFiles } from '../../http/endpoints/failover.ts';
import type { AnswerHeaders } from '../../http/endpoints/post-text.ts';
import { newTraceId } from '../../ids.ts';
import type { Logger } from '../../process/logger.ts';
import { activeTraceparent } from '../../tracing/span.ts';
import { type CallerSigner, toClaims } from '../assertions/caller-assertion.ts';
import { createChannels } from '../channel/channels.ts';
import type { Question } from '../channel/connection.ts';
import { MAX_ANSWER_BYTES } from '../channel/protocol.ts';
import { unreadAnswer } from '../operations/answers.ts';
import { failedResult } from '../operations/errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { isEndOfStream, mapStream } from '../operations/streams.ts';
import type { SubgraphLink, SubgraphRequest } from '../operations/subgraph.ts';
import { extractUploads } from '../uploads/upload-forwarding.ts';
import {
  createPostClient,
  type Exchange,
  type ExchangeClient,
  type PostAnswer,
  type PostClient,
} from './remote-http.ts';
import { checkReadiness, READINESS_MS } from './remote-readiness.ts';
import { createRemoteSubscriptions, parsedResult, type RemoteSubscriptions } from './remote-subscriptions.ts';
import { encode, ownHeaders, traceContext } from './request-encoding.ts';
import { breakCircuit, type BreakerOptions, retryReads, shareReads } from './resilient-http.ts';
import type { SocketCredentials } from './socket-clients.ts';
import { createStreamSubscriptions, type StreamProtocol } from './stream-subscriptions.ts';

export interface RemoteLinkOptions {
  /** The subgraph's name, for errors and logs. */
  readonly name: string;
  /** Its processes, at the path of its GraphQL, for HTTP and graphql-ws (createEndpoints). Who made them closes them. */
  readonly endpoints: Endpoints;
  /** Makes caller assertions (createCallerSigner); absent for a foreign subgraph, which must not learn of callers. */
  readonly sign?: CallerSigner;
  /** INTERNAL_KEY: requests go over channels to processes that know them (default: over HTTP). */
  readonly channelKey?: string | undefined;
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
  const { post, close } = createPost(options);
  const { includeErrors = (result: ExecutionResult) => result } = options;
  const subscriptions = createSubscriptions(options);

  const execute = async (request: SubgraphRequest): Promise<ExecutionResult> => {
    const { caller, signal } = request.context;
    try {
      const answer = await post(request);
      const unread = answer.bytes === undefined ? null : unreadAnswer(answer.bytes);
      return unread ?? includeErrors(parsedResult(decode(answer, sign !== undefined)), caller.traceId);
    } catch (thrown) {
      const error = named(thrown, name);
      if (!signal.aborted)
        logger.warn({ subgraph: name, error, traceId: caller.traceId }, 'a subgraph failed');
      return failedResult(error, { logger, traceId: caller.traceId, subgraph: name });
    }
  };

  /** Throws UNAVAILABLE where it does not answer. Of a foreign one any result is an answer, such as that it must know who asks. */
  const requireAnswer = async (request: SubgraphRequest): Promise<void> => {
    if (sign !== undefined) {
      const { errors } = await execute(request);
      if (errors !== undefined) throw new AppError('UNAVAILABLE', errors[0]?.message ?? `${name} is gone`);
      return;
    }
    try {
      parsedResult(decode(await post(request), false));
    } catch (thrown) {
      throw named(thrown, name);
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
      const answered = requireAnswer({ query: '{__typename}', variables: {}, context });
      const [degraded] = await Promise.all([lacks, answered]);
      return degraded;
    },
    async close() {
      await Promise.all([subscriptions.close(), close()]);
    },
  };
}

/** Sends queries and mutations: over channels where the other side is ours, else as POST requests. */
function createPost(options: RemoteLinkOptions) {
  const own = createOwnClient(options);
  const client = wrapClient(own, options);
  const channels = openChannels(options);
  const post = async (request: SubgraphRequest): Promise<PostAnswer> => {
    const extracted = extractUploads(request.variables, request.document);
    const isRead = !MAY_WRITE.test(request.query);
    const { context } = request;
    const { signal } = context;
    if (channels === null || extracted.uploads.size > 0) {
      const { headers, body } = await encode(request, extracted, options);
      const answer = await client.post({ headers, body, isRead, signal });
      if (answer.headers !== undefined) options.onHeaders?.(context, answer.headers);
      return answer;
    }
    const question = toQuestion(request);
    const send: Exchange['send'] = async (endpoint, call) => {
      const answer = await channels.ask(endpoint, question, call);
      if (answer !== null) return answer;
      const { headers, body } = await encode(request, extracted, options);
      return own.postTo(endpoint, { headers, body: body as string, isRead }, call);
    };
    return await own.exchange({ isRead, signal, send });
  };
  return {
    post,
    close: async () => {
      channels?.close();
      await client.close();
    },
  };
}

const TIMEOUT_MS = 30_000;

/** What fetches, with what the options put around it. */
function createOwnClient({
  endpoints,
  timeoutMs = TIMEOUT_MS,
  maxResponseBytes = MAX_ANSWER_BYTES,
  connections,
  tls,
}: RemoteLinkOptions): ExchangeClient {
  return createPostClient({ endpoints, timeoutMs, maxResponseBytes, connections, tls });
}

/** Channels to a subgraph of ours; null without INTERNAL_KEY. */
function openChannels({
  channelKey,
  name,
  endpoints,
  maxResponseBytes = MAX_ANSWER_BYTES,
}: RemoteLinkOptions) {
  if (channelKey === undefined) return null;
  return createChannels({
    internalKey: channelKey,
    audience: name,
    endpoints,
    maxAnswerBytes: maxResponseBytes,
  });
}

function wrapClient(
  own: PostClient,
  { breaker, retries, sharesReads = false, sign }: RemoteLinkOptions,
): PostClient {
  const broken = breaker === undefined ? own : breakCircuit(own, breaker);
  const retried = retries === undefined ? broken : retryReads(broken, retries);
  return sharesReads && sign === undefined ? shareReads(retried) : retried;
}

function createSubscriptions(options: RemoteLinkOptions): RemoteSubscriptions {
  const {
    name,
    endpoints,
    sign,
    logger,
    timeoutMs = TIMEOUT_MS,
    maxResponseBytes = MAX_ANSWER_BYTES,
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
    return createRemoteSubscriptions({ ...common, sign, credentialsFor: createCredentials(options) });
  const headersFor = (context: RequestContext) => ownHeaders(context, options, traceContext(context));
  return createStreamSubscriptions({ ...common, protocol, headersFor });
}

/** Whether a document may hold a mutation: one that only mentions the word is taken for one, which is never sent twice. */
const MAY_WRITE = /\bmutation\b/;

/** A request without uploads as it goes over a channel. */
function toQuestion({ query, operationName, variables, context }: SubgraphRequest): Question {
  const traceparent = activeTraceparent();
  return {
    text: query,
    ...(operationName !== undefined && { operationName }),
    variables,
    caller: toClaims(context.caller),
    ...(traceparent !== null && { traceparent }),
  };
}

/** The same with an upgrade and its connection_init: one that has something of a caller's is for that caller alone. */
function createCredentials(
  options: RemoteLinkOptions,
): (context: RequestContext) => SocketCredentials | undefined {
  return (context) => {
    const headers = ownHeaders(context, options);
    const params = ownHeaders(context, { ...options, headersFor: options.paramsFor ?? undefined });
    const isEmpty = Object.keys(headers).length === 0 && Object.keys(params).length === 0;
    return isEmpty ? undefined : { headers, params };
  };
}

function decode({ status, json }: PostAnswer, isOurs: boolean): FormattedExecutionResult {
  // A refused assertion means a wrong INTERNAL_KEY, not a caller who must sign in. A foreign subgraph refuses the caller's own token.
  if (status === 401 && isOurs) throw new AppError('UNAVAILABLE', 'our credential was refused');
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
