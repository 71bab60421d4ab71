import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { PAID_SUBSCRIPTIONS, SIGN_INS, WRITES } from '../../platform/access/root-field-rates.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ReadinessChecks } from '../../platform/http/readiness.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import { type BootstrapKey, createCredentialResolver } from '../authentication/credentials.ts';
import { createTokenVerifier } from '../authentication/jwt.ts';
import { type CellLinks, createCellLinks } from '../cells/cell-links.ts';
import { readCellsFile } from '../cells/cells-file.ts';
import type { GatewayFile } from '../configuration/gateway-file.schema.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import { createReplaceableFederation, type Graph } from '../federation/replaceable.ts';
import { createRateLimiter } from '../limits/rate-limit.ts';
import type { SharedCounts } from '../limits/shared-counts.ts';
import type { Handler } from '../server/middleware.ts';
import { createGatewayServer, type GatewayServer } from '../server/server.ts';
import type { ServeFile } from './faces.ts';
import { type OpenedGraph, prepareFederations } from './federations.ts';
import { openPersisted } from './other-graph/operation-rules.ts';
import type { ReservedPort } from './port.ts';
import { createProviderReader } from './provider-readiness.ts';
import { composeRestHandlers } from './rest-handlers.ts';
import { readTrustedDocuments } from './trusted-documents.ts';

/** Where `npm run console` puts the built console. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../console/dist', import.meta.url));

/** Options of the public server besides the settings. */
export interface PublicServerOptions extends OpenedGraph {
  readonly serviceKeys: readonly BootstrapKey[];
  readonly publicUrl: string;
  readonly reserved: ReservedPort;
  /** Of this process. */
  readonly metrics: Metrics;
  /** Of this process. */
  readonly tracer: Tracer;
  readonly readiness: ReadinessChecks;
  /** Shared rate counters of several gateways; absent: this process counts by itself. */
  readonly sharedCounts?: SharedCounts | undefined;
  readonly files?: ServeFile | undefined;
  /** Opens a file by the path and query of its address. */
  readonly openFile?: ((address: string) => Promise<Readable | null>) | undefined;
  readonly hooks?: Handler | undefined;
  readonly sandbox?: Handler | undefined;
  /** With the schema "gateway"; absent: answers of existing services are not stored. */
  readonly database?: Database | undefined;
}

/** The listening public server and its federation. */
export interface PublicServer {
  readonly url: string;
  readonly server: GatewayServer;
  readonly federation: FederatedExecutor;
  /** Makes the federation of another graph, beside the one that serves. Throws when it can't be served. */
  openGraph(files: OpenedGraph): Promise<Graph>;
  /** Serves it instead; only where the graph is not Kiln's own. */
  replaceGraph(graph: Graph): { readonly kept: number; readonly ended: number };
}

/** Builds the federation and the public server, and listens. REST is mounted when its documents fit the schema. */
export async function startPublicServer(
  parts: ProcessParts,
  options: PublicServerOptions,
): Promise<PublicServer> {
  const { config, lifecycle } = parts;
  const logger = parts.logger.part('gateway');
  const { isForeign, hasMedia, lookup, openGraph } = prepareFederations(parts, options, logger);
  const first = await openGraph(options);
  const replaceable = isForeign ? createReplaceableFederation(first) : null;
  const federation = replaceable ?? first.federation;
  lifecycle.add('federation', () => federation.close());
  const rateLimiter = await composeRateLimiter(parts, options);
  const waits = new AbortController();
  const shared = { federation, rateLimiter, stopping: waits.signal };
  const cells = composeCells(parts);
  const handlers = await composeRestHandlers(parts, options, shared);
  const server = await createGatewayServer({
    federation,
    logger,
    production: config.production,
    resolveCredential: createCredentialResolver({
      ...credentialOptions(config),
      serviceKeys: options.serviceKeys,
      lookup: cells?.lookup ?? lookup,
    }),
    isForeign,
    persisted: await openPersisted(parts, options.file ?? {}, federation),
    verifyToken: createVerifier(parts, options.file),
    trustProxy: config.server.trustProxy,
    corsOrigins: config.server.corsOrigins,
    rateLimiter,
    trustedDocuments: await readTrustedDocuments(config.limits.trustedDocumentsFile, hasMedia),
    trustedOnly: config.limits.trustedDocumentsFile !== null,
    requiresCredential: config.auth.mode === 'required',
    ...(hasMedia && COUNTED),
    readiness: options.readiness,
    providers: hasMedia ? createProviderReader(federation) : undefined,
    publicUrl: options.publicUrl,
    metrics: options.metrics,
    tracer: options.tracer,
    metricsKey: config.metrics.key,
    ...requestBounds(config, options.file),
    // The console is of Kiln's graph alone.
    consoleFolder: hasMedia ? CONSOLE_FOLDER : undefined,
    cells,
    ...serverHandlers(options),
    explorerSignsIn: options.sandbox !== undefined && config.signIn.wechat === null,
    ...handlers,
    ...createStop(config, waits),
  });
  // Added last, so stopped first: no new requests while the rest stops.
  lifecycle.add('gateway', () => server.close(), createStop(config, waits).longestMs);
  const { url } = await server.listen(config.server.host, options.reserved.port, options.reserved.holder);
  const replaceGraph: PublicServer['replaceGraph'] = (graph) => {
    if (replaceable === null) throw new Error('the graph of Kiln is replaced by no other');
    return replaceable.replace(graph);
  };
  return { url, server, federation, openGraph, replaceGraph };
}

