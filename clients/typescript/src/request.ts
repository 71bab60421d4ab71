import {
  type Connection,
  type GraphRequest,
  LONGEST_PAUSE_MS,
  LOST,
  pauseAfter,
  readAnswer,
  streamText,
  watch,
} from './connection.ts';
import { type Answer, readData, KilnError } from './errors.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * Sends a query or a mutation and answers its data; again where it did not get through and `isSafe` says that this does
 * nothing twice: queries, and what has an idempotency key.
 */
export async function request(connection: Connection, asked: GraphRequest, isSafe: boolean): Promise<Data> {
  const { retries, longestPauseMs } = connection;
  const { signal } = asked;
  for (let attempt = 0; ; attempt++) {
    try {
      return await requestOnce(connection, asked);
    } catch (error) {
      signal?.throwIfAborted();
      await pauseAfter(error, { attempt, retries, passing: isSafe ? LOST : [], longestPauseMs, signal });
    }
  }
}

async function requestOnce(connection: Connection, asked: GraphRequest): Promise<Data> {
  const life = watch(connection.timeoutMs, asked.signal);
  try {
    return readData(await readAnswer(await post(connection, asked, 'application/json', life.signal)));
  } finally {
    life.end();
  }
}

async function post(
  connection: Connection,
  { query, variables }: GraphRequest,
  accept: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { ...(await connection.headers()), 'content-type': 'application/json', accept };
  return connection.send({ headers, body: JSON.stringify({ query, variables }), signal });
}

/** Codes after which a subscription is opened again: a stopping server may end a stream with INTERNAL, a reloaded graph with SUBSCRIPTION_SCHEMA_RELOAD. */
const ENDED = [...LOST, 'INTERNAL', 'SUBSCRIPTION_SCHEMA_RELOAD'];

/** A subscription that goes on where it broke. */
export interface Following extends GraphRequest {
  /** The variables with which it goes on after an event. */
  next(event: Data): Data;
}

/**
 * What a subscription says, over the socket where there is one, else by Server-Sent Events. A connection that breaks is made
 * again, with the variables that `next` made of the last event; after `retries` of these in a row without an event its error is thrown.
 */
export async function* subscribe(
  connection: Connection,
  asked: Following,
): AsyncGenerator<Data, void, undefined> {
  const { socket } = connection;
  const { retries } = socket ?? connection;
  const { signal } = asked;
  let { variables } = asked;
  for (let attempt = 0; ; attempt++) {
    try {
      const now = { ...asked, variables };
      for await (const answer of socket?.open(now) ?? streamOnce(connection, now)) {
        const data = readData(answer);
        attempt = -1;
        variables = { ...variables, ...asked.next(Object.values(data)[0] as Data) };
        yield data;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const tries = { attempt: Math.max(attempt, 0), retries };
      await pauseAfter(error, { ...tries, passing: ENDED, longestPauseMs: LONGEST_PAUSE_MS, signal });
    }
  }
}

/** The events of a subscription's only field. */
export async function* eventsOf<Event>(
  connection: Connection,
  asked: Following,
): AsyncGenerator<Event, void, undefined> {
  for await (const data of subscribe(connection, asked)) yield Object.values(data)[0] as Event;
}

/** The answers of one connection, to the end of the subscription. Throws UNREACHABLE when it ends before. */
async function* streamOnce(
  connection: Connection,
  asked: GraphRequest,
): AsyncGenerator<Answer, void, undefined> {
  const life = watch(connection.timeoutMs, asked.signal);
  try {
    const response = await post(connection, asked, 'text/event-stream', life.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      readData(await readAnswer(response));
    }
    for await (const message of streamMessages(response, life.heard)) {
      const event = /^event: ?(.*)$/m.exec(message)?.[1];
      if (event === 'complete') return;
      const data = /^data: ?(.*)$/m.exec(message)?.[1];
      if (event === 'next' && data !== undefined) yield JSON.parse(data) as Answer;
    }
    throw new KilnError('UNREACHABLE', 'the stream broke off');
  } finally {
    life.end();
  }
}

/** Most of an event. */
const MAX_MESSAGE = 8 * 1024 * 1024;

/** The messages of an event stream, comments among them. Ours have one line of data each. */
async function* streamMessages(
  response: Response,
  heard: () => void,
): AsyncGenerator<string, void, undefined> {
  let buffer = '';
  for await (const piece of streamText(response)) {
    heard();
    const messages = (buffer + piece).split(/\r?\n\r?\n/);
    buffer = messages.pop() ?? '';
    if (buffer.length > MAX_MESSAGE) throw new KilnError('BAD_ANSWER', 'an event that is too long');
    yield* messages;
  }
}
