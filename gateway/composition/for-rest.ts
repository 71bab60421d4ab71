import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';

/** The same executor, for the REST paths. */
export function forRest(executor: GraphqlExecutor): GraphqlExecutor {
  return {
    execute: (request) => executor.execute({ ...request, transport: 'rest' }),
    subscribe: (request) => executor.subscribe({ ...request, transport: 'rest' }),
  };
}
