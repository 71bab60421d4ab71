/** An answer of a stand-in, before faults are applied. */
export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A whole body, or pieces as they come (server-sent events). */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** A JSON answer. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  };
}

/** A file's bytes. */
export function bytes(content: Uint8Array, contentType: string): Answer {
  return { status: 200, headers: { 'content-type': contentType }, body: content };
}

/** Plain text. */
export function text(content: string, status = 200): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: content };
}

/** An answer without a body. */
export function empty(status: number): Answer {
  return { status, headers: {}, body: '' };
}
