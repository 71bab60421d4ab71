import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import express, { type Express, type RequestHandler } from 'express';

import type { McpFace } from '../../faces/mcp/face.ts';
import type { ReadinessChecks } from '../../platform/http/readiness.ts';
import { listenOn } from '../../platform/http/server.ts';
import { noMetrics, type Metrics } from '../../platform/metrics/metrics.ts';
import { metricsHandler } from '../../platform/metrics/serve-metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { noTracer, type Tracer } from '../../platform/tracing/tracer.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import { authenticate } from '../authentication/authenticate.ts';
import { type CallerFinder, createCallerFinder } from '../authentication/caller.ts';
import { countRequests } from '../authentication/count-requests.ts';
import { createCredentialGuard } from '../authentication/credential-guard.ts';
import type { CredentialResolver } from '../authentication/credentials.ts';
import { createHotDoor } from '../hot-door/hot-door.ts';
import { createHotGraphql } from '../hot-door/hot-graphql.ts';
import { createQueryLimits, type QueryLimitOptions } from '../limits/query-limits.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { createSlots } from '../limits/slots.ts';
import { compressAnswers, createCompression } from '../request/compression.ts';
import { type Cors, type CorsOrigins, createCors } from '../request/cors.ts';
import { createErrorFormatter } from '../request/errors.ts';
import { createRequestObserver, type ObserveRequest } from '../request/observe-request.ts';
import { createAdmission } from '../transports/admission/admission.ts';
import type { ServedFederation, TransportOptions } from '../transports/admission/transport.ts';
import { createGraphqlRouter, type GraphqlRouter } from '../transports/graphql.ts';
import { createResponseStreams, type ResponseStreams } from '../transports/streams/response-stream.ts';
import { createWebSocketTransport, type WebSocketTransport } from '../transports/websocket/websocket.ts';
import { createConsole, sendBrowsersToConsole } from './console.ts';
import { drain, type DrainOptions } from './drain.ts';
import { createExplorer } from './explorer.ts';
import { createHealth, type Health } from './health.ts';
import { createHttpServer } from './http-server.ts';
import { serveMcp } from './mcp.ts';
import {
  answerError,
  answerNotFound,
  answerThrown,
  mountBelow,
  type Handler,
  requireHttps,
  type StyleAt,
} from './middleware.ts';
import { serveSchema } from './schema-file.ts';
import type { SlowBodyOptions } from './slow-bodies.ts';

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

