import {
  type CallerSigner,
  createCallerSigner,
} from '../../../platform/graphql/assertions/caller-assertion.ts';
import { createRemoteLink } from '../../../platform/graphql/links/remote-link.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { createEndpoints, type Endpoints } from '../../../platform/http/endpoints/endpoints.ts';
import type { ReadinessCheck } from '../../../platform/http/readiness.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import { once } from '../../../platform/once.ts';
import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import {
  createResponseRules,
  createErrorInclusion,
  createHeaderRules,
} from '../../configuration/subgraph-rules.ts';
import { createEntityCache, type EntityCache } from '../../entity-cache/entity-cache.ts';
import { linksFromSupergraph } from './graph-source.ts';

interface GraphLinks {
  readonly links: Readonly<Record<string, SubgraphLink>>;
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  readonly urls: Readonly<Record<string, readonly string[]>>;
  /** Gives them up: those that no other graph has are closed. */
  readonly close: () => void;
}

/** The links of all graphs that are served or still run something: what did not change between two is one link. */
export interface LinkStore {
  /** Opens the links of a graph. Throws when a subgraph has no address. */
  open(supergraphSdl: string, file: GatewayFile | undefined): GraphLinks;
  /** The checks of the graph that was opened last and `serve`d. */
  readonly readiness: Record<string, ReadinessCheck>;
  /** Makes a graph's subgraphs those whose readiness counts. */
  serve(graph: GraphLinks): void;
  close(): Promise<void>;
}

interface Kept {
  readonly link: SubgraphLink;
  readonly endpoints: Endpoints;
  readonly urls: readonly string[];
  readonly close: () => Promise<void>;
  users: number;
}

export interface LinkStoreOptions {
  readonly metrics: Metrics;
  /** Most bytes of entities that are kept. */
  readonly entityCacheBytes?: number | undefined;
}

/** What keeps entities, where the file says so. */
interface CacheLink {
  readonly cache: () => EntityCache;
  readonly count: ReturnType<Metrics['counter']>;
}

/** Makes the store. */
export function createLinkStore(
  parts: ProcessParts,
  { metrics, entityCacheBytes = 64_000_000 }: LinkStoreOptions,
): LinkStore {
  const count = metrics.counter(
    'kiln_entity_cache_total',
    'Entities of other graphs that were kept, or were not.',
    ['subgraph', 'outcome'],
  );
  const cached: CacheLink = { cache: once(() => createEntityCache(entityCacheBytes)), count };
  const readiness: Record<string, ReadinessCheck> = {};
  const shared = createKeptLinks(parts, cached);
  const store: LinkStore = {
    readiness,
    open(supergraphSdl, file) {
      const taken = new Map<string, Kept & { readonly key: string }>();
      const links = linksFromSupergraph(supergraphSdl, ({ name, url }) => {
        const one = shared.take(name, url, file);
        taken.set(name, one);
        return one.link;
      });
      const keys = [...taken.values()].map(({ key }) => key);
      const graph: GraphLinks = {
        links,
        endpoints: new Map([...taken].map(([name, { endpoints }]) => [name, endpoints])),
        urls: Object.fromEntries([...taken].map(([name, { urls }]) => [name, urls])),
        close: () => {
          for (const key of keys) shared.give(key);
        },
      };
      if (Object.keys(readiness).length === 0) store.serve(graph);
      return graph;
    },
    serve({ links }) {
      for (const name of Object.keys(readiness)) delete readiness[name];
      for (const [name, link] of Object.entries(links)) readiness[name] = () => link.check();
    },
    async close() {
      const all = [...shared.kept.values()];
      shared.kept.clear();
      await Promise.all(all.map(({ close }) => close()));
    },
  };
  return store;
}

/** Links by what they are made of, with how many graphs have each. */
function createKeptLinks(parts: ProcessParts, cached: CacheLink) {
  const kept = new Map<string, Kept>();
  return {
    kept,
    take(name: string, url: string, file: GatewayFile | undefined): Kept & { readonly key: string } {
      const { headers, responseHeaders, errors, subgraphs } = file ?? {};
      // One of ours stays what it is: callers are looked up over it.
      const isOwn = isOurs(parts, name);
      const key = JSON.stringify(
        isOwn ? [name] : [name, url, headers, responseHeaders, errors, subgraphs?.[name]],
      );
      const known = kept.get(key) ?? { ...open(parts, { name, url, file, cached }), users: isOwn ? 1 : 0 };
      kept.set(key, known);
      known.users += 1;
      return Object.assign(known, { key });
    },
    give(key: string): void {
      const known = kept.get(key);
      if (known === undefined || --known.users > 0) return;
      kept.delete(key);
      void known.close();
    },
  };
}

interface LinkTarget {
  readonly name: string;
  /** As the supergraph says. */
  readonly url: string;
  readonly file: GatewayFile | undefined;
  readonly cached: CacheLink;
}

