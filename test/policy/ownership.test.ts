import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { sections } from '../../rest-compat/tables.ts';
import { collectPolicy } from '../../schema/policy.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';
import { graphql, rest, type GraphqlAnswer } from '../kit/clients/requests.ts';
import { fieldCall, sendField } from './graphql-calls.ts';
import {
  createOwnedResource,
  createOwnedResources,
  type OwnedKind,
  type OwnedResources,
} from './owned-resources.ts';
import { routeCall, sendRoute, type RouteAnswer } from './rest-calls.ts';
import { callerNames, openPolicySetup, type CallerName, type PolicySetup } from './setup.ts';

/**
 * What somebody owns, asked for by everybody, through each root field and each route that names a thing: it is found by
 * those it belongs to, and does not exist for others. A field that is in neither list below fails.
 */

const schemas = { media: mediaSchema, workflow: workflowSchema };
const policy = collectPolicy(
  Object.entries(schemas).map(([name, schema]) => ({ name, schema })),
  sections,
);

let world: PolicySetup;
let things: OwnedResources;
beforeAll(async () => {
  world = await openPolicySetup('compat');
  things = await createOwnedResources(world, 'owner');
});
afterAll(() => world?.kiln.close());

type Finders = readonly CallerName[];
const READERS: Finders = ['owner', 'key', 'admin'];
const CHANGERS: Finders = ['owner', 'admin'];

interface Thing {
  readonly foundBy: Finders;
  /** Arguments, as GraphQL text. */
  readonly given?: (things: OwnedResources) => Readonly<Record<string, string>>;
  readonly selection?: string;
  /** For lists: the id that has to be in it. */
  readonly contains?: (things: OwnedResources) => string;
  /** It ends a thing of this kind: everybody gets one of their own to ask for. */
  readonly ends?: OwnedKind;
}

const text = (value: string): string => JSON.stringify(value);
const task = ({ task: id }: OwnedResources) => ({ id: text(id) });
const execution = ({ execution: id }: OwnedResources) => ({ id: text(id) });
const payment = ({ payment: id }: OwnedResources) => ({ id: text(id) });
const boardFiles = ({ board, file }: OwnedResources) => ({
  id: text(board),
  mediaIds: `[${text(file)}]`,
});
const workflow = ({ workflow: id }: OwnedResources) => ({ id: text(id) });
const nodes = 'edges { node { id } }';