/** Dependencies and options of the server. */
export interface GatewayServerOptions extends DrainOptions {
  readonly federation: ServedFederation;
  readonly logger: Logger;
  /** Whether the explorer signs in at the sandbox's mini-program platform (default: no). */
  readonly explorerSignsIn?: boolean;
  /** No introspection, no Apollo Sandbox. */
  readonly production: boolean;
  /** Whether callers may ask for the schema (default: not in production). */
  readonly introspection?: boolean | undefined;
  /** Limits of documents other than the usual ones. */
  readonly queryLimits?: Omit<QueryLimitOptions, 'introspection'> | undefined;
  readonly resolveCredential: CredentialResolver;
  readonly trustProxy: readonly string[];
  readonly corsOrigins: CorsOrigins;
  /** Absent when there are no rate limits. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** The documents that callers without a credential may send to /graphql; absent: any. */
  readonly trustedDocuments?: ReadonlySet<string> | undefined;
  /** Root fields of subscriptions that start paid work, and count as starts. */
  readonly paidSubscriptions?: readonly string[];
  /** Root fields of mutations that start no work, and count as writes. */
  readonly writes?: readonly string[];
  /** Root fields of mutations that count as sign-ins. */
  readonly signIns?: readonly string[];
  /** Most open connections, and most open sockets and streams, of one address or caller (default 0: no bound). */
  readonly connectionLimit?: number;
  /** Serves a supergraph that is not Kiln's, whose subgraphs check bearer tokens themselves. */
  readonly isForeign?: boolean;
  /** The slowest body that is read to its end (default 1 kB/s over 20 s). */
  readonly slowBodies?: SlowBodyOptions;
  /** Closes WebSockets without a credential; of a foreign supergraph refuses every operation without one. */
  readonly requiresCredential?: boolean;
  /** Readiness checks of /readyz, by name. */
  readonly readiness: ReadinessChecks;
  /** Requests to /readyz a minute and address (default 600). */
  readonly readyPerMinute?: number | undefined;
  /** What /readyz?verbose tells of providers (default: nothing). */
  readonly providers?: (() => Promise<unknown>) | undefined;
  /** PUBLIC_URL, for its path prefix; null: none. */
  readonly publicUrl: string | null;
  /** Largest uploaded file in bytes. */
  readonly uploadMaxBytes: number;
  /** Largest JSON body or WebSocket message of a GraphQL request, in bytes (default 1,000,000). */
  readonly maxBodyBytes?: number;
  /** The same for callers without a credential (default: no other bound). */
  readonly anonymousBodyBytes?: number | undefined;
  /** Most points of one new document of theirs (default: no bound). */
  readonly anonymousPoints?: number | undefined;
  /** Folder of the built console, which need not exist yet; absent: no console. */
  readonly consoleFolder?: string | undefined;
  /** Serves /files/*; `request.url` begins with `/files/`, without the prefix of PUBLIC_URL. */
  readonly files?: Handler | undefined;
  /** Serves /hooks/{provider}: provider webhooks. */
  readonly hooks?: Handler | undefined;
  /** Of this process (default: none). */
  readonly metrics?: Metrics;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer;
  /** METRICS_KEY, which opens them at /metrics; null: they are not there. */
  readonly metricsKey?: string | null;
  /** Serves /sandbox and below: the sandbox's pages for browsers. */
  readonly sandbox?: Handler | undefined;
  /** Serves /mcp, and the metadata of its clients. */
  readonly mcp?: McpFace | undefined;
  /** The documented REST paths. */
  readonly rest?: Handler | undefined;
  /** The same for requests that need nothing of Express. */
  readonly restHandler?: RestHandler | undefined;
  /** Folders whose requests it serves without Express (default /api). */
  readonly restFolders?: readonly string[];
  /** How paths respond to what fails before their handler (default: as the documented ones). */
  readonly styleAt?: StyleAt | undefined;
  /** Whether plain requests take the short way (default: yes). */
  readonly hotDoor?: boolean;
  /** Milliseconds after which a client that does not read its stream or socket is disconnected (default 30,000). */
  readonly stallMs?: number;
  /** Most bytes that wait for clients that do not read, of HTTP answers and of WebSockets each (default 48,000,000). */
  readonly unreadBytes?: number;
  /** Most open WebSockets, and most open streams, of this process (default 10,000 each). */
  readonly maxSockets?: number;
  /** Milliseconds in which a broken subscription is taken up again, before its client is told (default 30,000). */
  readonly resumeMs?: number;
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
  const whole = createApp({ options, basePath, cors, callers, health, observe, graphql: graphql.router });
  const listener = hotDoorOf({ options, basePath, cors, callers, observe, whole, shared });
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

/** The short way in front of the whole one. */
function hotDoorOf(parts: {
  readonly options: GatewayServerOptions;
  readonly basePath: string;
  readonly cors: Cors;
  readonly callers: CallerFinder;
  readonly observe: ObserveRequest;
  readonly whole: RequestListener;
  readonly shared: TransportOptions;
}): RequestListener {
  const { options, basePath, shared, ...rest } = parts;
  if (options.hotDoor === false) return parts.whole;
  const { logger, rateLimiter } = options;
  const compression = createCompression();
  return createHotDoor({
    ...rest,
    basePath,
    isHttps: isHttps(options.publicUrl),
    requiresCredential: options.isForeign === true && options.requiresCredential === true,
    serveOperation: createHotGraphql({ ...shared, rateLimiter, compression }),
    compression,
    rest: options.restHandler,
    restFolders: options.restFolders ?? ['/api'],
    failed: (thrown, request, response) =>
      answerThrown(thrown, {
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

/** Mounts what sends its own kind of answer: files, webhooks, streams, pages of the sandbox. */
function mountOwn(mounted: express.Router, options: GatewayServerOptions, counted: RequestHandler): void {
  for (const [folder, handler] of [
    ['/files', options.files],
    ['/hooks', options.hooks],
  ] as const) {
    if (handler !== undefined) mounted.use(mountBelow(folder, counted), mountBelow(folder, handler));
  }
  if (options.mcp !== undefined) mounted.use(serveMcp(options.mcp));
  if (options.sandbox !== undefined) mounted.use(mountBelow('/sandbox', options.sandbox));
}

function isHttps(publicUrl: string | null): boolean {
  return publicUrl !== null && publicUrl.startsWith('https:');
}

/** The path prefix of PUBLIC_URL without a trailing slash; empty when it has none. */
function basePathOf(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}
