import { randomUUID } from 'node:crypto';

import { graphql, rest } from '../kit/clients/requests.ts';
import type { CallerName, PolicySetup } from './setup.ts';

/** One of everything that somebody can own. */
export interface OwnedResources {
  readonly task: string;
  readonly delivery: string;
  readonly file: string;
  readonly board: string;
  /** An operation on many tasks, which matches none. */
  readonly operation: string;
  /** An address of that file to be passed on. */
  readonly share: string;
  readonly conversation: string;
  /** Name of a saved ComfyUI graph that is not published. */
  readonly workflow: string;
  readonly execution: string;
  /** The task of the execution. */
  readonly executionTask: string;
  readonly externalId: string;
  readonly payment: string;
  readonly paymentSession: string;
}

const TASK = 'mutation { createTask(taskType: "tea", prompt: "mine") { id } }';
const EXECUTION = `mutation ($parameters: JSON!, $onBehalfOf: ID, $externalId: String) {
  executeTemplate(code: "poster", parameters: $parameters, onBehalfOf: $onBehalfOf, externalId: $externalId) { id taskId }
}`;
const PAYMENT = `mutation ($userId: ID!, $parameters: JSON!) {
  checkout(templateCode: "poster", userId: $userId, parameters: $parameters) { sessionId payment { id } }
}`;
const BOARD = 'mutation { createBoard(name: "Mine") { id } }';
const OPERATION = 'mutation { cancelTasks(filter: { text: "no task has this" }) { id } }';
const SHARE = 'mutation ($id: ID!) { shareMedia(id: $id) { id } }';
const CONVERSATION = `mutation ($id: ID!) { saveConversation(id: $id, input: { title: "Mine", generator: "llm",
  messages: [{ id: $id, role: USER, text: "mine" }] }) { id } }`;
const WORKFLOW = 'mutation ($name: ID!, $graph: JSON!) { saveWorkflow(name: $name, graph: $graph) { id } }';
const graph = {
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 32, batch_size: 1, color: 1 } },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'mine' } },
};
const parameters = { prompt: 'mine' };

/** Who makes things of their own, unless `userId` says for whom. */
interface Owner {
  readonly kiln: PolicySetup['kiln'];
  readonly headers: Readonly<Record<string, string>>;
  readonly userId: string;
}

/** Sends a mutation; throws when it is refused. */
async function ask({ kiln, headers }: Owner, mutation: string, variables: object = {}) {
  const { data, errors } = await graphql(kiln.url, mutation, { ...variables }, headers);
  if (errors !== undefined) throw new Error(`nothing to own: ${JSON.stringify(errors)}`);
  return data;
}

/** Makes one kind of thing, each with what it needs. */
const CREATE = {
  async task(owner: Owner) {
    return { task: (await ask(owner, TASK)).createTask.id as string };
  },
  async file({ kiln, headers }: Owner) {
    const form = new FormData();
    form.set('file', new Blob(['mine']), 'mine.txt');
    const { body } = await rest(kiln.url, 'POST', '/api/file/upload', form, headers);
    return { file: body.extra.key as string };
  },
  async share(owner: Owner) {
    const { file } = await CREATE.file(owner);
    return { file, share: (await ask(owner, SHARE, { id: file })).shareMedia.id as string };
  },
  async board(owner: Owner) {
    return { board: (await ask(owner, BOARD)).createBoard.id as string };
  },
  async operation(owner: Owner) {
    return { operation: (await ask(owner, OPERATION)).cancelTasks.id as string };
  },
  async conversation(owner: Owner) {
    const { saveConversation } = await ask(owner, CONVERSATION, { id: randomUUID() });
    return { conversation: saveConversation.id as string };
  },
  async workflow(owner: Owner) {
    const { saveWorkflow } = await ask(owner, WORKFLOW, { name: `mine-${randomUUID()}`, graph });
    return { workflow: saveWorkflow.id as string };
  },
  async execution(owner: Owner) {
    const externalId = `mine-${randomUUID()}`;
    const variables = { parameters, onBehalfOf: owner.userId, externalId };
    const { executeTemplate } = await ask(owner, EXECUTION, variables);
    return {
      execution: executeTemplate.id as string,
      executionTask: executeTemplate.taskId as string,
      externalId,
    };
  },
  async payment(owner: Owner) {
    const { checkout } = await ask(owner, PAYMENT, { userId: owner.userId, parameters });
    return { payment: checkout.payment.id as string, paymentSession: checkout.sessionId as string };
  },
} as const;

/** A kind of thing that can be made alone. */
export type OwnedKind = keyof typeof CREATE;

/** Makes one thing of a caller, with what it needs. */
export function createOwnedResource<Kind extends OwnedKind>(
  { kiln, callers }: PolicySetup,
  by: CallerName,
  kind: Kind,
): ReturnType<(typeof CREATE)[Kind]> {
  const owner = { kiln, headers: callers[by].headers, userId: callers[by].id };
  return CREATE[kind](owner) as ReturnType<(typeof CREATE)[Kind]>;
}

/** What a caller starts, uploads and buys, for themselves unless `userId` says for whom. */
export async function createOwnedResources(
  { kiln, callers }: PolicySetup,
  by: CallerName,
  userId = callers[by].id,
): Promise<OwnedResources> {
  const owner = { kiln, headers: callers[by].headers, userId };
  const [started, execution, payment, share] = await Promise.all([
    CREATE.task(owner),
    CREATE.execution(owner),
    CREATE.payment(owner),
    CREATE.share(owner),
  ]);
  const delivery = randomUUID();
  await kiln.runtime.database.pool.query(
    `insert into media.webhook_deliveries (id, task_id, url, state) values ($1, $2, 'https://mine.example/', 'DELIVERED')`,
    [delivery, started.task],
  );
  return {
    ...started,
    ...execution,
    ...payment,
    ...share,
    ...(await CREATE.board(owner)),
    ...(await CREATE.operation(owner)),
    ...(await CREATE.conversation(owner)),
    ...(await CREATE.workflow(owner)),
    delivery,
  };
}
