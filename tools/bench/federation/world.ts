import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse, type GraphQLSchema } from 'graphql';

/** Two small subgraphs in memory, shaped like Kiln's own, and the nested query that goes through both and back. */

export type SubgraphName = 'media' | 'workflow';

/** 10 tasks from media, their executions from workflow, and the covers of those from media again. */
export const QUERY = `query Board($first: Int!) {
  tasks(first: $first) { id state progress execution { id name cover { url bytes } } }
}`;
export const VARIABLES = { first: 10 };

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])`;

const TYPES: Readonly<Record<SubgraphName, string>> = {
  media: `${LINK}
    type Task @key(fields: "id") { id: ID! state: String! progress: Int! }
    type File @key(fields: "id") { id: ID! url: String! bytes: Int! }
    type Query { tasks(first: Int! = 2): [Task!]! }`,
  workflow: `${LINK}
    type Task @key(fields: "id") { id: ID! execution: Execution }
    type Execution @key(fields: "id") { id: ID! name: String! cover: File }
    type File @key(fields: "id", resolvable: false) { id: ID! }
    type Query { executions: [Execution!]! }`,
};

interface Reference {
  readonly id: string;
}

const execution = (id: string) => ({
  id: `exe-${id}`,
  name: `execution of ${id}`,
  cover: { id: `cover-${id}` },
});

const RESOLVERS = {
  media: {
    Query: {
      tasks: (_: unknown, { first }: { first: number }) =>
        Array.from({ length: first }, (_task, index) => ({
          id: `task-${index}`,
          state: 'RUNNING',
          progress: index,
        })),
    },
    Task: { __resolveReference: ({ id }: Reference) => ({ id, state: 'RUNNING', progress: 1 }) },
    File: {
      __resolveReference: ({ id }: Reference) => ({ id, url: `https://files.example/${id}`, bytes: 1234 }),
    },
  },
  workflow: {
    Query: { executions: () => [execution('task-1')] },
    Task: {
      __resolveReference: ({ id }: Reference) => ({ id }),
      execution: ({ id }: Reference) => execution(id),
    },
    Execution: { __resolveReference: ({ id }: Reference) => execution(id.slice(4)) },
  },
};

/** The schema of one of the two, as any federated subgraph has it. */
export function buildSchemaFor(name: SubgraphName): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(TYPES[name]), resolvers: RESOLVERS[name] });
}

/** Their supergraph; the URLs matter to remote sources alone. */
export function composeSupergraph(urls: Readonly<Record<SubgraphName, string>>): string {
  const composed = composeServices(
    (['media', 'workflow'] as const).map((name) => ({ name, url: urls[name], typeDefs: parse(TYPES[name]) })),
  );
  if (composed.errors !== undefined)
    throw new AggregateError(composed.errors, 'the supergraph does not compose');
  return composed.supergraphSdl;
}

/** The page that asks the guarded gateway. */
export const ORIGIN = 'https://app.example';
