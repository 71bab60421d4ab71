import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import type { FetchNode } from '@apollo/query-planner';
import type { ExecutionResult } from 'graphql';

import type { GraphqlRequest, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';

type ProcessOptions = Parameters<GraphQLDataSource['process']>[0];
type ProcessResult = Awaited<ReturnType<GraphQLDataSource['process']>>;

/** Data sources of Apollo's executor over our links. Its own data sources are never used. */
export function dataSourcesOf(links: Readonly<Record<string, SubgraphLink>>): ServiceMap {
  return Object.fromEntries(Object.entries(links).map(([name, link]) => [name, dataSourceOf(link)]));
}

function dataSourceOf(link: SubgraphLink): GraphQLDataSource {
  return {
    async process({ request, context, ...rest }) {
      const { query = '', operationName, variables = {} } = request;
      const document = 'document' in rest ? rest.document : undefined;
      const result = await link.execute({
        query,
        operationName,
        variables,
        // A new context for each fetch: a subgraph makes its loaders per request.
        context: { ...(context as RequestContext) },
        ...(document === undefined ? {} : { document }),
      });
      return result as ProcessResult;
    },
  };
}

/** The link to a subgraph of a plan. */
export function linkTo(links: Readonly<Record<string, SubgraphLink>>, serviceName: string): SubgraphLink {
  const link = links[serviceName];
  if (link === undefined) throw new Error(`there is no link to subgraph ${serviceName}`);
  return link;
}

/** A first fetch as a request, with the variables of the operation that it uses. */
export function fetchRequest(fetch: FetchNode, { variables, context }: GraphqlRequest): SubgraphRequest {
  const used = (fetch.variableUsages ?? []).filter((name) => Object.hasOwn(variables, name));
  const document = fetch.operationDocumentNode;
  return {
    query: fetch.operation,
    operationName: fetch.operationName,
    variables: Object.fromEntries(used.map((name) => [name, variables[name]])),
    context: { ...context },
    ...(document === undefined ? {} : { document }),
  };
}

/** The sources with one result already there: the event of a subscription is the result of its primary fetch. */
export function withFetchResult(
  sources: ServiceMap,
  answered: { readonly fetch: FetchNode; readonly result: ExecutionResult },
): ServiceMap {
  const { fetch, result } = answered;
  const { serviceName, operation } = fetch;
  const source = sources[serviceName];
  return {
    ...sources,
    [serviceName]: {
      process(options: ProcessOptions) {
        if (options.request.query === operation) return Promise.resolve(result as ProcessResult);
        if (source === undefined) throw new Error(`there is no link to subgraph ${serviceName}`);
        return source.process(options);
      },
    },
  };
}
