import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import type { StripeContext } from '../objects/catalog.ts';
import { StripeFailure } from '../objects/failure.ts';
import { readForm } from '../objects/form.ts';
import { outage } from '../objects/money.ts';
import { newId } from '../objects/state.ts';
import { createIdempotency, type CachedResponse } from './idempotency.ts';
import { runOperation } from './operations.ts';

/** The API over HTTP: keys, idempotency, faults. Errors have Stripe's format, which its SDK needs. */
export interface Api {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  fail(fault: ApiFault): void;
  /** Removes all planned failures. */
  heal(): void;
  readonly requests: readonly string[];
}

/** A planned failure: a status or a broken connection, before or after the operation. */
export interface ApiFault {
  /** Of `POST checkout/sessions`. */
  readonly match: RegExp;
  readonly times: number;
  /** 0 breaks the connection (default 500). */
  readonly status?: number;
  readonly after?: boolean;
}

export interface ApiOptions {
  readonly accountId: string;
  readonly secretKey: string;
  readonly toPageUrl: (sessionId: string) => string;
}

const MAX_BODY = 1 << 20;
const MAX_REQUESTS = 10_000;

/** Creates the API. */
export function createApi(world: StripeContext, options: ApiOptions): Api {
  const idempotency = createIdempotency(world.state);
  const requests: string[] = [];
  let faults: { readonly fault: ApiFault; left: number }[] = [];

  function takeFault(name: string): ApiFault | null {
    const found = faults.find(({ fault, left }) => left > 0 && fault.match.test(name));
    if (found === undefined) return null;
    found.left -= 1;
    return found.fault;
  }

  async function answer(
    requested: Requested,
    requestId: string,
  ): Promise<CachedResponse & { readonly isReplayed: boolean }> {
    checkKey(requested.authorization, options.secretKey);
    const run = (): CachedResponse => {
      const form = readForm(requested.text);
      const body = runOperation(requested.method, requested.path, {
        ...world,
        form,
        toPageUrl: options.toPageUrl,
        accountId: options.accountId,
      });
      return { status: 200, body, requestId };
    };
    const { method, key, path, text } = requested;
    if (method === 'POST' && key !== null) return idempotency.once({ key, path, body: text }, run);
    const answered = run();
    if (method !== 'GET') await world.state.save();
    return { ...answered, isReplayed: false };
  }

  return {
    requests,
    fail: (fault) => void faults.push({ fault, left: fault.times }),
    heal: () => void (faults = []),
    async serve(request, response) {
      const requestId = newId('req_', 14);
      const requested = await readRequest(request);
      const name = `${requested.method} ${requested.path}`;
      if (requests.push(name) > MAX_REQUESTS) requests.shift();
      const fault = takeFault(name);
      faults = faults.filter(({ left }) => left > 0);
      try {
        if (fault !== null && fault.after !== true)
          return injectFault(fault, { request, response, requestId });
        const { status, body, isReplayed, requestId: original } = await answer(requested, requestId);
        if (fault !== null) return injectFault(fault, { request, response, requestId });
        send(response, { status, body, requestId }, isReplayed ? replayHeaders(original) : {});
      } catch (error) {
        if (!(error instanceof StripeFailure)) throw error;
        const retry = {
          'stripe-should-retry': error.status === 409 || error.status >= 500 ? 'true' : 'false',
        };
        send(response, { status: error.status, body: { error: error.body }, requestId }, retry);
      }
    },
  };
}

interface Requested {
  readonly method: string;
  /** Behind /v1/. */
  readonly path: string;
  /** The query of a GET, the body of a POST. */
  readonly text: string;
  readonly key: string | null;
  readonly authorization: string;
}

async function readRequest(request: IncomingMessage): Promise<Requested> {
  const url = URL.parse(request.url ?? '/', 'http://stripe') ?? new URL('http://stripe');
  const method = request.method ?? 'GET';
  const key = request.headers['idempotency-key'];
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw new Error('a request is too large');
  const body = method === 'POST' ? (await buffer(request)).toString('utf8') : url.search.slice(1);
  return {
    method,
    path: url.pathname.replace(/^\/v1\//, '').replace(/\/$/, ''),
    text: body,
    key: typeof key === 'string' ? key : null,
    authorization: request.headers.authorization ?? '',
  };
}

function checkKey(authorization: string, secretKey: string): void {
  const input = /^Bearer (.+)$/.exec(authorization)?.[1] ?? '';
  if (input === secretKey) return;
  throw new StripeFailure(401, {
    type: 'invalid_request_error',
    message:
      input === ''
        ? 'You did not provide an API key.'
        : 'Invalid API Key provided: the sandbox has one of its own',
  });
}

function injectFault(
  { status = 500 }: ApiFault,
  to: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly requestId: string },
): void {
  if (status === 0) return void to.request.socket.destroy();
  const { body } = outage(status);
  send(to.response, { status, body: { error: body }, requestId: to.requestId }, {});
}

function replayHeaders(original: string): Readonly<Record<string, string>> {
  return { 'idempotent-replayed': 'true', 'original-request': original };
}

function send(
  response: ServerResponse,
  { status, body, requestId }: CachedResponse,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId, ...headers });
  response.end(JSON.stringify(body, null, 2));
}
