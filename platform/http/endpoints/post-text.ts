import type { Dispatcher, Pool } from 'undici';

/** A whole response, bounded in size by its pool. */
export interface TextAnswer {
  readonly status: number;
  /** Empty where there are bytes. */
  readonly text: string;
  /** The answer of one of our own processes, which is often passed on unread. */
  readonly bytes?: Buffer | undefined;
}

export interface TextRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gets the headers of the answer. */
  readonly onHeaders?: ((headers: AnswerHeaders) => void) | undefined;
}

/** Headers of an answer; several of one name are a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A call that may be given up while it waits. */
export interface Abandonable {
  /** Set while there is something to give up. */
  abandon: ((reason: Error) => void) | null;
}

/**
 * POSTs a text and reads the answer as text: undici's dispatch with a handler that keeps the chunks, without a stream, a timer or
 * an abort signal for each request.
 */
export function postText(
  pool: Pool,
  { path, headers, body, onHeaders }: TextRequest,
  call: Abandonable,
): Promise<TextAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let controller: Dispatcher.DispatchController | null = null;
    let abandoned: Error | null = null;
    let status = 0;
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
          if (onHeaders !== undefined && code >= 200) onHeaders(received);
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          end();
          resolve({ status, text: textOf(chunks) });
        },
        onResponseError(_controller, cause) {
          end();
          reject(cause);
        },
      },
    );
  });
}

const BYTE_ORDER_MARK = 0xfeff;

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  const text = chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString();
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
