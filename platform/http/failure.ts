import type { Deadline } from './deadline.ts';
import { HttpFailure } from './http-client.ts';
import { REFUSED_AT_CONNECT } from './safe-url.ts';

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