/** Root fields of Kiln's own subgraphs that are counted in classes of their own. */
const COUNTED = { paidSubscriptions: PAID_SUBSCRIPTIONS, writes: WRITES, signIns: SIGN_INS };

/** Largest GraphQL request of callers without a credential, where anybody on the internet is one. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;

function serverHandlers({ files, hooks, sandbox }: PublicServerOptions) {
  return { files, hooks, sandbox };
}

/** Whose credentials are taken. */
function credentialOptions({ split, signIn }: ProcessParts['config']) {
  const { provider, legacyTokens } = signIn;
  const agents = provider?.jwks == null ? undefined : provider.issuer;
  const issuers = [legacyTokens?.issuer, agents].filter((issuer) => issuer !== undefined);
  return { isForeign: split.isOtherGraph, issuers };
}

/** Verifies tokens of the issuers that the configuration file names; undefined where it names none. */
function createVerifier({ lifecycle, logger }: ProcessParts, file: GatewayFile | undefined) {
  if (file?.authentication === undefined) return undefined;
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  lifecycle.add('keys of issuers', () => http.close());
  return createTokenVerifier(file.authentication.issuers, http);
}

/** Limits and introspection of the configuration file. */
function fileLimits({ limits = {}, introspection }: GatewayFile = {}) {
  const { depth, aliases, tokens, rootFields, cost, bodyBytes } = limits;
  const changed = {
    maxDepth: depth,
    maxAliases: aliases,
    maxTokens: tokens,
    maxRootFields: rootFields,
    maxCost: cost,
  };
  const queryLimits = Object.fromEntries(Object.entries(changed).filter(([, limit]) => limit !== undefined));
  return {
    introspection,
    queryLimits,
    maxBatch: limits.batch,
    ...(bodyBytes !== undefined && { maxBodyBytes: bodyBytes }),
  };
}

/** How much callers may have open, send and leave unread. */
function requestBounds({ limits, auth }: ProcessParts['config'], file: GatewayFile | undefined) {
  return {
    ...fileLimits(file),
    anonymousBodyBytes: auth.mode === 'open' ? undefined : ANONYMOUS_BODY_BYTES,
    anonymousPoints: auth.mode === 'open' ? undefined : limits.anonymousPoints,
    connectionLimit: limits.connections,
    maxSockets: limits.sockets,
    unreadBytes: limits.unreadBytes,
    uploadMaxBytes: limits.uploadMaxBytes,
  };
}

/** How long the server may take to stop. */
function createStop({ stopping }: ProcessParts['config'], waits: AbortController) {
  const stillServeMs = stopping.drainSeconds * 1_000;
  const drainMs = stopping.requestGraceSeconds * 1_000;
  return { endWaits: () => waits.abort(), stillServeMs, drainMs, longestMs: stillServeMs + drainMs + 15_000 };
}

async function composeRateLimiter(
  { config, logger, lifecycle }: ProcessParts,
  { sharedCounts }: PublicServerOptions,
) {
  const { rate, callerRates, countsUrl } = config.limits;
  if (rate === null) return undefined;
  // Loaded only when needed.
  const redis =
    countsUrl === null
      ? undefined
      : (await import('../limits/redis/redis-counts.ts')).openRedisCounts({ url: countsUrl, logger });
  if (redis !== undefined) lifecycle.add('shared rate counts', async () => redis.close());
  return createRateLimiter(rate, { callers: callerRates, shared: sharedCounts, redis });
}

/** The checked-in supergraph, composed by `npm run schema`. */
export function checkedInSupergraph(): Promise<string> {
  return readFile(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');
}

/** The links to the other cells that CELLS_FILE names; undefined without one. */
function composeCells({ config, logger, lifecycle }: ProcessParts): CellLinks | undefined {
  const { own, file } = config.cells;
  if (file === null) return undefined;
  const links = createCellLinks({
    cells: readCellsFile(file, own),
    logger: logger.part('gateway'),
    isOpen: config.auth.mode === 'open',
  });
  lifecycle.add('links to other cells', () => links.close());
  return links;
}
