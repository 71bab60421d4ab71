import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import express, { type Express, type RequestHandler } from 'express';

import { listenOn } from '../../platform/http/server.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { metricsHandler } from '../../platform/metrics/serve-metrics.ts';
import { noTracer } from '../../platform/tracing/tracer.ts';
import { authenticate } from '../authentication/authenticate.ts';
import { type CallerFinder, createCallerFinder } from '../authentication/caller.ts';
import { countRequests } from '../authentication/count-requests.ts';
import { createCredentialGuard } from '../authentication/credential-guard.ts';
import { createFastGraphql } from '../fast-path/fast-graphql.ts';
import { createFastPath } from '../fast-path/fast-path.ts';
import { createQueryLimits } from '../limits/query-limits.ts';
import { createSlots } from '../limits/slots.ts';
import { compressAnswers, createCompression } from '../request/compression.ts';
import { type Cors, createCors } from '../request/cors.ts';
import { createErrorFormatter } from '../request/errors.ts';
import { createRequestObserver, type ObserveRequest } from '../request/observe-request.ts';
import { createAdmission } from '../transports/admission/admission.ts';
import type { TransportOptions } from '../transports/admission/transport.ts';
import { createGraphqlRouter, type GraphqlRouter } from '../transports/graphql.ts';
import { createResponseStreams, type ResponseStreams } from '../transports/streams/response-stream.ts';
import { createWebSocketTransport, type WebSocketTransport } from '../transports/websocket/websocket.ts';
import { createConsole, sendBrowsersToConsole } from './console.ts';
import { drain } from './drain.ts';
import { createExplorer } from './explorer.ts';
import { createHealth, type Health } from './health.ts';
import { createHttpServer } from './http-server.ts';
import { answerError, answerNotFound, requireHttps, sendError } from './middleware.ts';
import { mountOwn } from './own-answers.ts';
import { serveSchema } from './schema-file.ts';
import type { GatewayServerOptions } from './server-options.ts';

/**
 * The public server: one HTTP server with everything that callers reach, mounted in reading order. It has no rules of
 * media or workflow; gateway/composition hands in what it serves.
 */
export interface GatewayServer {
  readonly httpServer: Server;
  /** Starts listening as listenOn does. The URL has no trailing slash and no path prefix. */
  listen(host: string, port: number, holder?: SocketServer): Promise<{ url: string }>;
  /**
   * Stops: /readyz answers 503 while it still serves for `stillServeMs`; then no new connections, sockets and streams are
   * ended in waves with a hint to reconnect, running requests get `drainMs`, and all connections are cut. The
   * federation is closed by its owner.
   */
  close(): Promise<void>;
  /** Open sockets and streams, for metrics and tests. */
  openStreams(): number;
}

/** Builds the server over a federation. Call `listen` to serve. */
export async function createGatewayServer(options: GatewayServerOptions): Promise<GatewayServer> {
  const { metrics = noMetrics } = options;
  const { stillServeMs = 0 } = options;
  const basePath = basePathOf(options.publicUrl);
  const callers = createCallerFinder(options);
  const cors = createCors({ origins: options.corsOrigins });
  const health = createHealth({ ...options, callers, checks: options.readiness });
  const { shared, streams, sockets, graphql } = createTransports({ options, basePath, callers, cors });

  const observe = createRequestObserver({
    logger: options.logger,
    metrics,
    tracer: options.tracer ?? noTracer,
  });
  const pipeline = createApp({ options, basePath, cors, callers, health, observe, graphql: graphql.router });
  const listener = createListener({ options, basePath, cors, callers, observe, express: pipeline, shared });
  const httpServer = createHttpServer(listener, options);
  metrics.gauge('kiln_open_streams', 'Open WebSockets and streams.', ['transport'], () => [
    { labels: { transport: 'websocket' }, value: sockets.size },
    { labels: { transport: 'http' }, value: streams.size },
  ]);
  httpServer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?', 1)[0];
    // Before the handshake there is no other listener; a reset must not end the process.
    socket.on('error', () => socket.destroy());
    void sockets.upgrade(request, { socket, head, isServed: path === `${basePath}/graphql` });
  });

  return {
    httpServer,
    listen: async (host, port, holder) => listenOn(httpServer, host, port, holder),
    openStreams: () => streams.size + sockets.size,
    async close() {
      health.drain();
      if (stillServeMs > 0) await pause(stillServeMs);
      await drain({ httpServer, streams, sockets, options });
      await options.mcp?.close();
      await graphql.close();
    },
  };
}

interface Transports {
  readonly shared: TransportOptions;
  readonly streams: ResponseStreams;
  readonly sockets: WebSocketTransport;
  readonly graphql: GraphqlRouter;
}

function isIntrospected({ introspection, production }: GatewayServerOptions): boolean {
  return introspection ?? !production;
}

/** What all transports work with. */
function sharedOf(options: GatewayServerOptions): TransportOptions & { readonly stallMs?: number } {
  const { federation, logger, production, rateLimiter } = options;
  return {
    federation,
    logger,
    errors: createErrorFormatter({ logger, suggestions: !production }),
    admission: createAdmission({
      limits: createQueryLimits({
        ...options.queryLimits,
        introspection: isIntrospected(options),
      }),
      documents: federation.documents,
      rateLimiter,
      trustedDocuments: options.trustedDocuments,
      trustedOnly: options.trustedOnly,
      anonymousPoints: options.anonymousPoints,
      paidSubscriptions: options.paidSubscriptions,
      writes: options.writes,
      signIns: options.signIns,
    }),
    ...(options.stallMs === undefined ? {} : { stallMs: options.stallMs }),
    resumeMs: options.resumeMs,
  };
}

