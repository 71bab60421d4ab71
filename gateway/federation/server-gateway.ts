import type { ApolloServerOptionsWithGateway, BaseContext } from '@apollo/server';
import type { GraphQLSchema } from 'graphql';

import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';

/** The gateway interface of Apollo Server: a schema and an executor. */
export type ServerGateway = ApolloServerOptionsWithGateway<BaseContext>['gateway'];

/** A schema that callers see, and the supergraph that it comes from. */
interface ServedSchema {
  readonly apiSchema: GraphQLSchema;
  readonly supergraphSdl: string;
}

/** Makes it; `update` tells Apollo Server of another schema. Not ApolloGateway, which builds the supergraph and its planner a second time at each start (200 ms). */
export function createServerGateway(
  served: () => ServedSchema,
  executor: Pick<GraphqlExecutor, 'execute'>,
): { readonly gateway: ServerGateway; readonly update: () => void } {
  const listeners = new Set<Parameters<ServerGateway['onSchemaLoadOrUpdate']>[0]>();
  const update = (): void => {
    if (listeners.size === 0) return;
    const { apiSchema, supergraphSdl: coreSupergraphSdl } = served();
    for (const listener of listeners) listener({ apiSchema, coreSupergraphSdl });
  };
  const gateway: ServerGateway = {
    onSchemaLoadOrUpdate(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async load() {
      update();
      return {
        executor: ({ source, request, context }) =>
          executor.execute({
            query: source,
            operationName: request.operationName,
            variables: request.variables ?? {},
            context: context as RequestContext,
          }),
      };
    },
    stop: async () => undefined,
  };
  return { gateway, update };
}
