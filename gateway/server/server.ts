import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { listenOn } from '../../platform/http/server.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { noTracer } from '../../platform/tracing/span.ts';
import { authenticate } from '../authentication/authenticate.ts';
import { type CallerFinder, createCallerFinder } from '../authentication/caller.ts';
import { createCredentialGuard } from '../authentication/credential-guard.ts';
import { createQueryLimits } from '../limits/query-limits.ts';
import { createSlots } from '../limits/slots.ts';
import { type Compression, createCompression } from '../request/compression.ts';
import { type Cors, createCors } from '../request/cors.ts';
import { createErrorFormatter } from '../request/errors.ts';
import { createRequestObserver } from '../request/observe-request.ts';
import { inOrder } from '../request/steps.ts';
import { createAdmission } from '../transports/admission/admission.ts';
import type { TransportOptions } from '../transports/admission/transport.ts';
import { createGraphqlRouter } from '../transports/graphql.ts';
import { createHttpOperations, type HttpOperations } from '../transports/http-operations.ts';
import { createPartSender } from '../transports/streams/incremental.ts';
import { createMultipartTransport } from '../transports/streams/multipart.ts';
import { createResponseStreams } from '../transports/streams/response-stream.ts';
import { createWebSocketTransport } from '../transports/websocket/websocket.ts';
import { createExpressPipeline, isIntrospected, refusesStrangers, type Served } from './express-pipeline.ts';
import { createFastPath } from './fast-path.ts';
import { createHealth } from './health.ts';
import { drain, createHttpServer } from './http-server.ts';
import { sendError } from './middleware.ts';
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
  const basePath = readBasePath(options.publicUrl);
  const callers = createCallerFinder(options);
  const cors = createCors({ origins: options.corsOrigins });
  const health = createHealth({ ...options, callers, checks: options.readiness });
  const compression = createCompression();
  const { streams, sockets, graphql, operations } = createTransports({
    options,
    basePath,
    callers,
    cors,
    compression,
  });
  const { cells } = options;
  const enter = inOrder(
    cors.step,
    ...(cells === undefined ? [] : [cells.steps.first]),
    authenticate({
      ...authenticationOptions(options, callers),
      reserveStream: (...asked) => streams.reserve(...asked),
    }),
    ...(cells === undefined ? [] : [cells.steps.whenKnown]),
  );
  const served = { options, basePath, enter, compression };
  const express = createExpressPipeline({ ...served, health, graphql: graphql.router });
  const serve =
    options.fastPath === false ? express : createPlainListener({ ...served, express, operations });
  const httpServer = createHttpServer(observed(serve, options), options);
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

/** What all requests begin with: the trace, log and figures of each, and that browsers use https alone for a year. */
function observed(serve: RequestListener, options: GatewayServerOptions): RequestListener {
  const { logger, metrics = noMetrics, tracer = noTracer } = options;
  const observe = createRequestObserver({ logger, metrics, tracer });
  const isHttps = options.publicUrl?.startsWith('https:') === true;
  return (request, response) =>
    observe(request, response, () => {
      if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
      serve(request, response);
    });
}

function authenticationOptions(options: GatewayServerOptions, callers: CallerFinder) {
  const { rateLimiter, mcp } = options;
  return {
    callers,
    rateLimiter,
    refuseMcp: mcp?.refuse,
    requiresCredential: refusesStrangers(options),
  };
}

function transportOptions(options: GatewayServerOptions): TransportOptions & { readonly stallMs?: number } {
  const { federation, logger, production, rateLimiter } = options;
  return {
    federation,
    logger,
    expand: options.persisted?.expand,
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
      findRefusal: options.persisted?.findRefusal,
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
  readonly compression: Compression;
}) {
  const { options, basePath, callers, cors, compression } = parts;
  const { logger, production, rateLimiter, maxBodyBytes = 1_000_000 } = options;
  const introspection = isIntrospected(options);
  const shared = transportOptions(options);
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
    elsewhere: options.cells?.elsewhere,
    maxMessageBytes: maxBodyBytes,
    anonymousMessageBytes: options.anonymousBodyBytes,
    maxSockets,
    unreadBytes,
    opening: options.opening,
  });
  const { uploadMaxBytes } = options;
  const multipart = createMultipartTransport({ ...shared, streams });
  const reserveParts = createPartSender({ ...shared, streams });
  const operations = createHttpOperations({ ...shared, rateLimiter, compression, multipart, reserveParts });
  const graphql = createGraphqlRouter({
    ...shared,
    streams,
    operations,
    apolloOnly: options.fastPath === false,
    cors,
    basePath,
    production,
    introspection,
    hasSandbox: options.sandbox !== undefined,
    maxBodyBytes,
    maxBatch: options.maxBatch,
    anonymousBodyBytes: options.anonymousBodyBytes ?? maxBodyBytes,
    uploadMaxBytes,
  });
  return { streams, sockets, graphql, operations };
}

/** Largest body that is read before it is known who serves its request. */
const PLAIN_BODY_BYTES = 64 * 1024;

/** The fast path in front of the Express pipeline. */
function createPlainListener({
  options,
  ...served
}: Served & { readonly express: RequestListener; readonly operations: HttpOperations }): RequestListener {
  const { basePath } = served;
  const { logger, styleAt, maxBodyBytes = Infinity, anonymousBodyBytes = Infinity } = options;
  return createFastPath({
    ...served,
    maxBodyBytes: Math.min(PLAIN_BODY_BYTES, maxBodyBytes, anonymousBodyBytes),
    rest: options.restHandler,
    restFolders: options.restFolders ?? ['/api'],
    failed: (thrown, request, response) =>
      sendError(thrown, { request, response, path: request.url ?? '/', logger, basePath, styleAt }),
  });
}

/** The path prefix of PUBLIC_URL without a trailing slash; empty when it has none. */
function readBasePath(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}
