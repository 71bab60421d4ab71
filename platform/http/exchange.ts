import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

import type { Agent, Dispatcher } from 'undici';

import { once } from '../once.ts';
import type { Deadline } from './deadline.ts';
import { HttpFailure, type HttpRequest } from './http-client.ts';
import { type OutboundRule, publicLookup, REFUSED_AT_CONNECT } from './safe-url.ts';

/** The HttpFailure of an error of undici. Messages name the origin only: paths and queries may contain secrets. */
export function toHttpFailure(
  thrown: unknown,
  { origin, sent }: { origin: string; sent: boolean },
  deadline: Deadline,
): HttpFailure {
  if (thrown instanceof HttpFailure) return thrown;
  const options = { sent, cause: thrown };
  const reason = deadline.reason();
  if (reason === 'ABORTED') return new HttpFailure('ABORTED', `the call to ${origin} was given up`, options);
  const code = readCode(thrown);
  if (reason === 'TIMED_OUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new HttpFailure('TIMED_OUT', `${origin} did not answer in time`, options);
  }
  if (code === REFUSED_AT_CONNECT) {
    return new HttpFailure('REFUSED_ADDRESS', `${origin} does not resolve to a public address`, options);
  }
  if (!sent) return new HttpFailure('CONNECT', `${origin} can't be reached (${code})`, options);
  return new HttpFailure('CUT', `${origin} broke off (${code})`, options);
}

function readCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown';
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name;
}

/** One request and its response: over an agent by its address, ended by its deadline, and whether anything of it was sent. */

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;

/** Sends single requests. */
export type Exchanger = ReturnType<typeof createExchanger>;

/** A request on its way: its origin, and whether bytes may have been sent. */
export interface Exchange {
  readonly origin: string;
  sent: boolean;
}

/** A response whose body was not read yet. */
export interface Answer {
  readonly response: Dispatcher.ResponseData<unknown>;
  readonly exchange: Exchange;
}

/** Makes what sends requests; `lookup` resolves names of addresses that must be public. */
export function createExchanger(outbound: OutboundRule, lookup?: LookupFunction) {
  const agents = once(() => createAgents(lookup));
  return {
    /** Throws HttpFailure when no response came. `wasSent`: another host has seen the request, which redirected it here. */
    async send(request: HttpRequest, deadline: Deadline, wasSent: boolean): Promise<Answer> {
      const { url, guarded } = admitted(outbound, request, wasSent);
      const exchange: Exchange = { origin: url.origin, sent: wasSent };
      const { guarded: publicOnly, trusted } = await agents();
      const agent = guarded ? publicOnly : trusted;
      try {
        const sending = agent.request({
          opaque: exchange,
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          headers: { 'user-agent': 'Kiln', ...request.headers },
          body: toBody(request),
          signal: deadline.signal,
          headersTimeout: 0,
          bodyTimeout: request.timeoutMs,
        });
        return { response: await unlessAborted(sending, deadline.signal), exchange };
      } catch (error) {
        throw toHttpFailure(error, exchange, deadline);
      }
    },
    async close(): Promise<void> {
      const opened = await agents.kept();
      await Promise.all([opened?.trusted.destroy(), opened?.guarded.destroy()]);
    },
  };
}

/** One that notes of each exchange, its requests' `opaque`, when it is sent. */
interface OwnAgent {
  readonly request: Dispatcher['request'];
  readonly destroy: () => Promise<void>;
}

/** undici is loaded at the first call: it is a hundred modules. */
async function createAgents(lookup?: LookupFunction) {
  const undici = await import('undici');
  const createAgent = (options: NonNullable<Agent.Options['connect']>): OwnAgent => {
    // HTTP/1.1 only: HTTP/2 shares a session, so "sent" would not be known per request.
    const agent = new undici.Agent({ allowH2: false, connections: CONNECTIONS_PER_ORIGIN, connect: options });
    const noting = agent.compose(noteSending);
    return { request: noting.request.bind(noting), destroy: () => agent.destroy() };
  };
  const connect = { timeout: CONNECT_TIMEOUT_MS };
  return {
    trusted: createAgent(connect),
    guarded: createAgent({ ...connect, lookup: publicLookup(lookup) }),
  };
}

/** Reads an unwanted body to its end, or aborts a long one, so that its connection is free again. */
export async function discard({ response, exchange }: Answer, deadline: Deadline): Promise<void> {
  try {
    await response.body.dump();
  } catch (error) {
    throw toHttpFailure(error, exchange, deadline);
  }
}

/** undici sees an abort only once it has a connection; a caller must not wait for that. Nothing is sent afterwards. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** A redirect to a refused address is refused too, but the first host has seen the request. */
function admitted(outbound: OutboundRule, request: HttpRequest, wasSent: boolean) {
  try {
    return outbound.admit(request.url, request.trustedOrigins);
  } catch (error) {
    if (!wasSent || !(error instanceof HttpFailure)) throw error;
    throw new HttpFailure(error.code, `redirected: ${error.message}`, { sent: true, cause: error });
  }
}

/** undici calls onRequestStart just before the first byte goes into the socket. */
const noteSending: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { opaque: exchange } = options as { readonly opaque?: Exchange };
  const start = handler.onRequestStart?.bind(handler);
  handler.onRequestStart = (controller, context) => {
    start?.(controller, context);
    // A call that was aborted in the queue ends inside `start`, with nothing written.
    if (exchange !== undefined) exchange.sent ||= !controller.aborted;
  };
  return dispatch(options, handler);
};

function toBody({ body }: HttpRequest): string | Uint8Array | Readable | null {
  if (body === undefined) return null;
  return typeof body === 'function' ? Readable.from(body(), { objectMode: false }) : body;
}