function open(parts: ProcessParts, { name, url, file = {}, cached }: LinkTarget): Omit<Kept, 'users'> {
  const { logger } = parts;
  const { url: configured = url, websocketUrl } = file.subgraphs?.[name] ?? {};
  const urls = findOwnUrls(parts, name) ?? [configured];
  const endpoints = createEndpoints({ urls, logger });
  const sockets =
    websocketUrl === undefined
      ? undefined
      : createEndpoints({ urls: [websocketUrl.replace(/^ws/, 'http')], logger });
  const link = cachedLink(linkTo(parts, name, { endpoints, sockets, file }), { name, file, cached });
  return {
    link,
    endpoints,
    urls,
    async close() {
      await link.close();
      await Promise.all([endpoints.close(), sockets?.close()]);
    },
  };
}

/** MEDIA_URL and WORKFLOW_URL take precedence over the supergraph. */
function findOwnUrls({ config }: ProcessParts, name: string): readonly string[] | null {
  if (name === 'media') return config.split.mediaUrls;
  return name === 'workflow' ? config.split.workflowUrls : null;
}

/** Whether a subgraph is Kiln's: in another graph those are, which MEDIA_URL and WORKFLOW_URL name. */
export function isOurs(parts: ProcessParts, name: string): boolean {
  return !parts.config.split.isOtherGraph || findOwnUrls(parts, name) !== null;
}

/** Where a subgraph is, and what the configuration file says. */
interface LinkParts {
  readonly endpoints: Endpoints;
  readonly sockets: Endpoints | undefined;
  readonly file: GatewayFile;
}

/** Kiln's own subgraphs get assertions of callers; a foreign one the callers' own bearer tokens, and nothing else. */
function linkTo(parts: ProcessParts, name: string, { endpoints, sockets, file }: LinkParts): SubgraphLink {
  const { logger } = parts;
  if (!isOurs(parts, name)) {
    const its = file.subgraphs?.[name] ?? {};
    const { sharesReads = parts.config.split.sharedReads.includes(name) } = its;
    const { timeoutMs, retries, headers = [], errors = file.errors, subscriptions = {}, tls } = its;
    const answered = [...(file.responseHeaders ?? []), ...(its.responseHeaders ?? [])];
    const { protocol, connectionParams } = subscriptions;
    return createRemoteLink({
      name,
      endpoints,
      socketEndpoints: sockets,
      logger,
      passesBearer: true,
      sharesReads,
      retries,
      protocol,
      breaker: its.breaker,
      connections: its.connections,
      tls: tls && { ca: tls.ca, cert: tls.certificate, key: tls.key },
      paramsFor: connectionParams && createHeaderRules(connectionParams),
      onHeaders: answered.length === 0 ? undefined : createResponseRules(answered),
      ...(timeoutMs !== undefined && { timeoutMs }),
      headersFor: createHeaderRules([...(file.headers ?? []), ...headers]),
      includeErrors: errors && createErrorInclusion(errors, { subgraph: name, logger }),
    });
  }
  const sign = signerFor(parts, name);
  const channelKey = parts.config.split.internalKey ?? undefined;
  return createRemoteLink({ name, endpoints, logger, ...(sign && { sign, channelKey }) });
}

/** The same link, which keeps entities where the file says so; those of Kiln's own subgraphs never. */
function cachedLink(
  link: SubgraphLink,
  { name, file, cached }: { readonly name: string; readonly file: GatewayFile; readonly cached: CacheLink },
): SubgraphLink {
  const { entityCache, headers = [] } = file.subgraphs?.[name] ?? {};
  if (entityCache === undefined) return link;
  const { maxAgeSeconds, types = {}, scope } = entityCache;
  const rules = createHeaderRules([...(file.headers ?? []), ...headers]);
  return cached.cache().over(link, {
    subgraph: name,
    maxAgeSeconds,
    types,
    readIdentity:
      scope === 'public'
        ? null
        : (context) => JSON.stringify(rules(context, { authorization: context.caller.bearer ?? '' })),
    count: (outcome) => cached.count({ subgraph: name, outcome }),
  });
}

/** Names that nothing would come of. */
export function checkSharedReads(parts: ProcessParts, names: readonly string[]): void {
  for (const name of parts.config.split.sharedReads) {
    if (names.includes(name) && !isOurs(parts, name)) continue;
    const foreign = names.filter((one) => !isOurs(parts, one)).join(', ');
    throw new Error(
      `SHARED_READS names ${name}, which is no foreign subgraph of the supergraph: it has ${foreign}`,
    );
  }
}

/** Signs who asks, for a subgraph of ours; undefined without INTERNAL_KEY. */
export function signerFor({ config }: ProcessParts, audience: string): CallerSigner | undefined {
  const { internalKey } = config.split;
  return internalKey === null ? undefined : createCallerSigner({ key: internalKey, audience });
}