/** Makes the transports of /graphql, which share one admission. */
function createTransports(parts: {
  readonly options: GatewayServerOptions;
  readonly basePath: string;
  readonly callers: CallerFinder;
  readonly cors: Cors;
}): Transports {
  const { options, basePath, callers, cors } = parts;
  const { logger, production, rateLimiter, maxBodyBytes = 1_000_000 } = options;
  const introspection = isIntrospected(options);
  const shared = sharedOf(options);
  const guard = createCredentialGuard({ callers, logger });
  const slots = createSlots(options.connectionLimit ?? 0);
  const { maxSockets, unreadBytes } = options;
  const streams = createResponseStreams({ ...shared, guard, slots, maxStreams: maxSockets });
  const sockets = createWebSocketTransport({
    ...shared,
    callers,
    guard,
    cors,
    slots,
    requiresCredential: options.requiresCredential ?? false,
    rateLimiter,
    tracer: options.tracer ?? noTracer,
    maxMessageBytes: maxBodyBytes,
    anonymousMessageBytes: options.anonymousBodyBytes,
    maxSockets,
    unreadBytes,
  });
  const { uploadMaxBytes } = options;
  const graphql = createGraphqlRouter({
    ...shared,
    streams,
    cors,
    basePath,
    production,
    introspection,
    hasSandbox: options.sandbox !== undefined,
    maxBodyBytes,
    anonymousBodyBytes: options.anonymousBodyBytes ?? maxBodyBytes,
    uploadMaxBytes,
    rateLimiter,
  });
  return { shared, streams, sockets, graphql };
}

/** The fast path in front of the Express pipeline. */
function createListener(parts: {
  readonly options: GatewayServerOptions;
  readonly basePath: string;
  readonly cors: Cors;
  readonly callers: CallerFinder;
  readonly observe: ObserveRequest;
  readonly express: RequestListener;
  readonly shared: TransportOptions;
}): RequestListener {
  const { options, basePath, shared, ...rest } = parts;
  if (options.fastPath === false) return parts.express;
  const { logger, rateLimiter } = options;
  const compression = createCompression();
  return createFastPath({
    ...rest,
    basePath,
    isHttps: isHttps(options.publicUrl),
    requiresCredential: options.isForeign === true && options.requiresCredential === true,
    serveOperation: createFastGraphql({ ...shared, rateLimiter, compression }),
    compression,
    rest: options.restHandler,
    restFolders: options.restFolders ?? ['/api'],
    failed: (thrown, request, response) =>
      sendError(thrown, {
        request,
        response,
        path: request.url ?? '/',
        logger,
        basePath,
        styleAt: options.styleAt,
      }),
  });
}

/** Mounts the handlers in reading order. */
function createApp(parts: {
  readonly options: GatewayServerOptions;
  readonly basePath: string;
  readonly cors: Cors;
  readonly callers: CallerFinder;
  readonly health: Health;
  readonly observe: ObserveRequest;
  readonly graphql: RequestHandler;
}): Express {
  const { options, basePath, cors, callers, health, observe, graphql } = parts;
  const { metrics = noMetrics, metricsKey = null } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(
    (request, response, next) => observe(request, response, next),
    requireHttps(isHttps(options.publicUrl)),
  );
  app.use(health.router);
  app.use('/metrics', metricsHandler(metrics, metricsKey));
  const mounted = express.Router();
  app.use(basePath === '' ? '/' : basePath, mounted);
  if (basePath !== '') mounted.use(health.router);
  mounted.use(cors.middleware);
  mounted.use(
    authenticate({
      callers,
      rateLimiter: options.rateLimiter,
      refuseMcp: options.mcp?.refuse,
      requiresCredential: options.isForeign === true && options.requiresCredential === true,
    }),
  );
  const counted = countRequests(options.rateLimiter, 'status');
  mountOwn(mounted, options, counted);
  // Handlers mounted above send files, webhooks and pages of their own, uncompressed.
  mounted.use(compressAnswers());
  if (options.consoleFolder !== undefined) {
    mounted.get('/', sendBrowsersToConsole(basePath));
    mounted.use('/console', counted, createConsole({ basePath, folder: options.consoleFolder }));
  }
  mounted.use('/graphql', graphql);
  const introspection = isIntrospected(options);
  const schemaFile = serveSchema({ apiSchema: () => options.federation.apiSchema(), introspection });
  mounted.get('/schema.graphql', counted, schemaFile);
  // The explorer is of no use without introspection.
  if (!options.production && introspection)
    mounted.use(
      '/explorer',
      counted,
      createExplorer({ basePath, trustProxy: options.trustProxy, signsIn: options.explorerSignsIn ?? false }),
    );
  if (options.rest !== undefined) mounted.use(options.rest as RequestHandler);
  mounted.use(countRequests(options.rateLimiter, 'read'));
  app.use(answerNotFound(basePath));
  app.use(answerError(options.logger, basePath, options.styleAt));
  return app;
}

function isHttps(publicUrl: string | null): boolean {
  return publicUrl !== null && publicUrl.startsWith('https:');
}

/** The path prefix of PUBLIC_URL without a trailing slash; empty when it has none. */
function basePathOf(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}
