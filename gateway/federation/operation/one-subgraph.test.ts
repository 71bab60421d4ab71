import { readFileSync } from 'node:fs';

import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { type FetchNode, QueryPlanner } from '@apollo/query-planner';
import { Kind, type OperationDefinitionNode, parse, print, visit } from 'graphql';
import { expect, it } from 'vitest';

import { planOfOneSubgraph } from './one-subgraph.ts';

const sdl = readFileSync(new URL('../../../schema/supergraph.graphql', import.meta.url), 'utf8');
const supergraph = Supergraph.build(sdl, { validateSupergraph: false });
const planner = new QueryPlanner(supergraph, { exposeDocumentNodeInFetchNode: true });
const apiModel = supergraph.apiSchema();
const findPlan = planOfOneSubgraph(sdl);

function findOperation(query: string): OperationDefinitionNode {
  const [first] = parse(query, { noLocation: true }).definitions;
  if (first?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  return first;
}

/** In an order of its own: Apollo's planner moves __typename. */
function sorted(text: string): string {
  const byText = (left: { readonly text: string }, right: { readonly text: string }) =>
    left.text < right.text ? -1 : 1;
  return print(
    visit(parse(text, { noLocation: true }), {
      SelectionSet: {
        leave: (node) => ({
          ...node,
          selections: node.selections
            .map((one) => ({ one, text: print(one) }))
            .toSorted(byText)
            .map(({ one }) => one),
        }),
      },
    }),
  );
}

const fetched = ({ serviceName, variableUsages, operation, operationName, operationKind }: FetchNode) => ({
  serviceName,
  variableUsages: variableUsages?.toSorted(),
  operation: sorted(operation),
  operationName,
  operationKind,
});

it.each([
  '{ task(id: "x") { id state } }',
  '{ a: task(id: "x") { id __typename outputs { id url thumbnail(width: 64) } } b: task(id: "y") { attempts { number state } } }',
  'query Named($id: ID!, $width: Int = 64) { task(id: $id) { other: id outputs { thumbnail(width: $width) } } }',
  'query Lists($first: Int!) { tasks(first: $first) { edges { cursor node { id prompt: text } } pageInfo { hasNextPage } } }',
  '{ templates { code name creditCost } executions(first: 2) { edges { node { id status } } } }',
])('plans %s as Apollo’s planner does', (query) => {
  const plan = findPlan(findOperation(query));
  const apollos = planner.buildQueryPlan(operationFromDocument(apiModel, parse(query)));
  expect(plan?.node?.kind).toBe('Fetch');
  expect(fetched(plan?.node as FetchNode)).toEqual(fetched(apollos.node as FetchNode));
});

it.each([
  ['two subgraphs', '{ task(id: "x") { id } templates { code } }'],
  ['a field of another subgraph', '{ task(id: "x") { id execution { status } } }'],
  ['a fragment', '{ ...F } fragment F on Query { task(id: "x") { id } }'],
  ['a directive', '{ task(id: "x") { id state @skip(if: true) } }'],
  ['a name that is said twice', '{ task(id: "x") { outputs { id } outputs { url } } }'],
  ['what the gateway answers itself', '{ __typename task(id: "x") { id } }'],
  ['a mutation', 'mutation { deleteTask(id: "x") }'],
])('leaves %s to it', (_, query) => {
  expect(findPlan(findOperation(query))).toBeNull();
});

it('leaves fields that need others, and supergraphs of another age, to it', () => {
  const graph = (join: string) => `
    schema @link(url: "https://specs.apollo.dev/${join}", for: EXECUTION) { query: Query }
    enum join__Graph { A @join__graph(name: "a", url: "") B @join__graph(name: "b", url: "") }
    type Query @join__type(graph: A) @join__type(graph: B) { one: One @join__field(graph: A) both: One }
    type One @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
      id: ID!
      own: Int @join__field(graph: A)
      needs: Int @join__field(graph: A, requires: "far")
      far: Int @join__field(graph: A, external: true) @join__field(graph: B)
    }`;
  const findKind = (join: string, query: string) =>
    planOfOneSubgraph(graph(join))(findOperation(query))?.node?.kind;
  expect(findKind('join/v0.3', '{ one { id own } }')).toBe('Fetch');
  expect(findKind('join/v0.2', '{ one { id own } }')).toBeUndefined();
  for (const query of ['{ one { needs } }', '{ one { far } }', '{ both { id } }'])
    expect(findKind('join/v0.3', query)).toBeUndefined();
});
