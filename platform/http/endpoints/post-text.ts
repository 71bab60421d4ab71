import { type Dispatcher, errors, type Pool } from 'undici';

import { endOfTurn } from '../../process/end-of-turn.ts';

/** A whole response, bounded in size by its pool. */
export interface TextAnswer {
  readonly status: number;
  /** Empty where there are bytes. */
  readonly text: string;
  /** The answer of one of our own processes, which is often passed on unread. */
  readonly bytes?: Buffer | undefined;
  /** Absent where it came over a channel. */
  readonly headers?: AnswerHeaders | undefined;
}

export interface TextRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it changes nothing, so that it may be sent once more where its connection had been closed. */
  readonly isRead: boolean;
}

/** Headers of an answer; several of one name are a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A call that may be given up while it waits. */
export interface Abandonable {
  /** Set while there is something to give up. */
  abandon: ((reason: Error) => void) | null;
}

/**
 * POSTs a text and reads the answer as text. A server closes connections that nobody uses, and a process that was busy learns of it
 * only when it has sent the next request over one: a read is then sent once more.
 */
export async function postText(pool: Pool, request: TextRequest, call: Abandonable): Promise<TextAnswer> {
  try {
    return await postOnce(pool, request, call);
  } catch (thrown) {
    if (!request.isRead || !(thrown instanceof Error) || !closedBefore.has(thrown)) throw thrown;
    const left: { reason: Error | null } = { reason: null };
    call.abandon = (reason) => void (left.reason = reason);
    // By then the other connections that were closed are known to be.
    await endOfTurn();
    call.abandon = null;
    if (left.reason !== null) throw left.reason;
    return await postOnce(pool, request, call);
  }
}

/** Failures of requests over connections that had been used before, and were closed without a byte of an answer. */
const closedBefore = new WeakSet<Error>();

/** What the operating system says of a connection that is closed already. */
const CLOSED = new Set<unknown>(['ECONNRESET', 'EPIPE']);

/** Those that have answered something: only there can a connection have been used before. */
const used = new WeakSet<Pool>();

function isClosedBefore(cause: Error, pool: Pool): boolean {
  if (cause instanceof errors.SocketError) return (cause.socket?.bytesRead ?? 0) > 0;
  return used.has(pool) && CLOSED.has((cause as NodeJS.ErrnoException).code);
}

/** undici's dispatch with a handler that keeps the chunks, without a stream, a timer or an abort signal for each request. */
function postOnce(pool: Pool, { path, headers, body }: TextRequest, call: Abandonable): Promise<TextAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let controller: Dispatcher.DispatchController | null = null;
    let abandoned: Error | null = null;
    let status = 0;
    let answered: AnswerHeaders = {};
    const end = (): void => void (call.abandon = null);
    call.abandon = (reason) => {
      end();
      abandoned = reason;
      controller?.abort(reason);
      // One that waits for a connection learns of it only when it gets one.
      reject(reason);
    };
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart(started) {
          controller = started;
          if (abandoned !== null) started.abort(abandoned);
        },
        onResponseStart(_controller, code, received) {
          // An interim answer (103) may come before.
          status = code;
          answered = received;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          end();
          used.add(pool);
          resolve({ status, text: decodeText(chunks), headers: answered });
        },
        onResponseError(_controller, cause) {
          end();
          if (status === 0 && abandoned === null && isClosedBefore(cause, pool)) closedBefore.add(cause);
          reject(cause);
        },
      },
    );
  });
}

const BYTE_ORDER_MARK = 0xfeff;

function decodeText(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  const text = chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString();
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
