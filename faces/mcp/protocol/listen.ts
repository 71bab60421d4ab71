import type { StreamFormat } from '../../../platform/graphql/operations/executor.ts';
import { declaresTasks, type Exchange, TASKS_CAPABILITY, sendRpcError } from './exchange.ts';

/** `subscriptions/listen` for tasks: a stream that tells each change of theirs, until the last one has ended. */

/** A request to listen to tasks. */
interface Listening extends Exchange {
  readonly message: unknown;
  readonly taskIds: readonly string[];
}

/** Serves such a request. */
export type Listen = (listening: Listening) => Promise<void>;

/** What the stream is made of. */
export interface ListenOptions {
  /** A task as `tasks/get` answers it, at once and after each change until its end; nothing where there is none. */
  readonly follow: (id: string, exchange: Exchange, stop: AbortSignal) => AsyncIterable<object>;
  /** Aborted when streams are ended, because the server stops. */
  readonly stopping: AbortSignal;
}

/** Most tasks of one stream. */
const MAX_TASKS = 50;
/** Milliseconds to the end of a stream, after which its client opens another. */
const LONGEST_MS = 3_600_000;

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** The tasks that a request wants to learn of; null when it is no such request. */
export function readTaskIds(message: unknown): readonly string[] | null {
  const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown };
  if (method !== 'subscriptions/listen') return null;
  const { notifications } = Object(params) as { readonly notifications?: unknown };
  const { taskIds } = Object(notifications) as { readonly taskIds?: unknown };
  if (!Array.isArray(taskIds) || taskIds.length === 0) return null;
  return taskIds.filter((id) => typeof id === 'string');
}

/** Makes what serves requests to listen to tasks. */
export function createListen({ follow, stopping }: ListenOptions): Listen {
  return async ({ message, taskIds, ...exchange }) => {
    const { id, params } = message as ListenRequest;
    const { response, context } = exchange;
    const capabilities = params._meta?.['io.modelcontextprotocol/clientCapabilities'];
    if (!declaresTasks(capabilities)) {
      const data = { requiredCapabilities: TASKS_CAPABILITY };
      const missing = { id, code: -32_021, message: 'Missing required client capability', data };
      return sendRpcError(response, 400, missing);
    }
    if (taskIds.length > MAX_TASKS) {
      return sendRpcError(response, 200, {
        id,
        code: -32_603,
        message: `at most ${MAX_TASKS} tasks a stream`,
      });
    }
    const permit = context.reserveStream?.() ?? null;
    if (permit === null) {
      const text = 'too many streams are open, or the server is stopping: ask for the tasks';
      return sendRpcError(response, 200, { id, code: -32_603, message: text });
    }
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), LONGEST_MS);
    const opened = permit.open(createFormat(id));
    opened.onClose(() => ended.abort());
    const stop = AbortSignal.any([context.signal, stopping, ended.signal]);
    try {
      await tellTasks({ id, taskIds, exchange, follow, stop, send: (text) => opened.send(text) });
      opened.end(formatEvent({ id, result: createCompletion(id) }));
    } finally {
      clearTimeout(timer);
      // One that failed ends without its last message: its client opens another.
      opened.end('');
    }
  };
}

interface ListenRequest {
  readonly id: string | number;
  readonly params: { readonly _meta?: Readonly<Record<string, unknown>> };
}

type Id = ListenRequest['id'];

const createCompletion = (id: Id) => ({ resultType: 'complete', _meta: { [SUBSCRIPTION]: id } });

function formatEvent(message: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}

function createFormat(id: Id): StreamFormat {
  const complete = formatEvent({ id, result: createCompletion(id) });
  return {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
    opening: '',
    heartbeat: ': still here\n\n',
    shutdown: () => complete,
    credentialEnd: complete,
  };
}

async function tellTasks(options: {
  readonly id: Id;
  readonly taskIds: readonly string[];
  readonly exchange: Exchange;
  readonly follow: ListenOptions['follow'];
  readonly stop: AbortSignal;
  readonly send: (text: string) => Promise<boolean>;
}): Promise<void> {
  const { id, taskIds, exchange, follow, stop, send } = options;
  const meta = { _meta: { [SUBSCRIPTION]: id } };
  const tell = (method: string, params: object) =>
    send(formatEvent({ method: `notifications/${method}`, params: { ...params, ...meta } }));
  await tell('subscriptions/acknowledged', { notifications: { taskIds } });
  await Promise.all(
    taskIds.map(async (taskId) => {
      for await (const task of follow(taskId, exchange, stop)) await tell('tasks', task);
    }),
  );
}
