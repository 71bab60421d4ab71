import { setTimeout as pause } from 'node:timers/promises';

import { AppError } from '../../errors.ts';
import { withJitter } from '../../process/jitter.ts';
import type { PostAnswer, PostClient, PostRequest } from './remote-http.ts';

/** A read that is on its way, and how many wait for it. */
interface Flight {
  readonly answer: Promise<PostAnswer>;
  readonly controller: AbortController;
  askers: number;
  readonly beganAt: number;
  /** Whether the turn of the event loop that it began in goes on: its requests came in together, however slow the machine is. */
  isOfThisTurn: boolean;
  /** What the answer says, once one of several askers has read it; never changed. */
  read: { readonly value: unknown } | null;
}

/** Milliseconds in which a read on its way is joined: who comes later must see what happened since it began. */
const JOIN_MS = 5;

/**
 * The same client, whose equal reads in flight that began just now share one answer: equal in body and every header but `traceparent`, the caller's credential
 * among them. It is parsed once, and whoever asks gets a copy of his own. After a mutation began or ended here, nobody joins what
 * was asked before: a caller sees what he wrote. The time limit is that of the first asker; the last one to leave ends the
 * call.
 */
export function shareReads(client: PostClient): PostClient {
  const flights = new Map<string, Flight>();

  const begin = (key: string, request: PostRequest): Flight => {
    const controller = new AbortController();
    const over = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const answer = client.post({ ...request, signal: controller.signal }).finally(over);
    const beganAt = performance.now();
    const flight: Flight = {
      answer,
      controller,
      askers: 0,
      beganAt,
      isOfThisTurn: true,
      read: null,
    };
    setImmediate(() => (flight.isOfThisTurn = false));
    controller.signal.addEventListener('abort', over);
    flights.set(key, flight);
    return flight;
  };

  return {
    post(request) {
      const { headers, body, isRead } = request;
      if (!isRead || typeof body !== 'string') {
        flights.clear();
        return client.post(request).finally(() => flights.clear());
      }
      // The span that asked first is the one that the subgraph's belong to.
      const { traceparent: _, ...asked } = headers;
      const key = `${JSON.stringify(asked)}\n${body}`;
      const flight = flights.get(key);
      return join(flight !== undefined && isFresh(flight) ? flight : begin(key, request), request);
    },
    close: () => client.close(),
  };
}

function isFresh({ beganAt, isOfThisTurn }: Flight): boolean {
  return isOfThisTurn || performance.now() - beganAt <= JOIN_MS;
}

function join(flight: Flight, { signal }: PostRequest): Promise<PostAnswer> {
  flight.askers += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(new AppError('UNAVAILABLE', 'nobody waits for the answer'));
      flight.askers -= 1;
      if (flight.askers === 0) flight.controller.abort();
    };
    const ended = (): void => signal.removeEventListener('abort', leave);
    flight.answer
      .then((answer) => resolve(ownAnswer(flight, answer)))
      .catch(reject)
      .finally(ended);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

/** The answer itself when only one asks, else a copy: it takes a third of the time of parsing the text again. */
function ownAnswer(flight: Flight, answer: PostAnswer): PostAnswer {
  if (flight.askers === 1) return answer;
  const { status, headers } = answer;
  return { status, headers, json: () => deepCopy((flight.read ??= { value: answer.json() }).value) };
}

/** A copy of parsed JSON. Spreading keeps the hidden classes, and makes a member of any name, also of `__proto__`. */
function deepCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy);
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    const member = copy[name];
    if (typeof member === 'object' && member !== null) copy[name] = deepCopy(member);
  }
  return copy;
}

/** Milliseconds before the first repetition, on average; each further one waits twice as long. */
const FIRST_PAUSE_MS = 100;

/** The same client, which sends a query that got no answer again; nothing that may change something. */
export function retryReads(client: PostClient, retries: number): PostClient {
  return {
    async post(request) {
      const isSafe = request.isRead && typeof request.body === 'string';
      for (let again = 0; ; again += 1) {
        try {
          return await client.post(request);
        } catch (thrown) {
          const isUnavailable = thrown instanceof AppError && thrown.code === 'UNAVAILABLE';
          if (!isSafe || !isUnavailable || again >= retries || request.signal.aborted) throw thrown;
          await pause(withJitter(FIRST_PAUSE_MS * 2 ** again), undefined, {
            signal: request.signal,
          }).catch(() => {
            throw thrown;
          });
        }
      }
    },
    close: () => client.close(),
  };
}

/** When a subgraph is left alone. */
export interface BreakerOptions {
  /** Failures in a row after which nothing is asked. */
  readonly failures: number;
  /** Milliseconds until one request is let through again. */
  readonly pauseMs: number;
}

/** The same client, which asks nothing for a while after so many requests in a row got no answer: they fail at once, as UNAVAILABLE. */
export function breakCircuit(client: PostClient, { failures, pauseMs }: BreakerOptions): PostClient {
  let inARow = 0;
  let brokenAt = -Infinity;
  return {
    async post(request) {
      if (inARow >= failures) {
        const leftMs = brokenAt + pauseMs - performance.now();
        if (leftMs > 0) {
          const retryAfter = Math.ceil(leftMs / 1_000);
          throw new AppError('UNAVAILABLE', 'it does not answer, and is left alone for a while', {
            retryAfter,
          });
        }
        // This one tries; those that come meanwhile do not.
        brokenAt = performance.now();
      }
      try {
        const answer = await client.post(request);
        inARow = 0;
        return answer;
      } catch (thrown) {
        // A caller who hangs up tells nothing about the subgraph.
        if (!request.signal.aborted) {
          inARow += 1;
          brokenAt = performance.now();
        }
        throw thrown;
      }
    },
    close: () => client.close(),
  };
}
