import { AppError } from '../../errors.ts';
import type { TextAnswer } from '../../http/endpoints/post-text.ts';
import type { PostClient, PostRequest } from './remote-http.ts';

/** A read that is on its way, and how many wait for it. */
interface Flight {
  readonly answer: Promise<TextAnswer>;
  readonly controller: AbortController;
  askers: number;
}

/**
 * The same client, whose equal reads in flight share one answer: equal in body and every header, the caller's credential among
 * them. Whoever asks gets the text and parses it for himself. After a mutation began or ended here, nobody joins what was asked
 * before: a caller sees what he wrote. The time limit is that of the first asker; the last one to leave ends the call.
 */
export function shareReads(client: PostClient): PostClient {
  const flights = new Map<string, Flight>();

  const begin = (key: string, request: PostRequest): Flight => {
    const controller = new AbortController();
    const over = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const answer = client.post({ ...request, signal: controller.signal }).finally(over);
    const flight: Flight = { answer, controller, askers: 0 };
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
      const key = `${JSON.stringify(headers)}\n${body}`;
      return join(flights.get(key) ?? begin(key, request), signal);
    },
    close: () => client.close(),
  };
}

function join(flight: Flight, signal: AbortSignal): Promise<TextAnswer> {
  flight.askers += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(new AppError('UNAVAILABLE', 'nobody waits for the answer'));
      flight.askers -= 1;
      if (flight.askers === 0) flight.controller.abort();
    };
    const ended = (): void => signal.removeEventListener('abort', leave);
    flight.answer.then(resolve, reject).finally(ended);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
