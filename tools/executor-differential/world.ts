import { composeServices } from '@apollo/composition';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import { createExecution } from '../../gateway/federation/execution.ts';
import { sharedForm } from '../../gateway/federation/operation/shared-form.ts';
import { createPlanner } from '../../gateway/federation/plans.ts';
import { anonymousCaller } from '../../platform/access/caller.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { createDocuments } from '../../platform/graphql/operations/documents.ts';
import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import type { Subgraph, SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createReference } from './apollo-reference.ts';
import { collectFacts } from './facts.ts';
import { faultyLink, type Faults } from './faults.ts';
import type { Operation } from './random-operation.ts';
import type { FederatedSource } from './schemas/source.ts';
import { madeUpSchema, parseTypeDefs, type MadeUpContext } from './subgraph-schema.ts';

/** A federated schema with made-up data, and both executors over it. */
export interface World {
  readonly name: string;
  readonly apiSchema: GraphQLSchema;
  /** Whether Apollo's planner has a plan for an operation; it fails at some. */
  isPlanned(operation: Operation): boolean;
  /** Runs an operation in both, each over subgraphs that have seen nothing before. */
  run(operation: Operation, faults: Faults): Promise<{ readonly ours: Results; readonly apollo: Results }>;
}

type Results = readonly ExecutionResult[];
type Links = Readonly<Record<string, SubgraphLink>>;

export function createWorld({ name, subgraphs }: FederatedSource): World {
  const facts = collectFacts(subgraphs);
  const logger = silentLogger();
  let faults: Faults = { seed: 0, perThousand: 0 };
  const linkTo = (subgraph: string, sdl: string): SubgraphLink => {
    const schema = madeUpSchema({ subgraph, sdl, facts });
    const link = createLocalLink({
      subgraph: { name: subgraph as Subgraph['name'], schema, contextFor: (context) => context },
      logger,
    });
    return faultyLink({ name: subgraph, sdl }, link, () => faults);
  };
  const links: Links = Object.fromEntries(
    Object.entries(subgraphs).map(([subgraph, sdl]) => [subgraph, linkTo(subgraph, sdl)]),
  );
  const planner = createPlanner(compose(subgraphs));
  const documents = createDocuments({ schema: planner.apiSchema });
  const { apiSchema } = planner;
  const share = (query: string, document: DocumentNode) => sharedForm(apiSchema, query, document);
  // Faults follow from the text that a subgraph is sent, so a shared one has others.
  const execution = createExecution({ planner, documents, links, logger });
  const shared = createDocuments({ schema: apiSchema, share });
  const sharedExecution = createExecution({ planner, documents: shared, links, logger });
  const reference = createReference({ planner, documents, links });

  const runOurs = async (request: GraphqlRequest): Promise<Results> => {
    if (!request.query.startsWith('subscription')) {
      return [await (faults.perThousand === 0 ? sharedExecution : execution).execute(request)];
    }
    const started = await execution.subscribe(request);
    if (!isStream<ExecutionResult>(started)) throw new Error(JSON.stringify(started));
    return await Array.fromAsync(started);
  };

  return {
    name,
    apiSchema,
    isPlanned({ query }) {
      const { document } = documents.prepare(query);
      try {
        return document !== undefined && planner.findPlan(document, undefined) !== undefined;
      } catch {
        return false;
      }
    },
    async run({ query, variables }, chosen) {
      faults = chosen;
      const apollo = await reference.run(createRequest(query, variables));
      return { apollo, ours: await runOurs(createRequest(query, variables)) };
    },
  };
}

function createRequest(query: string, variables: Readonly<Record<string, unknown>>): GraphqlRequest {
  const context: GraphqlRequest['context'] & MadeUpContext = {
    caller: anonymousCaller('trace', null),
    signal: new AbortController().signal,
    made: { changes: 0 },
  };
  return { query, variables, context };
}

function compose(subgraphs: FederatedSource['subgraphs']): string {
  const composed = composeServices(
    Object.entries(subgraphs).map(([name, sdl]) => ({
      name,
      url: `http://${name}/`,
      typeDefs: parseTypeDefs(sdl),
    })),
  );
  if (composed.errors !== undefined) throw new AggregateError(composed.errors, String(composed.errors));
  return composed.supergraphSdl;
}
