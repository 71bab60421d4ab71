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

/** What a caller starts, uploads and buys, for themselves unless `userId` says for whom. */
export async function createOwnedResources(
  { kiln, callers }: PolicySetup,
  by: CallerName,
  userId = callers[by].id,
): Promise<OwnedResources> {
  const { headers } = callers[by];
  const form = new FormData();
  form.set('file', new Blob(['mine']), 'mine.txt');
  const externalId = `mine-${randomUUID()}`;
  const [task, upload, execution, payment] = await Promise.all([
    graphql(kiln.url, TASK, {}, headers),
    rest(kiln.url, 'POST', '/api/file/upload', form, headers),
    graphql(kiln.url, EXECUTION, { parameters, onBehalfOf: userId, externalId }, headers),
    graphql(kiln.url, PAYMENT, { userId, parameters }, headers),
  ]);
  const failure = [...(task.errors ?? []), ...(execution.errors ?? []), ...(payment.errors ?? [])][0];
  if (failure !== undefined) throw new Error(`nothing to own: ${JSON.stringify(failure)}`);
  const board = await graphql(kiln.url, BOARD, {}, headers);
  const operation = await graphql(kiln.url, OPERATION, {}, headers);
  const share = await graphql(kiln.url, SHARE, { id: upload.body.extra.key }, headers);
  const conversation = await graphql(kiln.url, CONVERSATION, { id: randomUUID() }, headers);
  const workflow = await graphql(kiln.url, WORKFLOW, { name: externalId, graph }, headers);
  const delivery = randomUUID();
  await kiln.runtime.database.pool.query(
    `insert into media.webhook_deliveries (id, task_id, url, state) values ($1, $2, 'https://mine.example/', 'DELIVERED')`,
    [delivery, task.data.createTask.id],
  );
  return {
    task: task.data.createTask.id,
    delivery,
    file: upload.body.extra.key,
    board: board.data.createBoard.id,
    operation: operation.data.cancelTasks.id,
    share: share.data.shareMedia.id,
    conversation: conversation.data.saveConversation.id,
    workflow: workflow.data.saveWorkflow.id,
    execution: execution.data.executeTemplate.id,
    executionTask: execution.data.executeTemplate.taskId,
    externalId,
    payment: payment.data.checkout.payment.id,
    paymentSession: payment.data.checkout.sessionId,
  };
}
