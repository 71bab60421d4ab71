import { toPublicUrl } from '../../platform/config/config.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Endpoints } from '../../platform/http/endpoints/endpoints.ts';
import { startMetrics } from '../../platform/metrics/serve-metrics.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startDatabase } from '../../platform/runtime/runtime.ts';
import { startTracing } from '../../platform/tracing/open-telemetry/start-tracing.ts';
import { openSharedCounts, type SharedCounts } from '../limits/shared-counts.ts';
import { createFileProxy, createHookProxy } from '../server/media-proxy.ts';
import { createGraphSource } from './other-graph/graph-source.ts';
import { checkSharedReads, createLinkStore, isOurs, signerFor } from './other-graph/links.ts';
import { reloadOnChange } from './other-graph/reload.ts';
import { reservePort } from './port.ts';
import { startPublicServer, checkedInSupergraph, type PublicServer } from './public-server.ts';

/**
 * Starts the gateway in a process of its own: over Kiln's supergraph with remote subgraphs, or over any Federation 2
 * supergraph (`--supergraph FILE`, `--subgraphs FILE`) with the subgraphs at its URLs.
 */
export async function startGatewayAlone(parts: ProcessParts): Promise<PublicServer> {
  const { config, logger, lifecycle } = parts;
  const source = config.split.isOtherGraph ? createGraphSource(parts) : null;
  const { supergraphSdl, file } = source === null ? await ownGraph() : await source.read();
  const metrics = await startMetrics(parts);
  const links = createLinkStore(parts, { metrics, entityCacheBytes: file?.entityCacheBytes });
  const first = links.open(supergraphSdl, file);
  checkSharedReads(parts, Object.keys(first.links));
  lifecycle.add('links', () => links.close());
  const reserved = await reservePort(config.server, lifecycle);
  const publicUrl = toPublicUrl(config.server, reserved.port);
  const { files, openFile, hooks } = proxiesTo(first.endpoints.get('media'), parts);
  const database = config.data.databaseUrl === null ? undefined : await startDatabase(parts);
  const server = await startPublicServer(parts, {
    supergraphSdl,
    links: first.links,
    linksRetired: first.close,
    serviceKeys: config.auth.serviceKeys,
    publicUrl,
    reserved,
    metrics,
    tracer: await startTracing(parts),
    sharedCounts: await createSharedCounter(parts, database),
    readiness: links.readiness,
    files,
    openFile,
    hooks,
    database,
    file,
  });
  logger.info({ url: server.url, subgraphs: first.urls }, 'the gateway serves');
  if (source !== null) reloadOnChange(parts, { source, links, server });
  return server;
}

async function ownGraph() {
  return { supergraphSdl: await checkedInSupergraph(), file: undefined };
}

/**
 * Gateways with a database share their rate counters; without one a gateway counts by itself. The tables of the gateway
 * are made here.
 */
async function createSharedCounter(
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
