import type { KeyScope } from '../../platform/access/caller.ts';
import { enforce, enforceScope, type AuthMode, type Rule } from '../../platform/access/policy.ts';
import { AppError, toError } from '../../platform/errors.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { measuredLinks } from '../../platform/metrics/measure.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import rules from '../../schema/root-field-rules.json' with { type: 'json' };
import { createCallerCache } from '../authentication/caller-cache.ts';
import type { GatewayFile } from '../configuration/gateway-file.schema.ts';
import { createFederation } from '../federation/federation.ts';
import type { RefuseRootField } from '../federation/refused-operation.ts';
import type { Graph } from '../federation/replaceable.ts';
import { authorizeBy, costsBy } from './other-graph/operation-rules.ts';

/** What a federation is made of. */
export interface OpenedGraph {
  readonly supergraphSdl: string;
  readonly links: Readonly<Record<string, SubgraphLink>>;
  /** What `--config` says of its operations. */
  readonly file?: GatewayFile | undefined;
  /** Called when another graph has replaced this one and nothing runs over these links any more. */
  readonly linksRetired?: (() => void) | undefined;
}

/** What all federations of a server have in common. */
export interface FederationOptions extends Pick<OpenedGraph, 'links'> {
  readonly metrics: Metrics;
  /** What `--config` said at the start, also of who callers are. */
  readonly file?: GatewayFile | undefined;
}

/** How federations are made, and what depends on whose subgraphs they lead to. */
export function prepareFederations({ config }: ProcessParts, options: FederationOptions, logger: Logger) {
  // Credentials of ours are only for subgraphs of ours.
  const { isOtherGraph: isForeign, mediaUrls, workflowUrls } = config.split;
  const workflow = isForeign && workflowUrls === null ? undefined : options.links['workflow'];
  const known = workflow && createCallerCache(workflow);
  const withKnown = (links: OpenedGraph['links']) =>
    known === undefined ? links : { ...links, workflow: known.link };
  const openGraph = async (graph: OpenedGraph): Promise<Graph> => ({
    supergraphSdl: graph.supergraphSdl,
    links: graph.links,
    retired: () => graph.linksRetired?.(),
    federation: await createFederation({
      supergraphSdl: graph.supergraphSdl,
      isChecked: !isForeign,
      links: tracedLinks(measuredLinks(withKnown(graph.links), options.metrics)),
      metrics: options.metrics,
      ...planningOptions(config),
      defers: isForeign,
      concurrentEvents: isForeign ? CONCURRENT_EVENTS : undefined,
      costs: isForeign ? costsBy(graph.supergraphSdl, graph.file ?? {}, logger) : undefined,
      authorize: isForeign ? authorizeBy(graph.supergraphSdl, options.file) : undefined,
      logger,
    }),
  });
  return { openGraph, isForeign, hasMedia: !isForeign || mediaUrls !== null, lookup: known?.lookup };
}

/** A thousand events a second of one subscription stay in time where a join takes 100 ms. */
const CONCURRENT_EVENTS = 200;

/** What is known of operations before they are planned, and what plans may take. */
function planningOptions({ limits, split, auth }: ProcessParts['config']) {
  const isOurs = !split.isOtherGraph;
  return {
    planCacheBytes: limits.planCacheBytes,
    refuseRootField: isOurs ? createRootFieldRefusals(auth.mode) : undefined,
  };
}

interface RuledField {
  readonly rule: Rule;
  readonly scope: KeyScope | null;
}

// TypeScript reads the texts of a JSON file as any texts; `npm run schema` writes nothing but rules and scopes.
const RULES = rules as Readonly<Record<string, Readonly<Record<string, RuledField | undefined>>>>;

/** Says why a caller may not use a root field of Kiln's graph, as the subgraphs would: they enforce the same rules. */
function createRootFieldRefusals(mode: AuthMode): RefuseRootField {
  return (kind, name, caller) => {
    const field = RULES[kind]?.[name];
    if (field === undefined) return null;
    try {
      enforce(field.rule, caller, mode);
      enforceScope(caller, field.scope);
      return null;
    } catch (thrown) {
      if (thrown instanceof AppError) return thrown;
      throw toError(thrown);
    }
  };
}

/** The same links; each fetch of a traced operation is a span. */
function tracedLinks(links: Readonly<Record<string, SubgraphLink>>): Readonly<Record<string, SubgraphLink>> {
  return Object.fromEntries(
    Object.entries(links).map(([subgraph, link]) => {
      const execute: SubgraphLink['execute'] = (request) =>
        inSpan(`fetch ${subgraph}`, { kind: 'client' }, async (span) => {
          const result = await link.execute(request);
          if (result.errors !== undefined) span?.set({ 'graphql.errors': result.errors.length });
          return result;
        });
      return [subgraph, { ...link, execute }] as const;
    }),
  );
}
