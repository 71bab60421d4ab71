import type { FetchNode } from '@apollo/query-planner';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import {
  composeTwoSubgraphs,
  contextOf,
  createTwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createPlanRunner } from './plan-runner.ts';
import { createPlanner, type RequestPlan } from './plans.ts';

const logger = silentLogger();
const planner = createPlanner(composeTwoSubgraphs());
const two = createTwoSubgraphs();
const links = {
  media: createLocalLink({ subgraph: two.media, logger }),
  workflow: createLocalLink({ subgraph: two.workflow, logger }),
};
const runner = createPlanRunner({ planner, links, logger });

function requestPlan(query: string): RequestPlan {
  const plan = planner.planOf(parse(query), undefined);
  if (plan.kind !== 'request') throw new Error('not a request');
  return plan;
}

function run(plan: RequestPlan, query: string, variables = {}) {
  return runner.runRequest(plan, { query, variables, context: contextOf() });
}

const plain: readonly (readonly [query: string, variables: object])[] = [
  ['query ($id: ID!) { task(id: $id) { id state progress } }', { id: 't2' }],
  ['query ($id: ID!) { one: task(id: $id) { key: id previous { id } } }', { id: 't2' }],
  [
    '{ task(id: "t2") { ...Card } } fragment Card on Task { id outputs { ...Link } } fragment Link on File { url }',
    {},
  ],
  ['{ tasks(first: 2) { ... on Task { id } ... { state } } }', {}],
  ['{ find { __typename ... on Task { id } ... on File { url } } }', {}],
  ['{ node(id: "t2") { __typename id ... on Task { state } } }', {}],
  ['{ task(id: "none") { id } }', {}],
  ['{ executions { id name } }', {}],
];

const shaped: readonly (readonly [query: string, variables: object])[] = [
  ['{ task(id: "t2") { id execution { name } } }', {}],
  ['{ find { ... on Task { id } } }', {}],
  ['{ task(id: "t2") { id id } }', {}],
  ['query ($with: Boolean!) { task(id: "t2") { id state @include(if: $with) } }', { with: true }],
  [
    'query ($with: Boolean!) { task(id: "t2") { id ...More @skip(if: $with) } } fragment More on Task { state }',
    { with: true },
  ],
  ['{ __typename task(id: "t2") { id } }', {}],
  ['{ task(id: "t2") { id } __schema { queryType { name } } }', {}],
];

describe('an answer that needs no second shaping', () => {
  it.each(plain)('is found for %s, and is what the executor would have made', async (query, variables) => {
    const plan = requestPlan(query);
    expect(plan.passThrough).not.toBeNull();
    const answer = await run(plan, query, variables);
    expect(answer.data).toBeTruthy();
    const executed = await run({ ...plan, passThrough: null }, query, variables);
    expect(JSON.stringify(answer)).toBe(JSON.stringify(executed));
  });

  it.each(shaped)('is not assumed for %s', async (query, variables) => {
    const plan = requestPlan(query);
    expect(plan.passThrough).toBeNull();
    expect((await run(plan, query, variables)).data).toBeTruthy();
  });

  it('is told with its errors in the words of the executor, without asking twice', async () => {
    const query = '{ task(id: "t2") { id refused } fail(how: "limited") }';
    const plan = requestPlan(query);
    let asked = 0;
    const counting = {
      ...links,
      media: {
        ...links.media,
        execute: (request: Parameters<typeof links.media.execute>[0]) => {
          asked += 1;
          return links.media.execute(request);
        },
      },
    };
    const counted = createPlanRunner({ planner, links: counting, logger });
    const answer = await counted.runRequest(plan, { query, variables: {}, context: contextOf() });
    expect(asked).toBe(1);
    const executed = await run({ ...plan, passThrough: null }, query);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(JSON.parse(JSON.stringify(executed)));
  });

  it('sends only the variables that its fetch uses', async () => {
    const query = 'query ($id: ID!, $unused: Int) { task(id: $id) { id } }';
    const { passThrough } = requestPlan(query);
    expect((passThrough as FetchNode).variableUsages).toEqual(['id']);
    const answer = await run(requestPlan(query), query, { id: 't1', unused: 3 });
    expect(answer.data).toEqual({ task: { id: 't1' } });
  });
});
