/** The media service's envelope. */
export interface Envelope {
  /** True: done or accepted. False: failed. A word: still running, and this is its state. */
  readonly status: boolean | 'queued' | 'running';
  readonly data: unknown;
  readonly msg: string;
  /** What the upstream or the store said beyond data, where an operation documents it. */
  readonly extra?: unknown;
}

/** It worked; `data` is the result. */
export function success(data: unknown, msg = 'success'): Envelope {
  return { status: true, data, msg };
}

/** An application failure: HTTP 200, and msg says what is wrong and what to do. */
export function failure(msg: string): Envelope {
  return { status: false, data: null, msg };
}

/** Appends what was ignored or moved to the msg of an envelope; bodies without msg stay as they are. */
export function withNotes(body: object, notes: readonly string[]): object {
  if (notes.length === 0 || !('msg' in body) || typeof body.msg !== 'string') return body;
  return { ...body, msg: `${body.msg} (${notes.join('; ')})` };
}
