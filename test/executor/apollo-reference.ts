import { executeQueryPlan, type GraphQLDataSource } from '@apollo/gateway';
import type { FetchNode } from '@apollo/query-planner';
import type { ExecutionResult } from 'graphql';

import type { Planner } from '../../gateway/federation/plans.ts';
import { gatewayFailure, withoutServiceNames } from '../../gateway/federation/results.ts';
import type { Documents } from '../../platform/graphql/operations/documents.ts';
import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../platform/process/logger.ts';

/** Apollo's own executor over our links: what a compiled one is held against. */
export interface Reference {
  /** The result of a query or mutation, or those of all events of a subscription. */
  run(request: GraphqlRequest): Promise<readonly ExecutionResult[]>;
}

export interface ReferenceOptions {
  readonly planner: Planner;
  readonly documents: Documents;
  readonly links: Readonly<Record<string, SubgraphLink>>;
}

/** Makes the reference over a planner, its documents and the links. */
export function createReference({ planner, documents, links }: ReferenceOptions): Reference {
  const planOf = ({ query, operationName }: GraphqlRequest) => {
    const { document } = documents.prepare(query);
    if (document === undefined) throw new Error(`not valid: ${query}`);
    return planner.planOf(document, operationName);
  };
  const runPlan = async (request: GraphqlRequest, answered?: Answered): Promise<ExecutionResult> => {
    const plan = planOf(request);
    const { query, variables, context } = request;
    const requestContext = { request: { query, variables }, context, logger: silentLogger(), metrics: {} };
    try {
      const result = await executeQueryPlan(
        plan.kind === 'request' ? plan.plan : plan.eventPlan,
        servicesOver(links, answered),
        requestContext as unknown as Parameters<typeof executeQueryPlan>[2],
        plan.operation,
        planner.supergraphSchema,
        planner.apiModel,
      );
      return withoutServiceNames(result);
    } catch (thrown) {
      return gatewayFailure(thrown, context, silentLogger());
    }
  };

  return {
    async run(request) {
      const plan = planOf(request);
      if (plan.kind === 'request') return [await runPlan(request)];
      const { serviceName, operation: query, operationDocumentNode: document } = plan.primary;
      const asked = { ...request, query, ...(document === undefined ? {} : { document }) };
      const started = await links[serviceName]?.subscribe(asked);
      if (started === undefined || !isStream<ExecutionResult>(started)) throw new Error('no stream');
      const results: ExecutionResult[] = [];
      for await (const result of started) {
        results.push(await runPlan(request, { fetch: plan.primary, result }));
      }
      return results;
    },
  };
}

/** The event that plays the answer of a subscription's first fetch. */
interface Answered {
  readonly fetch: FetchNode;
  readonly result: ExecutionResult;
}

/** The links as Apollo's data sources. */
function servicesOver(links: Readonly<Record<string, SubgraphLink>>, answered?: Answered) {
  const serviceOf = (name: string, link: SubgraphLink): GraphQLDataSource => ({
    async process({ request, context, ...rest }) {
      const { query = '', operationName, variables = {} } = request;
      if (answered?.fetch.serviceName === name && answered.fetch.operation === query)
        return answered.result as never;
      const document = 'document' in rest && rest.document !== undefined ? { document: rest.document } : {};
      const asked = {
        query,
        operationName,
        variables,
        context: { ...context } as GraphqlRequest['context'],
        ...document,
      };
      return (await link.execute(asked)) as never;
    },
  });
  return Object.fromEntries(Object.entries(links).map(([name, link]) => [name, serviceOf(name, link)]));
}
