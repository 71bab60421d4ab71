import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { GraphQLSchema } from 'graphql';

import { COMFY_PREFIX } from '../../faces/comfy/call.ts';
import { createComfyFace, validateComfyFace } from '../../faces/comfy/face.ts';
import { comfyStyle } from '../../faces/comfy/failures.ts';
import type { McpFace } from '../../faces/mcp/face.ts';
import { openaiStyle } from '../../faces/openai/answers/failures.ts';
import { createBatchStore } from '../../faces/openai/batch-store/store.ts';
import { eventPublisher } from '../../faces/openai/batches/publish-event.ts';
import { createOpenaiFace } from '../../faces/openai/face.ts';
import { validateFace } from '../../faces/openai/routes.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Database } from '../../platform/database/database.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { HttpFailure } from '../../platform/http/http-client.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Section } from '../../rest-compat/route/route.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import { responseStyleAt, sections, validateRoutes } from '../../rest-compat/tables.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { requireContext } from '../request/request-context.ts';
import type { ReservedPort } from './port.ts';

/** Answers a request for a file. */
export type ServeFile = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What the face is composed of. */
export interface FaceOptions {
  readonly publicUrl: string;
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
  /** With the schema "gateway"; absent: there are no batches. */
  readonly database?: Database | undefined;
  /** To the subgraphs; events go to `media`, where that is Kiln's own. */
  readonly links: Readonly<Record<string, SubgraphLink>>;
  readonly files?: ServeFile | undefined;
  /** Opens a file by the path and query of its address. */
  readonly openFile?: ((address: string) => Promise<Readable | null>) | undefined;
}

type Faces = ReturnType<typeof composeFaces>;

/** Makes those that are on. */
export function composeFaces(parts: ProcessParts, options: FaceOptions) {
  return { openai: composeOpenaiFace(parts, options), comfy: composeComfyFace(parts, options) };
}

/** OpenAI's API, where it is on and the schema has what it asks for; a foreign supergraph may not. */
function composeOpenaiFace(
  { config, logger, lifecycle }: ProcessParts,
  { publicUrl, federation, links, rateLimiter, stopping, files, openFile, database }: FaceOptions,
): RestHandler | undefined {
  const settings = config.openaiFace;
  if (settings === null || files === undefined || openFile === undefined) return undefined;
  if (config.split.isOtherGraph && validateFace(federation.apiSchema()).length > 0) return undefined;
  const { batchConcurrency, ...others } = settings;
  const face = createOpenaiFace({
    batchStore: database === undefined ? null : createBatchStore(database),
    batchConcurrency,
    executor: forRest(federation),
    publishEvent: links['media'] && eventPublisher(links['media']),
    contextFor: requireContext,
    rateLimiter,
    openFile,
    serveFile: files,
    settings: {
      ...others,
      authMode: config.auth.mode,
      publicUrl,
      uploadMaxBytes: config.limits.uploadMaxBytes,
    },
    stopping,
    logger,
  });
  const runner = face.runBatches();
  if (runner !== null) lifecycle.add('batches', () => runner.stop());
  return face;
}

/** Comfy's API v2, where it is on and the schema has what it asks for. */
function composeComfyFace(
  { config, logger }: ProcessParts,
  { publicUrl, federation, rateLimiter, stopping, files, openFile }: FaceOptions,
): RestHandler | undefined {
  if (!config.comfyApi || files === undefined || openFile === undefined) return undefined;
  if (config.split.isOtherGraph && validateComfyFace(federation.apiSchema()).length > 0) return undefined;
  const { urlTtlSeconds, taskRetentionDays } = config.files;
  const { uploadMaxBytes } = config.limits;
  return createComfyFace({
    executor: forRest(federation),
    contextFor: requireContext,
    rateLimiter,
    serveFile: files,
    openFile,
    settings: { publicUrl, uploadMaxBytes, urlTtlSeconds, taskRetentionDays },
    stopping,
    logger,
  });
}

