import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import express, { type Express, type RequestHandler } from 'express';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import { createUploadMiddleware } from '../uploads/uploads.ts';
import {
  createSubgraphEntryPoint,
  type SubgraphEntryPoint,
  type SubgraphEntryPointOptions,
} from './entry-point.ts';
import { createErrorHandler, createGraphqlHandler } from './http.ts';
import { attachWebSocket } from './websocket.ts';

/**
 * A subgraph in a process of its own: a plain federated subgraph (`_service`, `_entities`) that any federation router
 * can use. Serves GraphQL over HTTP and graphql-ws at /graphql, the health paths, and `extraRoutes`.
 */

export interface SubgraphServerOptions extends SubgraphEntryPointOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly uploadMaxBytes: number;
  /** Throws while the subgraph can't answer (its database is away); then /readyz answers 503. */
  readonly readiness: () => Promise<void>;
  /** Mounts further routes, before the error handler. */
  readonly extraRoutes?: (app: Express) => void;
}

/** A listening subgraph. */
export interface SubgraphServer {
  /** The GraphQL URL, with the actual port. */
  readonly url: string;
  /** Refuses new requests, ends subscriptions, lets running requests finish for 5 seconds. */
  close(): Promise<void>;
}

const PATH = '/graphql';
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const CLOSE_GRACE_MS = 5_000;
/** Longer than our clients keep idle connections, so that none is closed under a request. */
const KEEP_ALIVE_MS = 65_000;

/** Starts serving a subgraph; rejects when the address is not available. */
export async function createSubgraphServer(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const entryPoint = createSubgraphEntryPoint(options);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, createApp(entryPoint, options));
  await listen(server, options);
  const sockets = attachWebSocket(server, PATH, entryPoint);
  let closing: Promise<void> | undefined;
  return {
    url: `http://${hostInUrl(options.host)}:${(server.address() as AddressInfo).port}${PATH}`,
    close: () => (closing ??= stop({ server, sockets, entryPoint })),
  };
}

async function stop(parts: {
  server: Server;
  sockets: { close(): Promise<void> };
  entryPoint: SubgraphEntryPoint;
}) {
  const { server, sockets, entryPoint } = parts;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await sockets.close();
  server.closeIdleConnections();
  await closed;
  clearTimeout(cut);
  await entryPoint.link.close();
}

function createApp(entryPoint: SubgraphEntryPoint, options: SubgraphServerOptions): Express {
  const { uploadMaxBytes, readiness, extraRoutes, logger } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', createReadyHandler(readiness, logger));
  app.post(
    PATH,
    createUploadMiddleware({ maxFileSize: uploadMaxBytes }),
    express.json({ limit: MAX_BODY_BYTES }),
    createGraphqlHandler(entryPoint),
  );
  extraRoutes?.(app);
  app.use(createErrorHandler(logger));
  return app;
}

function createReadyHandler(readiness: () => Promise<void>, logger: Logger): RequestHandler {
  return async (_request, response) => {
    try {
      await readiness();
      response.json({ status: 'ready' });
    } catch (thrown) {
      logger.warn({ error: toError(thrown) }, 'not ready');
      response.status(503).json({ status: 'not ready' });
    }
  };
}

function listen(server: Server, { host, port }: SubgraphServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
