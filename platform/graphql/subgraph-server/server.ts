import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import express, { type Express, type RequestHandler } from 'express';

import { createReadyHandler, type ReadinessChecks } from '../../http/readiness.ts';
import { KEEP_ALIVE_TIMEOUT_MS, listenOn, stopAccepting } from '../../http/server.ts';
import { runInSpan, noTracer, type Tracer } from '../../tracing/span.ts';
import { type ChannelServer, createChannelServer } from '../channel/server.ts';
import { createUploadMiddleware } from '../uploads/uploads.ts';
import {
  createSubgraphEntryPoint,
  type SubgraphEntryPoint,
  type SubgraphEntryPointOptions,
} from './entry-point.ts';
import { createAssertionGuard, createBodyGuard, createErrorHandler, createGraphqlHandler } from './http.ts';
import { createWebSockets } from './websocket.ts';

/**
 * A subgraph in a process of its own, for Kiln's gateway and nobody else: every request needs an assertion bound to it,
 * but for the health paths. Serves GraphQL over channels, HTTP and graphql-ws (/graphql), and `extraRoutes`.
 */

export interface SubgraphServerOptions extends SubgraphEntryPointOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly uploadMaxBytes: number;
  /** What it needs to answer, by name: /readyz answers 503 and names those that throw, or take longer than 1.5 s. */
  readonly readiness: ReadinessChecks;
  /** Milliseconds in which it still serves when it is to stop, and says that it is not ready (default 0). */
  readonly stillServeMs?: number;
  /** Milliseconds for running requests when it stops (default 5,000). */
  readonly graceMs?: number;
  /** Resolves when nothing is under way any more that is worth serving on for (default: nothing is). */
  readonly untilAnswered?: () => Promise<void>;
  /** Serves /metrics, to whoever has their key. */
  readonly metrics?: RequestHandler;
  /** Continues the gateway's traces (default: nothing is traced). */
  readonly tracer?: Tracer;
  /** Mounts further routes, before the error handler; a body is in `request.body` as a Buffer. */
  readonly extraRoutes?: (app: Express) => void;
}

/** A listening subgraph. */
export interface SubgraphServer {
  /** The GraphQL URL, with the actual port. */
  readonly url: string;
  /**
   * Stops: /readyz answers 503 while it still serves, for `stillServeMs` and `untilAnswered`; then it refuses new requests,
   * ends subscriptions, and lets running requests finish for `graceMs`.
   */
  close(): Promise<void>;
}

const PATH = '/graphql';
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Starts serving a subgraph; rejects when the address is not available. */
export async function createSubgraphServer(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const entryPoint = createSubgraphEntryPoint(options);
  const stopping = new AbortController();
  const app = createApp(entryPoint, options, stopping.signal);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, app);
  const { url } = await listenOn(server, options.host, options.port);
  const { internalKey, tracer = noTracer } = options;
  const sockets = createWebSockets(PATH, entryPoint);
  const channels = createChannelServer({ entryPoint, internalKey, tracer });
  server.on('upgrade', (request, socket, head) => {
    if (channels.isFor(request)) void channels.accept(request, socket);
    else sockets.accept(request, socket, head);
  });
  let closing: Promise<void> | undefined;
  return {
    url: `${url}${PATH}`,
    close() {
      stopping.abort();
      return (closing ??= stop({ server, sockets, channels, entryPoint, options }));
    },
  };
}

async function stop(parts: {
  server: Server;
  sockets: { close(): Promise<void> };
  channels: ChannelServer;
  entryPoint: SubgraphEntryPoint;
  options: SubgraphServerOptions;
}) {
  const { server, sockets, channels, entryPoint, options } = parts;
  const { stillServeMs = 0, graceMs = 5_000, untilAnswered } = options;
  if (stillServeMs > 0) await pause(stillServeMs);
  await untilAnswered?.();
  const closed = stopAccepting(server);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    channels.destroy();
  }, graceMs);
  channels.leave();
  await sockets.close();
  await closed;
  clearTimeout(cut);
  await entryPoint.link.close();
}

function createApp(
  entryPoint: SubgraphEntryPoint,
  options: SubgraphServerOptions,
  stopping: AbortSignal,
): Express {
  const { uploadMaxBytes, readiness, extraRoutes, logger } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', createReadyHandler(readiness, { logger, stopping }));
  if (options.metrics !== undefined) app.use('/metrics', options.metrics);
  app.use(createAssertionGuard(entryPoint));
  // After the guard: the trace of whoever is not Kiln is not continued.
  app.use(traceCalls(options.tracer ?? noTracer));
  app.post(
    PATH,
    createUploadMiddleware({ maxFileSize: uploadMaxBytes }),
    express.json({ limit: MAX_BODY_BYTES }),
    createGraphqlHandler(entryPoint),
  );
  app.use(createBodyGuard());
  extraRoutes?.(app);
  app.use(createErrorHandler(logger));
  return app;
}

function traceCalls(tracer: Tracer): RequestHandler {
  return (request, response, next) => {
    const traceparent = request.get('traceparent');
    const path = request.path.split('/', 2)[1] ?? '';
    const span = tracer.start(`${request.method} /${path}`, { kind: 'server', traceparent });
    response.once('close', () => {
      span?.set({ 'http.response.status_code': response.statusCode });
      span?.end();
    });
    runInSpan(span, next);
  };
}
