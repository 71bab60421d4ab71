/** The media service's envelope. */
export interface Envelope {
  /** True: done or accepted. False: failed. A word: the state of a task that still runs. */
  readonly status: boolean | 'queued' | 'running';
  readonly data: unknown;
  readonly msg: string;
  /** What the provider or the store returned besides data, where an operation documents it. */
  readonly extra?: unknown;
}

/** A success; `data` is the result. */
export function success(data: unknown, msg = 'success'): Envelope {
  return { status: true, data, msg };
}

/** An application failure, which has HTTP status 200; msg says what is wrong and what to do. */
export function failure(msg: string): Envelope {
  return { status: false, data: null, msg };
}

/** Appends notes about ignored or clamped inputs to msg; bodies without msg stay as they are. */
export function withNotes(body: object, notes: readonly string[]): object {
  if (notes.length === 0 || !('msg' in body) || typeof body.msg !== 'string') return body;
  return { ...body, msg: `${body.msg} (${notes.join('; ')})` };
}
