import { sections } from '../../rest-compat/tables.ts';
import { collectPolicy } from '../../schema/policy.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { extent } from '../kit/extent.ts';
import { fieldCall, sendField } from '../policy/graphql-calls.ts';
import { routeCall, sendRoute } from '../policy/rest-calls.ts';
import { SOMEBODY } from './history.ts';

/** A round of public calls over a long history, by the one whose server has a tenth of it, who is an administrator. */

/** Where they go, and as whom. */
export interface Round {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A task that has ended, an execution and a file have this id; a payment has it after `pay_`. */
  readonly id: string;
}

const schemas = { media: mediaSchema, workflow: workflowSchema };
const policy = collectPolicy(
  Object.entries(schemas).map(([name, schema]) => ({ name, schema })),
  sections,
);

/** Streams say nothing of what has ended long ago. */
const SILENT = ['taskProgress', 'tasksProgress', 'executionProgress', 'paymentUpdated', 'chatStream'];
/** Erases the caller. */
const LAST = ['deleteAccount'];
/** Fields and routes whose id is a payment's. */
const OF_PAYMENTS = /payment/i;

/** Every root field and every REST route, as far as their tables tell what they need. */
export async function callEverything({ url, headers, id }: Round): Promise<void> {
  for (const field of policy.fields) {
    if (field.rule === 'service' || SILENT.includes(field.name) || LAST.includes(field.name)) continue;
    const own = JSON.stringify(OF_PAYMENTS.test(field.name) ? `pay_${id}` : id);
    const given = { id: field.name === 'deletePerson' ? '"usr_9"' : own, taskId: JSON.stringify(id) };
    const call = fieldCall(schemas[field.subgraph as keyof typeof schemas], field, {
      userId: SOMEBODY,
      given,
    });
    // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other, over few connections
    await sendField(url, call, headers);
  }
  const ids = { task_id: id, taskId: id, paymentId: `pay_${id}`, payment_id: `pay_${id}`, userId: SOMEBODY };
  for (const ruled of policy.routes) {
    const given = Object.fromEntries(Object.entries(ids).filter(([name]) => name in ruled.route.params));
    // oxlint-disable-next-line eslint/no-await-in-loop -- as above
    await sendRoute(url, routeCall(ruled, { userId: SOMEBODY, given }), headers);
  }
}

const TASK_FIELDS =
  'id state stage progress provider model outputs { id url } attempts { number } input { prompt }';

/** Lists with what consoles and shops ask of them: pages, filters, the fields of each. */
const READS: readonly string[] = [
  `{ tasks(first: 20) { totalCount edges { node { ${TASK_FIELDS} } } pageInfo { hasNextPage } } }`,
  `{ tasks(first: 20, filter: { states: [FAILED] }) { totalCount edges { node { ${TASK_FIELDS} } } } }`,
  `{ tasks(first: 20, filter: { states: [QUEUED, RUNNING] }) { totalCount edges { node { id } } } }`,
  `{ tasks(first: 20, filter: { states: [CANCELLED, FAILED], owner: "${SOMEBODY}" }) { totalCount edges { node { id } } } }`,
  `{ tasks(first: 20, filter: { owner: "${SOMEBODY}" }) { totalCount edges { node { id } } } }`,
  `{ medias(first: 20) { totalCount edges { node { id url task { id } } } } }`,
  `{ medias(first: 20, filter: { owner: "${SOMEBODY}" }) { totalCount edges { node { id } } } }`,
  `{ executions(first: 20, userId: "${SOMEBODY}") { totalCount edges { node { id status task { id } } } } }`,
  `{ executions(first: 20) { totalCount edges { node { id status } } } }`,
  `{ payments(first: 20) { totalCount edges { node { id status refunds { id } execution { id } } } } }`,
  `{ payments(first: 20, userId: "${SOMEBODY}") { totalCount edges { node { id } } } }`,
  `{ payments(first: 20, filter: { statuses: [REFUNDED] }) { totalCount edges { node { id } } } }`,
  `{ users(first: 20) { edges { node { id } } } }`,
  `{ auditEntries(first: 20) { edges { node { id } } } }`,
  `{ auditEntries(first: 20, caller: "${SOMEBODY}") { edges { node { id } } } }`,
  `{ auditEntries(first: 20, caller: "nobody") { edges { node { id } } } }`,
  `{ shares { id } sessions { id } userSessions(userId: "${SOMEBODY}") { id } }`,
  `{ providerHealth { binding attempts } health { service } workflowHealth { __typename } }`,
];

/** How often each is read: after five times PostgreSQL may keep one plan for all values, which `npm run test:all` awaits. */
const AGAIN = extent(2, 7);

const CHAT = `mutation {
  chat(input: { generator: "llm", conversation: [{ role: USER, text: "a fox?" }] }, idempotencyKey: "fox") { text }
}`;

/** Reads lists; throws what they are refused with. */
export async function readLists({ url, headers }: Round): Promise<void> {
  for (let count = 0; count < AGAIN; count += 1)
    // oxlint-disable-next-line eslint/no-await-in-loop -- as above
    for (const query of READS) await ask({ url, headers }, query);
}

const START =
  'mutation ($key: String!) { generateImage(input: { generator: "agg/imga", prompt: "a fox" }, idempotencyKey: $key) { id } }';

/** Work from its start to its end, a chat, and budgets of each scope. */
export async function work(round: Round): Promise<void> {
  for (const [scope, subject] of [
    ['USER', SOMEBODY],
    ['KEY', 'key_shop'],
    ['GENERATOR', 'agg/imga'],
    ['TOTAL', null],
  ]) {
    const create = `mutation ($subject: String) { createBudget(scope: ${scope}, subject: $subject, input: { amount: 1000000, maxRunning: 1000 }) { id } }`;
    const { createBudget } = await ask(round, create, { subject });
    await ask(
      round,
      `mutation ($id: ID!) { updateBudget(id: $id, input: { amount: 2000000 }) { id } }`,
      createBudget,
    );
  }
  await ask(round, CHAT);
  for (let count = 0; count < AGAIN; count += 1) {
    const { generateImage } = await ask(round, START, { key: `key ${count}` });
    await until(
      () => ask(round, 'query ($id: ID!) { task(id: $id) { state } }', generateImage),
      ({ task }) => task.state === 'SUCCEEDED',
    );
  }
}

/** Asks, and throws when it is refused. */
async function ask(
  { url, headers }: Pick<Round, 'url' | 'headers'>,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's
): Promise<any> {
  const { data, errors } = await graphql(url, query, variables, headers);
  if (errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  return data;
}
