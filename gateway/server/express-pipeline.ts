import type { RequestListener } from 'node:http';

import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { type GraphQLSchema, printSchema } from 'graphql';

import type { McpFace } from '../../faces/mcp/face.ts';
import type { Caller } from '../../platform/access/caller.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { metricsHandler } from '../../platform/metrics/serve-metrics.ts';
import { once } from '../../platform/once.ts';
import { countRequests } from '../authentication/authenticate.ts';
import { hasCredential } from '../authentication/caller.ts';
import { serveCells } from '../cells/cell-links.ts';
import type { Compression } from '../request/compression.ts';
import { requireContext } from '../request/request-context.ts';
import type { Step } from '../request/steps.ts';
import { createConsole, sendBrowsersToConsole } from './console.ts';
import type { ExplorerOptions } from './explorer-page.ts';
import type { Health } from './health.ts';
import { answerError, answerNotFound, mountBelow } from './middleware.ts';
import type { GatewayServerOptions } from './server-options.ts';

/** What both ways of a request are made with. */
export interface Served {
  readonly options: GatewayServerOptions;
  readonly basePath: string;
  /** What every request of callers goes through first. */
  readonly enter: Step;
  readonly compression: Compression;
}

/** The Express pipeline: everything that is served, mounted in reading order. */
export function createExpressPipeline(
  parts: Served & { readonly health: Health; readonly graphql: RequestHandler },
): RequestListener {
  const { options, basePath, enter, compression, health, graphql } = parts;
  const { metrics = noMetrics, metricsKey = null, logger } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(health.router);
  app.use('/metrics', metricsHandler(metrics, { key: metricsKey, logger }));
  const mounted = Router();
  app.use(basePath === '' ? '/' : basePath, mounted);
  if (basePath !== '') mounted.use(health.router);
  mounted.use(asMiddleware(enter));
  const counted = countRequests(options.rateLimiter, 'status');
  mountOwn(mounted, options, counted);
  // Handlers mounted above send files, webhooks and pages of their own, uncompressed.
  mounted.use(asMiddleware(compression.beforeHead));
  if (options.consoleFolder !== undefined) {
    mounted.get('/', sendBrowsersToConsole(basePath));
    const fileOrigins = [...(options.cells?.cells.urls.values() ?? [])].map((url) => new URL(url).origin);
    const console = { basePath, folder: options.consoleFolder, fileOrigins };
    mounted.use('/console', counted, createConsole(console));
  }
  // Only this path: authentication for /graphql does not cover paths below it.
  mounted.use('/graphql', (request, response, next) =>
    request.path === '/' ? graphql(request, response, next) : next(),
  );
  const introspection = isIntrospected(options);
  mounted.get('/schema.graphql', counted, serveSchema(options));
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

function asMiddleware(step: Step): RequestHandler {
  return async (request, response, next) => {
    if (await step({ request, response, path: request.path })) next();
  };
}

/** Whether callers may ask for the schema. */
export function isIntrospected({ introspection, production }: GatewayServerOptions): boolean {
  return introspection ?? !production;
}

/** Where clients of MCP look for the metadata of RFC 9728: the resource's own path comes after the well-known one. */
const METADATA = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];

/** The paths of the MCP face. Its answers are not compressed: some are streams. */
function serveMcp({ serve, serveMetadata }: McpFace): RequestHandler {
  const router = Router();
  if (serveMetadata !== null) router.get(METADATA, (_request, response) => serveMetadata(response));
  router.all('/mcp', (request, response) => serve(request, response));
  return router;
}

/** Mounts what sends its own kind of answer: files, webhooks, streams, pages of the sandbox. */
function mountOwn(mounted: Router, options: GatewayServerOptions, counted: RequestHandler): void {
  for (const [folder, handler] of [
    ['/files', options.files],
    ['/hooks', options.hooks],
  ] as const) {
    if (handler !== undefined) mounted.use(mountBelow(folder, counted), mountBelow(folder, handler));
  }
  if (options.mcp !== undefined) mounted.use(serveMcp(options.mcp));
  mounted.use(serveCells(options.cells, counted));
  if (options.sandbox !== undefined) mounted.use(mountBelow('/sandbox', options.sandbox));
}

/** Whether nobody may use /graphql without a credential: with a graph of Kiln's its subgraphs decide. */
export function refusesStrangers({ isForeign, requiresCredential }: GatewayServerOptions): boolean {
  return isForeign === true && requiresCredential === true;
}

/** Whether a caller may read the schema: whoever may use /graphql where introspection is on, else known callers. */
function mayReadSchema(caller: Caller, options: GatewayServerOptions): boolean {
  if (!isIntrospected(options)) return caller.kind !== 'anonymous';
  return hasCredential(caller) || !refusesStrangers(options);
}

/** Serves the schema that callers see as SDL, with descriptions, for code generators. */
function serveSchema(options: GatewayServerOptions): RequestHandler {
  let printed: { readonly schema: GraphQLSchema; readonly sdl: string } | null = null;
  return (request: Request, response: Response) => {
    if (!mayReadSchema(requireContext(request).caller, options)) {
      response.status(401).set('WWW-Authenticate', 'Bearer').type('text/plain');
      response.send(
        'the schema needs a credential: send Authorization: Bearer with a token or a service key\n',
      );
      return;
    }
    const schema = options.federation.apiSchema();
    if (printed?.schema !== schema) printed = { schema, sdl: `${printSchema(schema)}\n` };
    response.type('text/plain').set('Cache-Control', 'no-cache').send(printed.sdl);
  };
}

/** Makes the handler to mount at `/explorer`. Altair is loaded when the explorer is first opened. */
function createExplorer(options: ExplorerOptions): RequestHandler {
  const explorer = once(async () => (await import('./explorer-page.ts')).createExplorerPage(options));
  return async (request, response, next) => {
    const router = await explorer();
    router(request, response, next);
  };
}