/** Fields that name something that is owned. */
const NAMING: Readonly<Record<string, Thing>> = {
  task: { foundBy: READERS, given: task },
  tasks: { foundBy: CHANGERS, selection: nodes, contains: ({ task: id }) => id },
  // The id stands in the public address: it reads, and changes nothing.
  media: { foundBy: callerNames, given: ({ file }) => ({ id: text(file) }) },
  // Addresses are permanent in these tests: who may read a file may pass it on.
  shareMedia: { foundBy: callerNames, given: ({ file }) => ({ id: text(file) }) },
  shares: { foundBy: ['owner'], selection: 'id', contains: ({ share }) => share },
  revokeShare: { foundBy: CHANGERS, given: ({ share }) => ({ id: text(share) }), ends: 'share' },
  conversation: { foundBy: READERS, given: ({ conversation: id }) => ({ id: text(id) }) },
  conversationMessages: {
    foundBy: READERS,
    given: ({ conversation: id }) => ({ id: text(id) }),
    selection: 'text',
  },
  conversations: { foundBy: ['owner'], selection: 'id', contains: ({ conversation: id }) => id },
  saveConversation: {
    foundBy: CHANGERS,
    given: ({ conversation: id }) => ({ id: text(id), input: '{ title: "Mine", generator: "llm" }' }),
  },
  deleteConversation: {
    foundBy: CHANGERS,
    given: ({ conversation: id }) => ({ id: text(id) }),
    ends: 'conversation',
  },
  boards: { foundBy: ['owner'], selection: 'id', contains: ({ board }) => board },
  renameBoard: { foundBy: CHANGERS, given: ({ board }) => ({ id: text(board), name: '"Ours"' }) },
  addToBoard: { foundBy: CHANGERS, given: boardFiles },
  removeFromBoard: { foundBy: CHANGERS, given: boardFiles },
  shareBoard: { foundBy: CHANGERS, given: ({ board }) => ({ id: text(board) }) },
  unshareBoard: { foundBy: CHANGERS, given: ({ board }) => ({ id: text(board) }) },
  deleteBoard: { foundBy: CHANGERS, given: ({ board }) => ({ id: text(board) }), ends: 'board' },
  bulkOperations: { foundBy: CHANGERS, selection: 'id', contains: ({ operation }) => operation },
  stopBulkOperation: { foundBy: CHANGERS, given: ({ operation }) => ({ id: text(operation) }) },
  medias: { foundBy: CHANGERS, selection: nodes, contains: ({ file }) => file },
  taskProgress: { foundBy: READERS, given: task },
  webhookDeliveries: {
    foundBy: CHANGERS,
    given: ({ task: id }) => ({ taskId: text(id) }),
    selection: 'id',
    contains: ({ delivery }) => delivery,
  },
  redeliverWebhook: { foundBy: CHANGERS, given: ({ delivery }) => ({ id: text(delivery) }) },
  execution: { foundBy: READERS, given: execution },
  executions: { foundBy: READERS, selection: nodes, contains: ({ execution: id }) => id },
  executionProgress: { foundBy: READERS, given: execution },
  payment: { foundBy: READERS, given: payment },
  payments: { foundBy: READERS, selection: nodes, contains: ({ payment: id }) => id },
  paymentUpdated: { foundBy: READERS, given: payment },
  reconcilePayment: { foundBy: READERS, given: payment },
  cancelTask: { foundBy: CHANGERS, given: task },
  // Who may delete it is told that it has to end first, or ends it.
  deleteTask: { foundBy: CHANGERS, given: task, ends: 'task' },
  deleteMedia: { foundBy: CHANGERS, given: ({ file }) => ({ id: text(file) }), ends: 'file' },
  savedWorkflow: { foundBy: CHANGERS, given: workflow },
  savedWorkflows: { foundBy: CHANGERS, selection: 'id', contains: ({ workflow: id }) => id },
  publishWorkflow: {
    foundBy: CHANGERS,
    given: (all) => ({ ...workflow(all), version: '1' }),
    ends: 'workflow',
  },
  withdrawWorkflow: { foundBy: CHANGERS, given: workflow },
  deleteWorkflow: { foundBy: CHANGERS, given: workflow, ends: 'workflow' },
};

/** Fields of the same rules that name nothing that is owned, or have a test of their own below. */
const OTHERS = [
  'checkPrompt',
  'estimateCost',
  // A model belongs to nobody.
  'model',
  'findModels',
  // Own usage alone: subgraphs/media/usage/usage.test.ts.
  'usage',
  // Own budgets alone: subgraphs/media/budgets/budgets.test.ts.
  'myBudgets',
  'providerVoices',
  'runningNode',
  'voices',
  // A board that is made belongs to whoever makes it, stars are the caller's own: test/graphql/file-access.test.ts.
  'createBoard',
  'starMedia',
  'sharedBoard',
  // What is saved belongs to whoever saves it; a roll-back needs two publications: test/graphql/saved-workflows.test.ts.
  'proposedWorkflow',
  'saveWorkflow',
  'rollBackWorkflow',
  // Acts on the caller's own alone: test/graphql/library.test.ts.
  'cancelTasks',
  // Brings the caller's own alone: faces/comfy/comfy.test.ts.
  'mediaByBlake3',
  'uploadFile',
  'uploadVoiceSample',
  'uploadToProvider',
  'uploadLipSyncResource',
  // Names nothing: test/graphql/library.test.ts shows that it brings the caller's own alone.
  'tasksProgress',
  // The user it names is the matrix's.
  'checkout',
  'cancelPayment',
  'sessions',
  'revokeSession',
  'deleteAccount',
  // Names nothing: test/graphql/deletion.test.ts shows that it brings the caller's own alone.
  'exportMyData',
  // Proofs that stand for themselves.
  'beginSignIn',
  'completeSignIn',
  'refreshSession',
  'signInWithPlatform',
  'takePaymentEvent',
];

const looksAtThings = policy.fields.filter(({ rule }) => ['anyone', 'owner', 'proof'].includes(rule));

