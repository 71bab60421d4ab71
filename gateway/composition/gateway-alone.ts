import { readFile } from 'node:fs/promises';

import { publicUrlOf } from '../../platform/config/config.ts';
import type { Database } from '../../platform/database/database.ts';
import { type CallerSigner, createCallerSigner } from '../../platform/graphql/links/caller-assertion.ts';
import { createRemoteLink } from '../../platform/graphql/links/remote-link.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { createEndpoints, type Endpoints } from '../../platform/http/endpoints/endpoints.ts';
import { startMetrics } from '../../platform/metrics/serve-metrics.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startDatabase } from '../../platform/runtime/runtime.ts';
import { startTracing } from '../../platform/tracing/open-telemetry/start-tracing.ts';
import type { GatewayFile } from '../configuration/gateway-file.schema.ts';
import { readGatewayFile } from '../configuration/gateway-file.ts';
import { createErrorInclusion, createHeaderRules } from '../configuration/subgraph-rules.ts';
import { linksFromSupergraph, subgraphNames } from '../federation/links-from-supergraph.ts';
import { openSharedCounts, type SharedCounts } from '../limits/shared-counts.ts';
import { createFileProxy, createHookProxy } from '../server/media-proxy.ts';
import { reservePort } from './port.ts';
import { startPublicServer, checkedInSupergraph, type PublicServer } from './public-server.ts';

/**
 * Starts the gateway in a process of its own: over Kiln's supergraph with remote subgraphs, or over any Federation 2
 * supergraph (`--supergraph FILE`) with the subgraphs at its URLs.
 */
export async function startGatewayAlone(parts: ProcessParts): Promise<PublicServer> {
  const { config, logger, lifecycle } = parts;
  const { supergraphFile } = config.split;
  const supergraphSdl =
    supergraphFile === null ? await checkedInSupergraph() : await readFile(supergraphFile, 'utf8');
  const names = subgraphNames(supergraphSdl);
  const file = config.gatewayFile === null ? undefined : readGatewayFile(config.gatewayFile, names);
  const urls = new Map<string, readonly string[]>();
  const endpoints = new Map<string, Endpoints>();
  const links = linksFromSupergraph(supergraphSdl, ({ name, url }) => {
    const itsUrls = urlsOf(parts, name) ?? [file?.subgraphs?.[name]?.url ?? url];
    const its = createEndpoints({ urls: itsUrls, logger });
    urls.set(name, itsUrls);
    endpoints.set(name, its);
    const socket = file?.subgraphs?.[name]?.websocketUrl;
    const sockets =
      socket === undefined ? undefined : createEndpoints({ urls: [socket.replace(/^ws/, 'http')], logger });
    if (sockets !== undefined) endpoints.set(`${name} (sockets)`, sockets);
    return linkTo(parts, name, { endpoints: its, sockets, file });
  });
  checkSharedReads(parts, Object.keys(links));
  lifecycle.add(
    'addresses of subgraphs',
    async () => void (await Promise.all([...endpoints.values()].map((its) => its.close()))),
  );
  lifecycle.add(
    'links',
    async () => void (await Promise.all(Object.values(links).map((link) => link.close()))),
  );
  const reserved = await reservePort(config.server, lifecycle);
  const publicUrl = publicUrlOf(config.server, reserved.port);
  const { files, openFile, hooks } = proxiesTo(endpoints.get('media'), parts);
  const database = config.data.databaseUrl === null ? undefined : await startDatabase(parts);
  const server = await startPublicServer(parts, {
    supergraphSdl,
    links,
    serviceKeys: config.auth.serviceKeys,
    publicUrl,
    reserved,
    metrics: await startMetrics(parts),
    tracer: await startTracing(parts),
    sharedCounts: await sharedCountsOf(parts, database),
    readiness: Object.fromEntries(Object.entries(links).map(([name, link]) => [name, () => link.check()])),
    files,
    openFile,
    hooks,
    database,
    file,
  });
  logger.info({ url: server.url, subgraphs: Object.fromEntries(urls) }, 'the gateway serves');
  return server;
}

