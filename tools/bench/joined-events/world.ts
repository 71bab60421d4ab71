import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse, type GraphQLSchema } from 'graphql';

/** Two subgraphs in memory: one reports changes, the other knows more about what changed. */

export const SUBGRAPHS = ['media', 'workflow'] as const;
export type SubgraphName = (typeof SUBGRAPHS)[number];

/** The same events from one subgraph alone, and joined from the second one. */
export const QUERIES = {
  plain: 'subscription ($count: Int!) { changes(count: $count) { id state progress } }',
  joined:
    'subscription ($count: Int!) { changes(count: $count) { id state progress execution { id name } } }',
} as const;

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])`;

const TYPES: Readonly<Record<SubgraphName, string>> = {
  media: `${LINK}
    type Task @key(fields: "id") { id: ID! state: String! progress: Int! }
    type Query { task(id: ID!): Task }
    type Subscription { changes(count: Int!): Task! }`,
  workflow: `${LINK}
    type Task @key(fields: "id") { id: ID! execution: Execution }
    type Execution { id: ID! name: String! }
    type Query { executions: [Execution!]! }`,
};

const task = (progress: number) => ({ id: `task-${progress}`, state: 'RUNNING', progress });

/** One event in each turn of the event loop, as wake-ups come. */
async function* changes(_none: unknown, { count }: { readonly count: number }) {
  for (let at = 0; at < count; at += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    yield { changes: task(at) };
  }
}

const RESOLVERS = {
  media: {
    Query: { task: () => task(0) },
    Subscription: { changes: { subscribe: changes } },
  },
  workflow: {
    Query: { executions: () => [] },
    Task: {
      __resolveReference: ({ id }: { readonly id: string }) => ({ id }),
      execution: ({ id }: { readonly id: string }) => ({ id: `exe-${id}`, name: `execution of ${id}` }),
    },
  },
};

/** The schema of one of the two. */
export function buildSchemaFor(name: SubgraphName): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(TYPES[name]), resolvers: RESOLVERS[name] });
}

/** Their supergraph; nobody is asked at its URLs. */
export function supergraph(): string {
  const composed = composeServices(
    SUBGRAPHS.map((name) => ({ name, url: `http://${name}.invalid`, typeDefs: parse(TYPES[name]) })),
  );
  if (composed.errors !== undefined)
    throw new AggregateError(composed.errors, 'the supergraph does not compose');
  return composed.supergraphSdl;
}
