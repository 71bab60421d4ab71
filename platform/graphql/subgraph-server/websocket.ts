import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import type { ExecutionArgs, GraphQLError } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

import { AppError } from '../../errors.ts';
import { newTraceId } from '../../ids.ts';
import { CALLER_EXTENSION, operationHash, requireBody } from '../assertions/caller-assertion.ts';
import { failedResult } from '../operations/errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { isStream, mapStream, throwingAtItsEnd } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import type { SubgraphEntryPoint } from './entry-point.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Time after which a client that does not answer the close is disconnected. */
const CLOSE_GRACE_MS = 2_000;
/** Between pings, and for their answer: a gateway with many clients connecting may be late, and much hangs on its socket. */
const KEEP_ALIVE_MS = 30_000;

/**
 * graphql-ws for one subgraph, on the path of its HTTP. A socket needs an assertion in its connection parameters. Each
 * operation has its own caller: the gateway's socket carries the subscriptions of all callers, each with an assertion in
 * the payload's extensions.
 */
export function createWebSockets(
  path: string,
  entryPoint: SubgraphEntryPoint,
): { accept(request: IncomingMessage, socket: Duplex, head: Buffer): void; close(): Promise<void> } {
  const sockets = new WebSocketServer({ noServer: true, path, maxPayload: MAX_MESSAGE_BYTES });
  const disposable = useServer<Record<string, unknown>>(
    {
      onConnect: ({ connectionParams }) => isOfKiln(connectionParams?.[CALLER_EXTENSION], path, entryPoint),
      onSubscribe: async (_context, _id, payload) => await prepareOperation({ payload, path, entryPoint }),
      execute: (args) => entryPoint.link.execute(createRequest(args)),
      subscribe: (args) => subscribeUntilEnd(args, entryPoint),
      isProd: true,
    },
    sockets,
    KEEP_ALIVE_MS,
  );
  return {
    accept(request, socket, head) {
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
    },
    async close() {
      const cut = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, CLOSE_GRACE_MS);
      await disposable.dispose();
      clearTimeout(cut);
    },
  };
}

interface OperationRequest {
  readonly payload: {
    readonly query: string;
    readonly operationName?: string | null | undefined;
    readonly variables?: Record<string, unknown> | null | undefined;
    readonly extensions?: Record<string, unknown> | null | undefined;
  };
  readonly path: string;
  readonly entryPoint: SubgraphEntryPoint;
}

/** Whether another process of Kiln connects; anybody else is closed (4403). */
async function isOfKiln(assertion: unknown, path: string, { verify }: SubgraphEntryPoint): Promise<boolean> {
  try {
    await verify(assertion, { method: 'CONNECT', path });
    return true;
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'UNAUTHENTICATED') return false;
    throw thrown;
  }
}

// An error thrown here would close the whole socket, so it becomes an error of this operation.
async function prepareOperation(request: OperationRequest): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const { payload, path, entryPoint } = request;
  try {
    const assertion = payload.extensions?.[CALLER_EXTENSION];
    const asserted = await entryPoint.verify(assertion, { method: 'SUBSCRIBE', path });
    requireBody(asserted, operationHash(payload));
    const { document, errors } = entryPoint.prepare(payload.query);
    if (errors !== undefined) return errors;
    const context: RequestContext = { caller: asserted.caller, signal: new AbortController().signal };
    const { operationName = null, variables = {} } = payload;
    return {
      schema: entryPoint.schema,
      document,
      operationName,
      variableValues: variables,
      contextValue: context,
    };
  } catch (thrown) {
    const origin = { logger: entryPoint.logger, traceId: newTraceId(), subgraph: entryPoint.name };
    return failedResult(thrown, origin).errors ?? [];
  }
}

/** A subscription whose context is aborted at its end, whatever its cause. */
async function subscribeUntilEnd(args: ExecutionArgs, entryPoint: SubgraphEntryPoint) {
  const controller = new AbortController();
  const request = createRequest(args);
  const context = { ...request.context, signal: controller.signal };
  const started = await entryPoint.link.subscribe({ ...request, context });
  if (!isStream(started)) return started;
  const stream = mapStream({
    source: started,
    map: (result) => result,
    failed: (thrown) =>
      failedResult(thrown, {
        logger: entryPoint.logger,
        traceId: context.caller.traceId,
        subgraph: entryPoint.name,
      }),
    onEnd: () => controller.abort(),
  });
  return throwingAtItsEnd(stream);
}

function createRequest({
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionArgs): SubgraphRequest {
  return {
    query: document.loc?.source.body ?? '',
    document,
    operationName: operationName ?? undefined,
    variables: variableValues ?? {},
    context: contextValue as RequestContext,
  };
}
