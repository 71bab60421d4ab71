import cluster from 'node:cluster';

import pTimeout from 'p-timeout';

/** Whether this process is one of several under a supervisor (PROCESSES). */
export const isSupervised = cluster.isWorker;

/** One end of the channel between a supervisor and one of its processes: `process`, or a worker of node:cluster. */
interface Channel {
  send?(message: object, done?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

interface Message {
  readonly request?: string;
  readonly replyTo?: string;
  readonly id?: number;
  readonly text?: string;
}

let lastId = 0;

/** Sends a request to the other end, which handles it with `onRequest`; rejects when no reply has come after `timeoutMs`. */
export async function sendRequest(channel: Channel, request: string, timeoutMs: number): Promise<string> {
  const id = ++lastId;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const listener = (message: unknown): void => {
    const { replyTo, id: its, text = '' } = message as Message;
    if (replyTo === request && its === id) resolve(text);
  };
  channel.on('message', listener);
  try {
    channel.send?.({ request, id }, (error) => error && reject(error));
    return await pTimeout(promise, { milliseconds: timeoutMs, message: `no reply to "${request}"` });
  } finally {
    channel.off('message', listener);
  }
}

/** Replies to each such request of the other end; one whose handler fails gets no reply, and its sender stops waiting. */
export function onRequest(channel: Channel, request: string, handle: () => Promise<string>): void {
  channel.on('message', (message) => {
    const { request: its, id } = message as Message;
    if (its !== request) return;
    void handle().then(
      (text) => channel.send?.({ replyTo: request, id, text }, ignoreGone),
      () => undefined,
    );
  });
}

/** The other end has gone meanwhile, so that nobody waits for the reply. */
const ignoreGone = (): void => undefined;
