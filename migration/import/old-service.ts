import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import { createThrottle } from '../traffic/throttle.ts';

/** Reads an existing installation through its documented read operations; writes nothing there. */

/** Reads one JSON document of the old service. */
export type ReadOld = (path: string) => Promise<unknown>;

/** How one of the old services is read. */
export interface OldServiceOptions {
  readonly http: HttpClient;
  /** Without a trailing slash. */
  readonly url: string;
  /** Sent as Authorization. */
  readonly authorization: string | null;
  /** Most requests a second. */
  readonly perSecond: number;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Statuses that say nothing of what was asked for: the service is away, busy, or does not know the credential. */
const AWAY: readonly number[] = [401, 403, 429, 502, 503, 504];

/**
 * Reads paths of the old service one after the other, not faster than allowed. Throws UNAVAILABLE, or about a single path
 * NOT_FOUND or BAD_USER_INPUT.
 */
export function createOldService(options: OldServiceOptions): ReadOld {
  const { http, url, authorization, perSecond } = options;
  const throttle = createThrottle(perSecond);
  return async (path) => {
    await throttle();
    const { status, body } = await http.request({
      method: 'GET',
      url: url + path,
      headers: { accept: 'application/json', ...(authorization === null ? {} : { authorization }) },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      retry: 'safe',
      trustedOrigins: [new URL(url).origin],
    });
    if (status === 404) throw new AppError('NOT_FOUND', `${url}${path} answers 404`);
    if (AWAY.includes(status)) throw unreadable(url + path, `answers ${status}`);
    if (status < 200 || status > 299) {
      throw new AppError('BAD_USER_INPUT', `${url}${path} answers ${status}`);
    }
    try {
      return JSON.parse(body.toString('utf8'));
    } catch (cause) {
      throw unreadable(url + path, 'answers no JSON', cause);
    }
  };
}

function unreadable(address: string, what: string, cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', `${address} ${what}`, cause === undefined ? {} : { cause });
}

/** Checks an answer against what the documents say. BAD_USER_INPUT with its address and field otherwise. */
export function checkedAnswer<Shape extends z.ZodType>(
  shape: Shape,
  answer: unknown,
  path: string,
): z.output<Shape> {
  const parsed = shape.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'BAD_USER_INPUT',
    `${path} is not answered as documented: ${z.prettifyError(parsed.error)}`,
  );
}

/** The workflow service's envelope around a payload. */
export function enveloped<Shape extends z.ZodType>(data: Shape) {
  return z.object({ data });
}
