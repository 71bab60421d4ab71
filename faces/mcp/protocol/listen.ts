import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { declaresTasks, type Exchange, TASKS_CAPABILITY } from './exchange.ts';
import { sendRpcError } from './web.ts';

/** `subscriptions/listen` for tasks: a stream that tells each change of theirs, until the last one has ended. */

/** A request to listen to tasks. */
export interface Listening extends Exchange {
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

/** Most streams of one process, and tasks of one stream. */
const MAX_STREAMS = 1_000;
const MAX_TASKS = 50;
/** Milliseconds between signs of life, and to the end of a stream, after which its client opens another. */
const BEAT_MS = 15_000;
const LONGEST_MS = 3_600_000;

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** The tasks that a request wants to hear of; null when it is no such request. */
export function taskIdsOf(message: unknown): readonly string[] | null {
  const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown };
  if (method !== 'subscriptions/listen') return null;
  const { notifications } = Object(params) as { readonly notifications?: unknown };
  const { taskIds } = Object(notifications) as { readonly taskIds?: unknown };
  if (!Array.isArray(taskIds) || taskIds.length === 0) return null;
  return taskIds.filter((id) => typeof id === 'string');
}

/** Makes what serves requests to listen to tasks. */
export function createListen({ follow, stopping }: ListenOptions): Listen {
  let open = 0;
  return async ({ message, taskIds, ...exchange }) => {
    const { id, params } = message as ListenRequest;
    const { response, context } = exchange;
    const capabilities = params._meta?.['io.modelcontextprotocol/clientCapabilities'];
    if (!declaresTasks(capabilities)) {
      const data = { requiredCapabilities: TASKS_CAPABILITY };
      const missing = { id, code: -32_021, message: 'Missing required client capability', data };
      return sendRpcError(response, 400, missing);
    }
    if (open >= MAX_STREAMS || taskIds.length > MAX_TASKS) {
      const text = open >= MAX_STREAMS ? 'too many streams are open' : `at most ${MAX_TASKS} tasks a stream`;
      return sendRpcError(response, 200, { id, code: -32_603, message: text });
    }
    open += 1;
    const timeUp = new AbortController();
    const timer = setTimeout(() => timeUp.abort(), LONGEST_MS);
    const stop = AbortSignal.any([context.signal, stopping, timeUp.signal]);
    try {
      await stream({ id, taskIds, exchange, follow, stop });
    } finally {
      clearTimeout(timer);
      open -= 1;
    }
  };
}

interface ListenRequest {
  readonly id: string | number;
  readonly params: { readonly _meta?: Readonly<Record<string, unknown>> };
}

async function stream(options: {
  readonly id: string | number;
  readonly taskIds: readonly string[];
  readonly exchange: Exchange;
  readonly follow: ListenOptions['follow'];
  readonly stop: AbortSignal;
}): Promise<void> {
  const { id, taskIds, exchange, follow, stop } = options;
  const { response } = exchange;
  const meta = { _meta: { [SUBSCRIPTION]: id } };
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const write = async (text: string): Promise<void> => {
    if (response.destroyed || response.write(text)) return;
    // A client that does not read holds one message of each task, and is cut by its connection's own bounds.
    await once(response, 'drain', { signal: stop }).catch(() => undefined);
  };
  const say = (message: object) =>
    write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  const tell = (method: string, params: object) =>
    say({ method: `notifications/${method}`, params: { ...params, ...meta } });
  await tell('subscriptions/acknowledged', { notifications: { taskIds } });
  const ended = new AbortController();
  const beat = beats(write, AbortSignal.any([stop, ended.signal]));
  try {
    await Promise.all(
      taskIds.map(async (taskId) => {
        for await (const task of follow(taskId, exchange, stop)) await tell('tasks', task);
      }),
    );
  } finally {
    ended.abort();
    await beat;
  }
  await say({ id, result: { resultType: 'complete', ...meta } });
  response.end();
}

/** Comments, so that nobody between takes the connection for dead. */
async function beats(write: (text: string) => Promise<void>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await pause(BEAT_MS, undefined, { signal: stop }).catch(() => undefined);
    if (!stop.aborted) await write(': still here\n\n');
  }
}
