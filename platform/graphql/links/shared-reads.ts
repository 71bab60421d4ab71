import { AppError } from '../../errors.ts';
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
    const flight: Flight = { answer, controller, askers: 0, beganAt, isOfThisTurn: true, read: null };
    setImmediate(() => (flight.isOfThisTurn = false));
    controller.signal.addEventListener('abort', over);
    flights.set(key, flight);
    return flight;
  };

  return {
    post(request) {
      const { headers, body, isRead, signal } = request;
      if (!isRead || typeof body !== 'string') {
        flights.clear();
        return client.post(request).finally(() => flights.clear());
      }
      // The span that asked first is the one that the subgraph's belong to.
      const { traceparent: _, ...asked } = headers;
      const key = `${JSON.stringify(asked)}\n${body}`;
      const flight = flights.get(key);
      return join(flight !== undefined && isFresh(flight) ? flight : begin(key, request), signal);
    },
    close: () => client.close(),
  };
}

function isFresh({ beganAt, isOfThisTurn }: Flight): boolean {
  return isOfThisTurn || performance.now() - beganAt <= JOIN_MS;
}

function join(flight: Flight, signal: AbortSignal): Promise<PostAnswer> {
  flight.askers += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(new AppError('UNAVAILABLE', 'nobody waits for the answer'));
      flight.askers -= 1;
      if (flight.askers === 0) flight.controller.abort();
    };
    const ended = (): void => signal.removeEventListener('abort', leave);
    flight.answer.then((answer) => resolve(ownAnswer(flight, answer)), reject).finally(ended);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

/** The answer itself when only one asks, else a copy: it takes a third of the time of parsing the text again. */
function ownAnswer(flight: Flight, answer: PostAnswer): PostAnswer {
  if (flight.askers === 1) return answer;
  const { status } = answer;
  return { status, json: () => deepCopy((flight.read ??= { value: answer.json() }).value) };
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
