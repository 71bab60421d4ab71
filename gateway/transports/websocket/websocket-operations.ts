import type { IncomingMessage } from 'node:http';

import { type ExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, type ServerOptions } from 'graphql-ws';

import { type Caller, createClientKey } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest, RequestContext } from '../../../platform/graphql/operations/executor.ts';
import { isStream, throwingAtItsEnd } from '../../../platform/graphql/operations/streams.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { withSpan, type Tracer } from '../../../platform/tracing/span.ts';
import { type CallerFinder, hasCredential } from '../../authentication/caller.ts';
import type { CredentialGuard } from '../../authentication/credential-guard.ts';
import type { RateLimiter } from '../../limits/rate-limit.ts';
import { refusal } from '../../limits/refusal.ts';
import type { Slot } from '../../limits/slots.ts';
import { readTraceId } from '../../request/request-context.ts';
import type { Admitted } from '../admission/admission.ts';
import { type OperationRequest, readOperation } from '../admission/read-operation.ts';
import type { TransportOptions } from '../admission/transport.ts';
import { followUnnumbered } from '../streams/keep-following.ts';
import type { FindElsewhere, OperationElsewhere } from './elsewhere.ts';

/**
 * The graphql-ws hooks of a WebSocket. The caller comes with connection_init (`{ "authorization": "Bearer ..." }`),
 * else with the upgrade's Authorization header.
 */

/** The session of one socket. */
export interface Session {
  readonly request: IncomingMessage;
  /** Known after connection_init. */
  caller?: Caller;
  /** What it was found by, where that came with connection_init. */
  authorization?: string | undefined;
  /** Its place among the sockets of its client. */
  readonly slot: Slot;
  /** Closes the socket. */
  readonly close: (code: number, reason: string) => void;
  /** Ends the watch of its credential. */
  unwatch?: () => void;
  /** Running operations by their id; aborted when they end or the socket closes. */
  readonly running: Map<string, AbortController>;
  /** The operations that the protocol knows, by their id; known after the first. */
  subscriptions?: Readonly<Record<string, unknown>>;
}

/** Makes the session of a new socket. */
export function createSession(socket: Pick<Session, 'request' | 'slot' | 'close'>): Session {
  return { ...socket, running: new Map() };
}

/** Options of the hooks. */
export interface SocketHookOptions extends TransportOptions {
  readonly callers: CallerFinder;
  readonly guard: CredentialGuard;
  /** Refuses sockets without a credential. */
  readonly requiresCredential: boolean;
  /** Counts refused credentials against their address; absent without rate limits. */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly tracer: Tracer;
  /** Finds who runs an operation in place of this process (default: nobody). */
  readonly elsewhere?: FindElsewhere | undefined;
}

/** Most running operations of one socket. */
const MAX_OPERATIONS = 100;

type Hooks = ServerOptions<Record<string, unknown>, Session>;

/** The hooks of the protocol: caller, admission, execution, errors. */
export function createSocketHooks(options: SocketHookOptions): Hooks {
  const { federation, admission, errors, callers, guard } = options;
  return {
    // Many clients that reconnect at once after a restart may be served late.
    connectionInitWaitTimeout: 10_000,
    async onConnect({ connectionParams, extra }) {
      try {
        const authorization = readAuthorization(connectionParams);
        const caller = await callers.find(extra.request, { authorization, strict: true });
        if (!hasCredential(caller) && options.requiresCredential) {
          throw new AppError('UNAUTHENTICATED', 'a socket needs a credential in connection_init');
        }
        if (!extra.slot.move(createClientKey(caller))) {
          extra.close(CloseCode.TooManyInitialisationRequests, 'too many open sockets');
          return false;
        }
        Object.assign(extra, { caller, authorization } satisfies Partial<Session>);
        extra.unwatch = guard.watch({ request: extra.request, caller, authorization }, () =>
          extra.close(CloseCode.Forbidden, 'the credential is not valid any more'),
        );
        return true;
      } catch (error) {
        // 4403 Forbidden; any other error closes the socket as our failure.
        if (!(error instanceof AppError) || error.code !== 'UNAUTHENTICATED') throw error;
        if (await isOverLimit(options, extra))
          extra.close(CloseCode.TooManyInitialisationRequests, 'too many requests');
        return false;
      }
    },
    async onSubscribe(protocol, id, payload) {
      const { extra, subscriptions } = protocol;
      const { caller } = extra;
      // The protocol allows no subscription before onConnect has succeeded.
      if (caller === undefined) throw new Error('a socket without a caller subscribed');
      extra.subscriptions = subscriptions;
      const running = Object.keys(subscriptions).length;
      if (running > MAX_OPERATIONS) return [refusal('concurrent-operations', MAX_OPERATIONS, running)];
      const request = readOperation(options.expand?.(payload) ?? payload);
      if (request instanceof GraphQLError) return [request];
      const verdict = await admission.admit(request, caller);
      if ('errors' in verdict) return verdict.errors;
      // Completed meanwhile, or the socket has closed: nobody would end it, or read of it.
      if (!(id in protocol.subscriptions)) return [codedError('BAD_REQUEST', 'the operation was completed')];
      const { signal } = beginOperation(extra, id);
      return {
        schema: federation.apiSchema(),
        document: verdict.operation.document,
        operationName: request.operationName ?? null,
        variableValues: request.variables,
        contextValue: requireRunning(options, { ...verdict, request, session: extra, caller, signal }),
      };
    },
    ...createRunners(options),
    onNext: ({ extra }, _id, _payload, _args, result) =>
      errors.formatResult(result as ExecutionResult, readTraceId(extra.request)),
    onError: ({ extra }, _id, _payload, found) =>
      found.map((error) => errors.formatError(error, readTraceId(extra.request))),
    onComplete: ({ extra }, id) => endOperation(extra, id),
    onClose({ extra }) {
      extra.unwatch?.();
      for (const id of extra.running.keys()) endOperation(extra, id);
    },
  };
}

