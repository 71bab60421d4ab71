import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AuthMode } from '../../platform/access/policy.ts';
import type { AppError } from '../../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { RateClass } from '../../rest-compat/route/route.ts';
import type { RequestLimiter } from '../shared/rate-limits.ts';
import { createMcpEndpoint } from './protocol/endpoint.ts';
import { createOriginRule, type Origins, sendRpcError } from './protocol/exchange.ts';
import { createListen } from './protocol/listen.ts';
import { createMcpServer } from './server.ts';
import { toolNamed } from './tools/all.ts';
import { createCatalogReader } from './work/catalog.ts';
import type { ReadFile } from './work/results.ts';
import { watchTask } from './work/tasks.ts';

/** The MCP face: `POST /mcp`, and where its clients find out who signs them in. */

export interface McpFaceOptions {
  readonly executor: GraphqlExecutor;
  /** The caller of a request, and a signal that is aborted when the caller disconnects. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits. */
  readonly rates?: RequestLimiter | undefined;
  readonly readFile: ReadFile;
  /** Aborted when nothing waits any more, because the server stops. */
  readonly stopping: AbortSignal;
  readonly settings: McpSettings;
  readonly logger: Logger;
}

/** Settings of the face. */
interface McpSettings {
  /** PUBLIC_URL, without a trailing slash. */
  readonly publicUrl: string;
  readonly version: string;
  readonly authMode: AuthMode;
  /** The identity provider whose access tokens are taken (IDP_JWKS); null: service keys and Kiln's own tokens alone. */
  readonly issuer: string | null;
  readonly corsOrigins: Origins;
  /** TASK_RETENTION_DAYS; 0: forever. */
  readonly taskRetentionDays: number;
}

/** The handlers of the face. */
export interface McpFace {
  /** Serves /mcp. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Refuses a request whose credential is not taken. */
  readonly refuse: (response: ServerResponse, error: AppError) => void;
  /** Serves the metadata of RFC 9728; null where nobody but Kiln signs in: some clients then leave out their key. */
  readonly serveMetadata: ((response: ServerResponse) => void) | null;
  /** Ends what is open. */
  readonly close: () => Promise<void>;
}

/** Where clients look for the metadata; the resource's own path may come after it. */
const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Makes the face. */
export function createMcpFace(options: McpFaceOptions): McpFace {
  const { settings, executor, stopping, readFile, rates, logger, contextFor } = options;
  const taskOptions = { readFile, retentionDays: settings.taskRetentionDays };
  const serverOptions = {
    ...taskOptions,
    executor,
    stopping,
    rates,
    logger,
    version: settings.version,
    readCatalog: createCatalogReader(),
  };
  const endpoint = createMcpEndpoint({
    url: `${settings.publicUrl}/mcp`,
    serverFor: (exchange, isModern) => createMcpServer(serverOptions, exchange, isModern),
    findRateClass,
    rates,
    listen: createListen({
      follow: (id, { context }, stop) => watchTask({ executor, context }, { id, stop }, taskOptions),
      stopping,
    }),
    allowsOrigin: createOriginRule(settings.corsOrigins, settings.publicUrl),
    logger,
  });
  return {
    async serve(request, response) {
      const context = contextFor(request);
      if (settings.authMode === 'required' && context.caller.kind === 'anonymous') {
        return challenge(settings, response, 'send Authorization: Bearer with a service key or a token');
      }
      await endpoint.serve({ request, response, context });
    },
    refuse(response, { code, message, retryAfter }) {
      if (code === 'UNAUTHENTICATED') return challenge(settings, response, message, 'invalid_token');
      if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
      sendRpcError(response, code === 'RATE_LIMITED' ? 429 : 503, { code: -31_000, message });
    },
    serveMetadata: createMetadataHandler(settings),
    close: () => endpoint.close(),
  };
}

/** What a request counts as: tools say it themselves. */
function findRateClass(message: unknown): RateClass {
  const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown };
  const { name } = Object(params) as { readonly name?: unknown };
  if (method === 'tools/call') return toolNamed(name)?.rateClass ?? 'read';
  if (method === 'tasks/cancel') return 'write';
  return method === 'tasks/get' ? 'status' : 'read';
}

/** Answers 401; where an identity provider signs agents in, with the address where a client finds out. */
function challenge(
  { publicUrl, issuer }: McpSettings,
  response: ServerResponse,
  message: string,
  error?: 'invalid_token',
): void {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(issuer === null ? [] : [`resource_metadata="${publicUrl}${METADATA_PATH}/mcp"`]),
  ];
  response.setHeader('WWW-Authenticate', ['Bearer', parts.join(', ')].join(' ').trimEnd());
  sendRpcError(response, 401, { code: -31_000, message, data: { code: 'UNAUTHENTICATED' } });
}

function createMetadataHandler({ publicUrl, issuer }: McpSettings): McpFace['serveMetadata'] {
  if (issuer === null) return null;
  const text = JSON.stringify({
    resource: `${publicUrl}/mcp`,
    resource_name: 'Kiln',
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    resource_documentation: `${publicUrl}/docs`,
  });
  return (response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'public, max-age=300',
    });
    response.end(text);
  };
}