/** What the MCP face works with. */
export interface McpParts {
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
  readonly publicUrl: string;
  readonly reserved: ReservedPort;
}

/** Milliseconds for a thumbnail, which may have to be made first. */
const FILE_TIMEOUT_MS = 10_000;

/** Makes the MCP face, where it is on and the supergraph is Kiln's. Its SDK is loaded only then. */
export async function composeMcp(parts: ProcessParts, options: McpParts): Promise<McpFace | undefined> {
  const { config, logger } = parts;
  const { federation, rateLimiter, stopping, publicUrl } = options;
  const { provider } = config.signIn;
  if (!config.mcp.on || config.split.isOtherGraph) return undefined;
  const { createMcpFace } = await import('../../faces/mcp/face.ts');
  return createMcpFace({
    executor: forRest(federation),
    contextFor: requireContext,
    rates: rateLimiter,
    readFile: createFileReader(parts, options),
    stopping,
    settings: {
      publicUrl,
      version: packageJson.version,
      authMode: config.auth.mode,
      issuer: provider?.jwks == null ? null : provider.issuer,
      corsOrigins: config.server.corsOrigins,
      taskRetentionDays: config.files.taskRetentionDays,
    },
    logger: logger.part('gateway'),
  });
}

/** Reads files through this server's own port: PUBLIC_URL may be known to others alone. */
function createFileReader({ config, logger, lifecycle }: ProcessParts, { publicUrl, reserved }: McpParts) {
  const { host } = config.server;
  const isAnywhere = host === '0.0.0.0' || host === '::';
  const own = `http://${isAnywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${reserved.port}`;
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  lifecycle.add('files for MCP', () => http.close());
  return async (url: string, maxBytes: number) => {
    if (!url.startsWith(`${publicUrl}/`)) return null;
    const address = `${own}${new URL(url).pathname}${new URL(url).search}`;
    try {
      const { status, headers, body } = await http.request({
        method: 'GET',
        url: address,
        timeoutMs: FILE_TIMEOUT_MS,
        maxBytes,
        trustedOrigins: [own],
      });
      if (status !== 200) return null;
      return { bytes: body, contentType: headers['content-type'] ?? 'application/octet-stream' };
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      // The answer has a link in any case.
      logger.debug({ error }, 'a file could not be read for an MCP answer');
      return null;
    }
  };
}

/** Where the faces are: their requests take the fast path, and what fails before them is answered in their words. */
export function locateFaces({ openaiFace }: ProcessParts['config'], { openai, comfy }: Faces) {
  const prefix = openai === undefined || openaiFace === null ? null : openaiFace.prefix;
  const styleAt = (path: string) => {
    if (prefix !== null && path.startsWith(`${prefix}/`)) return openaiStyle;
    return comfy !== undefined && path.startsWith(`${COMFY_PREFIX}/`) ? comfyStyle : responseStyleAt(path);
  };
  return { restFolders: ['/api', ...(prefix === null ? [] : [prefix])], styleAt };
}

/** The REST sections of the services whose documents all fit a foreign supergraph; says of the others what does not. */
export function sectionsThatFit(schema: GraphQLSchema, logger: Logger): readonly Section[] {
  return (['media', 'workflow'] as const).flatMap((service) => {
    const own = sections.filter((section) => section.service === service);
    const problems = validateRoutes(schema, own);
    if (problems.length === 0) return own;
    logger.warn(
      { service, problems: problems.slice(0, 3), more: Math.max(0, problems.length - 3) },
      'REST is off: its documents do not fit this supergraph',
    );
    return [];
  });
}

/** The same executor, for the REST paths. */
export function forRest(executor: GraphqlExecutor): GraphqlExecutor {
  return {
    execute: (request) => executor.execute({ ...request, transport: 'rest' }),
    subscribe: (request) => executor.subscribe({ ...request, transport: 'rest' }),
  };
}
