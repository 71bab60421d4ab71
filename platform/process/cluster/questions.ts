import pTimeout from 'p-timeout';

/** One end of the channel between a supervisor and one of its processes: `process`, or a worker of node:cluster. */
export interface Channel {
  send?(message: object, done?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

interface Message {
  readonly question?: string;
  readonly answerTo?: string;
  readonly id?: number;
  readonly text?: string;
}

let lastId = 0;

/** Asks the other end, which answers by `answerQuestion`; rejects when no answer has come after `timeoutMs`. */
export async function askQuestion(channel: Channel, question: string, timeoutMs: number): Promise<string> {
  const id = ++lastId;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const listener = (message: unknown): void => {
    const { answerTo, id: its, text = '' } = message as Message;
    if (answerTo === question && its === id) resolve(text);
  };
  channel.on('message', listener);
  try {
    channel.send?.({ question, id }, (error) => error && reject(error));
    return await pTimeout(promise, { milliseconds: timeoutMs, message: `no answer to "${question}"` });
  } finally {
    channel.off('message', listener);
  }
}

/** Answers each such question of the other end; one whose answer fails stays unanswered, and whoever asked stops waiting. */
export function answerQuestion(channel: Channel, question: string, answer: () => Promise<string>): void {
  channel.on('message', (message) => {
    const { question: its, id } = message as Message;
    if (its !== question) return;
    void answer().then(
      (text) => channel.send?.({ answerTo: question, id, text }, ignoreGone),
      () => undefined,
    );
  });
}

/** The other end has gone meanwhile, so that nobody waits for the answer. */
const ignoreGone = (): void => undefined;