function isFound({ data, errors }: GraphqlAnswer, name: string, id: string | undefined): boolean {
  const [error] = errors ?? [];
  const code = error?.extensions['code'];
  if (code === 'TOO_LATE' || code === 'CONFLICT') return true;
  if (error !== undefined && !['NOT_FOUND', 'FORBIDDEN', 'UNAUTHENTICATED'].some((one) => one === code)) {
    throw new Error(`${name} is broken: ${JSON.stringify(errors)}`);
  }
  if (error !== undefined) return false;
  return data[name] !== null && (id === undefined || JSON.stringify(data[name]).includes(id));
}

describe('what somebody owns', () => {
  it('is named by known fields: a new one says here who finds the thing', () => {
    const listed = [...Object.keys(NAMING), ...OTHERS];
    expect(looksAtThings.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
  });

  it.each(Object.entries(NAMING))('is found through %s by whom it belongs to', async (name, thing) => {
    const field = looksAtThings.find((one) => one.name === name);
    if (field === undefined) throw new Error(`no field ${name} is ruled so that it looks at things`);
    const { owner } = world.callers;
    const ask = async (who: CallerName) => {
      const own = thing.ends === undefined ? {} : await createOwnedResource(world, 'owner', thing.ends);
      const named = { ...things, ...own };
      const call = fieldCall(schemas[field.subgraph as keyof typeof schemas], field, {
        userId: owner.id,
        given: thing.given?.(named) ?? {},
        ...(thing.selection === undefined ? {} : { selection: thing.selection }),
      });
      const answer = await sendField(world.kiln.url, call, world.callers[who].headers);
      return isFound(answer, name, thing.contains?.(named)) ? who : null;
    };
    const found = await Promise.all(callerNames.map(ask));
    expect(found.filter((who) => who !== null)).toEqual(thing.foundBy);
  });
});

/** Parameters of routes that name a thing. */
const NAMED: Readonly<Record<string, (things: OwnedResources) => string>> = {
  task_id: ({ task: id }) => id,
  taskId: ({ executionTask }) => executionTask,
  paymentId: ({ payment: id }) => id,
};

const namingRoutes = policy.routes.filter(
  ({ rule, route }) =>
    ['anyone', 'owner', 'proof'].includes(rule) && Object.keys(route.params).some((name) => name in NAMED),
);

/** A task that somebody may see is told apart from none, also where it is not one of the path's own group. */
function isFoundAt({ status, message }: RouteAnswer): boolean {
  return status === 200 && !message.startsWith('no task');
}

describe('what somebody owns, over REST', () => {
  it.each(namingRoutes.map((ruled) => [`${ruled.route.method} ${ruled.route.path}`, ruled] as const))(
    'is found through %s by whom it belongs to',
    async (_, ruled) => {
      const given = Object.fromEntries(
        Object.keys(ruled.route.params).flatMap((param) => {
          const id = NAMED[param]?.(things);
          return id === undefined ? [] : [[param, id]];
        }),
      );
      const call = routeCall(ruled, { userId: world.callers.owner.id, given });
      const answers = await Promise.all(
        callerNames.map(async (who) => {
          const answer = await sendRoute(world.kiln.url, call, world.callers[who].headers);
          return isFoundAt(answer) ? [who] : [];
        }),
      );
      expect(answers.flat()).toEqual(READERS);
    },
  );
});

describe('a payment', () => {
  const CANCEL =
    'mutation ($id: ID, $sessionId: String) { cancelPayment(id: $id, sessionId: $sessionId) { status } }';
  const READ =
    'mutation ($id: ID, $sessionId: String) { reconcilePayment(id: $id, sessionId: $sessionId) { id } }';
  const readCode = ({ errors }: GraphqlAnswer) => errors?.[0]?.extensions['code'] ?? null;

  it('is read by the browser that comes back with its session and no credential, and by nobody else who has signed in', async () => {
    const { payment: id, paymentSession: sessionId } = things;
    const other = await createOwnedResource(world, 'owner', 'payment');
    for (const who of ['anonymous', 'other'] as const) {
      const { headers } = world.callers[who];
      const read = async (key: object) => readCode(await graphql(world.kiln.url, READ, { ...key }, headers));
      const expected = who === 'anonymous' ? null : 'NOT_FOUND';
      expect(await read({ id, sessionId })).toBe(expected);
      expect(await read({ sessionId })).toBe(expected);
      expect(await read({ id })).toBe('NOT_FOUND');
      expect(await read({ id, sessionId: other.paymentSession })).toBe('NOT_FOUND');
    }
    const mine = await graphql(
      world.kiln.url,
      READ,
      { id, sessionId: other.paymentSession },
      world.callers.owner.headers,
    );
    expect(readCode(mine)).toBe('BAD_USER_INPUT');
  });

  it('is ended by its buyer and administrators, and by the browser that is sent back unpaid', async () => {
    const cancel = async (who: CallerName) => {
      const { payment: id } = await createOwnedResource(world, 'owner', 'payment');
      return readCode(await graphql(world.kiln.url, CANCEL, { id }, world.callers[who].headers));
    };
    const codes = await Promise.all(callerNames.map(async (who) => [who, await cancel(who)]));
    expect(Object.fromEntries(codes)).toEqual({
      anonymous: null,
      other: 'NOT_FOUND',
      owner: null,
      key: 'NOT_FOUND',
      admin: null,
    });
  });
});

describe('a session', () => {
  it('is listed and closed by its user alone', async () => {
    const { owner } = await world.signInAgain();
    const sessions = async (headers: object) =>
      (await graphql(world.kiln.url, '{ sessions { id current } }', {}, { ...headers })).data.sessions;
    const { id } = (await sessions(owner.headers)).find((one: { current: boolean }) => one.current);
    const CLOSE = 'mutation ($id: ID) { revokeSession(id: $id) }';
    for (const who of ['anonymous', 'other', 'key', 'admin'] as const) {
      const { headers } = world.callers[who];
      expect(JSON.stringify(await sessions(headers))).not.toContain(id);
      const { errors } = await graphql(world.kiln.url, CLOSE, { id }, headers);
      expect([who, errors?.[0]?.extensions['code']]).toEqual([who, 'NOT_FOUND']);
    }
    expect((await graphql(world.kiln.url, CLOSE, { id }, world.callers.owner.headers)).data).toEqual({
      revokeSession: true,
    });
  });
});

describe('what is joined', () => {
  const ask = async (who: CallerName, query: string, id: string) =>
    (await graphql(world.kiln.url, query, { id }, world.callers[who].headers)).data;

  it('is not seen through a thing that everybody may see', async () => {
    const { pool } = world.kiln.runtime.database;
    const bought = await createOwnedResources(world, 'owner');
    const { owner, anonymous, other } = world.callers;
    // A purchase whose parts belong to different people, as no purchase does: each row in turn is nobody's.
    await pool.query('update workflow.payments set execution_id = $1 where id = $2', [
      bought.execution,
      bought.payment,
    ]);
    const openUp = (schema: string, table: string, column: string, id: string, to: string) =>
      pool.query(`update ${schema}.${table} set owner = $1 where ${column} = $2`, [to, id]);

    const cases = [
      {
        row: ['media', 'tasks', 'id', bought.executionTask],
        id: bought.executionTask,
        query: 'query ($id: ID!) { task(id: $id) { id execution { id payment { id } user { id email } } } }',
        root: 'task',
        hidden: 'execution',
      },
      {
        row: ['workflow', 'executions', 'id', bought.execution],
        id: bought.execution,
        query: 'query ($id: ID!) { execution(id: $id) { id payment { id } user { id email } } }',
        root: 'execution',
        hidden: 'payment',
      },
      {
        row: ['workflow', 'payments', 'id', bought.payment],
        id: bought.payment,
        query:
          'query ($id: ID!) { payment(id: $id) { id execution { id } user { id email payments { edges { node { id } } } } } }',
        root: 'payment',
        hidden: 'execution',
      },
    ] as const;
    for (const { row, id, query, root, hidden } of cases) {
      const [schema, table, column, key] = row;
      await openUp(schema, table, column, key, 'anon');
      for (const who of [anonymous, other]) {
        const { data } = await graphql(world.kiln.url, query, { id }, who.headers);
        expect(data[root]).toMatchObject({ id, [hidden]: null });
        expect(JSON.stringify(data)).not.toContain('ada@sandbox.example');
      }
      const mine = (await graphql(world.kiln.url, query, { id }, owner.headers)).data[root];
      expect(mine[hidden]).not.toBeNull();
      await openUp(schema, table, column, key, owner.id);
    }
  });

  it('can not be asked for by key at the gateway', async () => {
    const query = `query ($id: ID!) { _entities(representations: [{ __typename: "Payment", id: $id }]) { __typename } }`;
    expect(await ask('admin', query, things.payment)).toBeUndefined();
  });
});

describe('what somebody without a credential bought for a name', () => {
  const NAME = 'customer-7';
  const BUY = `mutation ($userId: ID!) {
    checkout(templateCode: "poster", userId: $userId, parameters: { prompt: "secret words" }) { sessionId payment { id ppSessionId } }
  }`;
  const PAY = `mutation ($id: ID!, $sessionId: String!) { reconcilePayment(id: $id, sessionId: $sessionId) {
    ppSessionId execution { id taskId parameters } } }`;
  // Apart: without a credential a document may be no larger.
  const PAYMENTS =
    'query ($userId: ID!) { payments(userId: $userId) { edges { node { id status amount ppSessionId executionId taskId execution { id } } } } }';
  const EXECUTIONS =
    'query ($userId: ID!) { executions(userId: $userId) { edges { node { id status parameters externalId task { id } payment { ppSessionId } } } } }';
  const buy = async () => {
    const { data } = await graphql(world.kiln.url, BUY, { userId: NAME });
    return {
      id: data.checkout.payment.id,
      sessionId: data.checkout.sessionId,
      opened: data.checkout.payment,
    };
  };

  it('is wholly there for whoever has its session, and for others by the words of the documents alone', async () => {
    const { url } = world.kiln;
    const { id, sessionId, opened } = await buy();
    expect(opened.ppSessionId).toBe(sessionId);
    const paid = await graphql(url, PAY, { id, sessionId });
    const { execution } = paid.data.reconcilePayment;
    expect(paid.data.reconcilePayment).toMatchObject({
      ppSessionId: sessionId,
      execution: { parameters: { prompt: 'secret words' } },
    });
    const listed = await graphql(url, PAYMENTS, { userId: NAME });
    expect(listed.data.payments.edges).toContainEqual({
      node: expect.objectContaining({ id, status: 'COMPLETED', ppSessionId: null, execution: null }),
    });
    const answers = [
      listed,
      await graphql(url, EXECUTIONS, { userId: NAME }),
      await graphql(
        url,
        'query ($id: ID!) { payment(id: $id) { id ppSessionId executionId taskId execution { taskId } } }',
        { id },
      ),
      await graphql(
        url,
        'query ($id: ID!) { execution(id: $id) { id parameters task { id } payment { ppSessionId } } }',
        execution,
      ),
      await graphql(url, 'query ($id: ID!) { execution(id: $id) { taskId } }', execution),
      await graphql(
        url,
        'mutation ($id: ID!) { reconcilePayment(id: $id) { ppSessionId taskId execution { id } } }',
        { id },
      ),
      await graphql(
        url,
        'mutation ($id: ID!) { cancelPayment(id: $id) { ppSessionId taskId execution { id } } }',
        { id },
      ),
      ...(await Promise.all(
        [
          `/payment/history?userId=${NAME}`,
          `/payment/${id}`,
          `/payment/success?payment_id=${id}`,
          `/payment/cancel?payment_id=${id}`,
          `/templates/executions/user/${NAME}`,
        ].map(async (path) => (await rest(url, 'GET', path)).body),
      )),
    ];
    const told = JSON.stringify(answers);
    for (const secret of [sessionId, execution.taskId, 'secret words']) expect(told).not.toContain(secret);
    const byTask = await rest(url, 'GET', `/task/${execution.taskId}`);
    expect(byTask.body.data.id).toBe(execution.taskId);
  });

  it('is neither ended nor refunded by who knows its ids from a list', async () => {
    const { url } = world.kiln;
    const { id, sessionId } = await buy();
    for (const { headers } of [world.callers.anonymous, world.callers.other]) {
      const refund = await rest(url, 'POST', `/payment/refund/${id}`, { reason: 'user_request' }, headers);
      expect([401, 403]).toContain(refund.status);
      expect(
        (await rest(url, 'GET', `/payment/cancel?payment_id=${id}`, undefined, headers)).status,
      ).toBeLessThan(500);
    }
    const state = async () => (await rest(url, 'GET', `/payment/${id}`)).body.data.status;
    expect(await state()).toBe('pending');
    await rest(url, 'GET', `/payment/cancel?payment_id=${id}&session_id=${sessionId}`);
    expect(await state()).toBe('cancelled');
  });
});
