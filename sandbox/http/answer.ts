import type { ServerResponse } from 'node:http';

import type { FaultName } from '../faults/faults.ts';

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

/** Writes an answer to its socket; one that was closed meanwhile is no error. */
export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  if (response.destroyed) return;
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) {
    const body = Buffer.from(answer.body);
    response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
    response.end(body);
    return;
  }
  response.writeHead(answer.status, answer.headers);
  for await (const piece of answer.body) {
    if (response.destroyed) return;
    response.write(piece);
  }
  response.end();
}

/** Sends an answer broken by a fault. */
export async function sendWithFault(
  response: ServerResponse,
  answer: Answer,
  fault: FaultName,
): Promise<void> {
  const whole = await wholeBody(answer);
  if (response.destroyed) return;
  if (fault === 'cut') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (fault === 'wrong-content-type') {
    const page = '<!doctype html><title>Please wait</title><p>Checking your browser...</p>';
    return sendAnswer(response, {
      status: answer.status,
      headers: { 'content-type': 'text/html' },
      body: page,
    });
  }
  const half = whole.subarray(0, Math.floor(whole.length / 2));
  if (fault === 'malformed') return sendAnswer(response, { ...answer, body: half });
  // wrong-length: the header announces the whole content, half of it is sent, then the connection ends.
  response.writeHead(answer.status, { ...answer.headers, 'content-length': whole.length + 10 });
  response.write(half, () => response.socket?.destroySoon());
}

async function wholeBody(answer: Answer): Promise<Buffer> {
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) return Buffer.from(answer.body);
  const pieces: string[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return Buffer.from(pieces.join(''));
}