function requireRunning(
  { elsewhere }: Pick<SocketHookOptions, 'elsewhere'>,
  { operation, request, session, caller, signal }: Admitted & OperationOfSocket,
): Running {
  const { kind, fields, document } = operation;
  return {
    request,
    context: { caller, signal, headers: session.request.headers },
    admitted: { document, fields },
    changes: kind === 'mutation' ? fields : null,
    elsewhere: elsewhere?.(request, session) ?? null,
  };
}

interface OperationOfSocket {
  readonly request: OperationRequest;
  readonly session: Session;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Execution, with a span and a line of the log. */
function createRunners(options: SocketHookOptions): Pick<Hooks, 'execute' | 'subscribe'> {
  const { federation, tracer, logger } = options;
  return {
    execute: ({ contextValue }) =>
      traced(tracer, contextValue, (request) =>
        logged(
          logger,
          contextValue,
          async () =>
            findElsewhere(contextValue)?.execute(request.context.signal) ?? federation.execute(request),
        ),
      ),
    subscribe: ({ contextValue }) =>
      traced(tracer, contextValue, async (request) => {
        const elsewhere = findElsewhere(contextValue);
        if (elsewhere !== null) return elsewhere.subscribe(request.context.signal);
        const followed = await followUnnumbered(options, { ...(contextValue as Running).admitted, request });
        return isStream(followed) ? throwingAtItsEnd(followed) : followed;
      }),
  };
}

/** One line for each mutation, as for those over HTTP. */
async function logged<Answer>(
  logger: Logger,
  contextValue: unknown,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { changes, context } = contextValue as Running;
  const startedAt = performance.now();
  const answer = await run();
  const { traceId, id: caller } = context.caller;
  const ms = Math.round(performance.now() - startedAt);
  if (changes !== null)
    logger.info({ traceId, method: 'WS', path: '/graphql', ms, caller, changes }, 'request');
  return answer;
}

/** A span of its own for each operation; all of a socket have the trace id that its errors name. */
function traced<Answer>(
  tracer: Tracer,
  contextValue: unknown,
  run: (request: GraphqlRequest) => Answer,
): Answer {
  const request = readRequest(contextValue);
  const { traceId } = request.context.caller;
  const name = `WS ${request.operationName ?? 'operation'}`;
  return withSpan(tracer.start(name, { kind: 'server', traceId }), () => run(request));
}

/** A refused credential costs a read of its address, as over HTTP, so that guessing is limited. */
async function isOverLimit(
  { callers, rateLimiter }: Pick<SocketHookOptions, 'callers' | 'rateLimiter'>,
  { request }: Session,
): Promise<boolean> {
  const nobody = await callers.find(request, { authorization: '' });
  return (await rateLimiter?.take(nobody, 'read'))?.allowed === false;
}

interface Running {
  readonly request: OperationRequest;
  readonly context: RequestContext;
  readonly admitted: Pick<Admitted['operation'], 'document' | 'fields'>;
  /** Root fields of a mutation, for the log; null for other operations. */
  readonly changes: readonly string[] | null;
  /** Runs it in place of this process; null: it is run here. */
  readonly elsewhere: OperationElsewhere | null;
}

function findElsewhere(contextValue: unknown): OperationElsewhere | null {
  return (contextValue as Running).elsewhere;
}

/** The context value that `onSubscribe` made. */
function readRequest(contextValue: unknown): GraphqlRequest {
  const { request, context } = contextValue as Running;
  return { ...request, context, transport: 'websocket' };
}

/** Ends the operations that their client has completed: of a running query the protocol only forgets the id. */
export function endLeftOperations(session: Session): void {
  for (const id of session.running.keys()) {
    if (session.subscriptions !== undefined && !(id in session.subscriptions)) endOperation(session, id);
  }
}

function beginOperation({ running }: Session, id: string): AbortController {
  const abort = new AbortController();
  running.set(id, abort);
  return abort;
}

function endOperation({ running }: Session, id: string): void {
  running.get(id)?.abort();
  running.delete(id);
}

/** `authorization` in any case, at the top level or in `headers`, as clients differ. */
function readAuthorization(params: Record<string, unknown> | undefined): string | undefined {
  const found =
    readField(params, 'authorization') ?? readField(readField(params, 'headers'), 'authorization');
  return typeof found === 'string' ? found : undefined;
}

function readField(params: unknown, name: string): unknown {
  if (typeof params !== 'object' || params === null) return undefined;
  return Object.entries(params).find(([key]) => key.toLowerCase() === name)?.[1];
}
