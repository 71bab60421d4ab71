import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import type { ExecutionResult } from 'graphql';

import type { RequestContext } from '../../platform/graphql/executor.ts';
import type { SubgraphLink } from '../../platform/graphql/subgraph.ts';

type ProcessOptions = Parameters<GraphQLDataSource['process']>[0];
type ProcessResult = Awaited<ReturnType<GraphQLDataSource['process']>>;

/** What Apollo's executor asks, answered by our links. Its stock data sources are never used. */
export function dataSourcesOf(links: Readonly<Record<string, SubgraphLink>>): ServiceMap {
  return Object.fromEntries(Object.entries(links).map(([name, link]) => [name, dataSourceOf(link)]));
}

/** One of them. */
export function dataSourceOf(link: SubgraphLink): GraphQLDataSource {
  return {
    async process({ request, context, ...rest }) {
      const { query = '', operationName, variables = {} } = request;
      const document = 'document' in rest ? rest.document : undefined;
      const result = await link.execute({
        query,
        operationName,
        variables,
        // Anew for each fetch: a subgraph makes its loaders per request.
        context: { ...(context as RequestContext) },
        ...(document === undefined ? {} : { document }),
      });
      return result as ProcessResult;
    },
  };
}

/** The same sources, with one answer already there: the event of a subscription plays its primary fetch. */
export function withAnswer(
  sources: ServiceMap,
  answered: { readonly serviceName: string; readonly operation: string; readonly result: ExecutionResult },
): ServiceMap {
  const { serviceName, operation, result } = answered;
  const source = sources[serviceName];
  return {
    ...sources,
    [serviceName]: {
      process(options: ProcessOptions) {
        if (options.request.query === operation) return Promise.resolve(result as ProcessResult);
        if (source === undefined) throw new Error(`there is no way to subgraph ${serviceName}`);
        return source.process(options);
      },
    },
  };
}
