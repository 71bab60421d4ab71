import {
  getNamedType,
  isLeafType,
  isObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Caller } from '../../platform/access/caller.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** A page of tasks, or one task, is read with what its operation needs: each field, asked for alone, says what it says of a whole one. */

let kiln: KilnUnderTest;
let ids: readonly string[];
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true, settings: { REST_AUTH: 'compat' } });
  const image = await done('image: generateImage(input: { generator: "agg/imga", prompt: "a fox" }) { id }');
  const { task } = await asked(`{ task(id: "${image}") { outputs { id } } }`);
  const media = `{ fileId: "${task.outputs[0].id}" }`;
  ids = [
    image,
    await done(`analyzeMedia(input: { generator: "llm/altllm", prompt: "Why?", media: ${media} }) { id }`),
    await done(`generateImage(input: { generator: "agg/imga", prompt: "two", images: [${media}] }) { id }`),
  ];
  await kiln.runtime.database.pool.query(
    `update media.tasks set sold = id = $1, traceparent = concat_ws('-', '00', repeat('a', 32), repeat('b', 16), '01')`,
    [ids[2]],
  );
});
afterAll(() => kiln.close());

const caller: Caller = { kind: 'user', id: 'usr_anna', scopes: [], traceId: 'test', address: null };
const context = { caller, signal: new AbortController().signal };

/** Asks as a signed-in user. */
async function asked(query: string) {
  const { data, errors } = await kiln.federation.execute({ query, variables: {}, context });
  expect(errors).toBeUndefined();
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
  return data as Record<string, any>;
}

/** The field of tasks as other subgraphs reach them, which reads them whole. */
async function wholeTasks(wanted: readonly string[], field: string): Promise<readonly unknown[]> {
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Task { ${field} } } }`;
  const representations = wanted.map((id) => ({ __typename: 'Task', id }));
  const { subgraph } = kiln.media;
  const link = createLocalLink({ subgraph, logger: silentLogger() });
  const { data, errors } = await link.execute({ query, variables: { representations }, context });
  expect(errors).toBeUndefined();
  return (data as { readonly _entities: readonly unknown[] })._entities;
}

/** Starts work and waits for its end; answers its id. */
async function done(mutation: string): Promise<string> {
  const id = String(Object.values(await asked(`mutation { ${mutation} }`))[0].id);
  await until(
    () => asked(`{ task(id: "${id}") { state } }`),
    ({ task }) => task.state === 'SUCCEEDED',
  );
  return id;
}

/** Every leaf of a type, two objects deep; addresses that are new in every answer are left out. */
function selectLeaves(type: GraphQLNamedType, depth = 2): string {
  if (isLeafType(type)) return '';
  if (!isObjectType(type)) return '{ __typename }';
  const selections = Object.values(type.getFields())
    .filter(({ name }) => name !== 'shareUrl')
    .map(({ name, type: inner }) => ({ name, inner: getNamedType(inner) }))
    .filter(({ inner }) => isLeafType(inner) || depth > 0)
    .map(({ name, inner }) => `${name} ${selectLeaves(inner, depth - 1)}`);
  return `{ __typename ${selections.join(' ')} }`;
}

const namesIn = (type: string) =>
  Object.values((mediaSchema.getType(type) as GraphQLObjectType).getFields()).map(
    ({ name, type: inner }) => `${name} ${selectLeaves(getNamedType(inner))}`,
  );

it.each([
  ...namesIn('Task'),
  ...namesIn('Media')
    .filter((field) => !field.startsWith('shareUrl'))
    .map((field) => `outputs { ${field} }`),
])('%s', async (field) => {
  const { tasks } = await asked(`{ tasks(first: 10) { edges { node { ${field} } } } }`);
  const listed = tasks.edges.map(({ node }: { node: unknown }) => node);
  const newestFirst = ids.toReversed();
  const alone = newestFirst.map((id, index) => `t${index}: task(id: "${id}") { ${field} }`);
  const whole = await wholeTasks(newestFirst, field);
  expect(Object.values(await asked(`{ ${alone.join(' ')} }`))).toEqual(whole);
  expect(listed).toEqual(whole);
});