/**
 * Gateways with a database share their rate counters; without one a gateway counts by itself. The tables of the gateway
 * are made here.
 */
async function sharedCountsOf(
  { config, logger }: ProcessParts,
  database: Database | undefined,
): Promise<SharedCounts | undefined> {
  if (database !== undefined) {
    const counts = await openSharedCounts({ database, logger });
    return config.limits.rate !== null && config.limits.countsInDatabase ? counts : undefined;
  }
  if (config.limits.rate === null || config.limits.countsUrl !== null) return undefined;
  logger.info(
    'rates are counted per gateway: set DATABASE_URL or COUNTS_URL to count them over all gateways',
  );
  return undefined;
}

/** Hand files and provider webhooks on to Kiln's media subgraph; absent without one. */
function proxiesTo(media: Endpoints | undefined, parts: ProcessParts) {
  const { lifecycle, logger } = parts;
  const sign = isOurs(parts, 'media') ? signerFor(parts, 'media') : undefined;
  if (media === undefined || sign === undefined) {
    return { files: undefined, openFile: undefined, hooks: undefined };
  }
  const files = createFileProxy({ media, sign, logger });
  lifecycle.add('file proxy', () => files.close());
  const hooks = createHookProxy({ media, sign });
  lifecycle.add('hook proxy', () => hooks.close());
  return { files: files.handle, openFile: files.open, hooks: hooks.handle };
}

/** MEDIA_URL and WORKFLOW_URL take precedence over the supergraph. */
function urlsOf({ config }: ProcessParts, name: string): readonly string[] | null {
  if (name === 'media') return config.split.mediaUrls;
  return name === 'workflow' ? config.split.workflowUrls : null;
}

/** Whether a subgraph is Kiln's: in a supergraph file those are, which MEDIA_URL and WORKFLOW_URL name. */
function isOurs(parts: ProcessParts, name: string): boolean {
  return parts.config.split.supergraphFile === null || urlsOf(parts, name) !== null;
}

/** Where a subgraph is, and what the configuration file says. */
interface LinkParts {
  readonly endpoints: Endpoints;
  readonly sockets: Endpoints | undefined;
  readonly file: GatewayFile | undefined;
}

/** Kiln's own subgraphs get assertions of callers; a foreign one the callers' own bearer tokens, and nothing else. */
function linkTo(
  parts: ProcessParts,
  name: string,
  { endpoints, sockets, file = {} }: LinkParts,
): SubgraphLink {
  const { logger } = parts;
  if (!isOurs(parts, name)) {
    const sharesReads = parts.config.split.sharedReads.includes(name);
    const { timeoutMs, retries, headers = [], errors = file.errors } = file.subgraphs?.[name] ?? {};
    return createRemoteLink({
      name,
      endpoints,
      socketEndpoints: sockets,
      logger,
      passesBearer: true,
      sharesReads,
      retries,
      ...(timeoutMs !== undefined && { timeoutMs }),
      headersFor: createHeaderRules([...(file.headers ?? []), ...headers]),
      includeErrors: errors && createErrorInclusion(errors, { subgraph: name, logger }),
    });
  }
  const sign = signerFor(parts, name);
  return createRemoteLink({ name, endpoints, logger, ...(sign && { sign }) });
}

/** Names that nothing would come of. */
function checkSharedReads(parts: ProcessParts, names: readonly string[]): void {
  for (const name of parts.config.split.sharedReads) {
    if (names.includes(name) && !isOurs(parts, name)) continue;
    const foreign = names.filter((one) => !isOurs(parts, one)).join(', ');
    throw new Error(
      `SHARED_READS names ${name}, which is no foreign subgraph of the supergraph: it has ${foreign}`,
    );
  }
}

function signerFor({ config }: ProcessParts, audience: string): CallerSigner | undefined {
  const { internalKey } = config.split;
  return internalKey === null ? undefined : createCallerSigner({ key: internalKey, audience });
}
