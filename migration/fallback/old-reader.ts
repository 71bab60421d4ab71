import { AppError, toError } from '../../platform/errors.ts';
import { HttpFailure, type HttpClient, type HttpResponse } from '../../platform/http/http-client.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { ASKED_HEADER } from '../../rest-compat/fallback.ts';

/** Reads from one old service, behind a circuit breaker. */

/** An answer of the old service, whatever its status. */
export interface OldAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

/** One request to it. */
interface OldRead {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly authorization: string | null;
  readonly signal: AbortSignal;
}

/** Reads; UNAVAILABLE while the old service is away or answers no JSON. */
export type OldReader = (read: OldRead) => Promise<OldAnswer>;

export interface OldReaderOptions {
  readonly http: HttpClient;
  readonly logger: Logger;
  /** Without a trailing slash. */
  readonly url: string;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Failures in a row that open the breaker, and how long it then stays open. */
const MAX_FAILURES = 5;
const OPEN_MS = 15_000;

/** Creates the reader of the service at this address. */
export function createOldReader({ http, logger, url }: OldReaderOptions): OldReader {
  let failures = 0;
  let openUntil = 0;
  const failed = (error: unknown): AppError => {
    failures += 1;
    if (failures >= MAX_FAILURES && Date.now() >= openUntil) {
      openUntil = Date.now() + OPEN_MS;
      logger.warn({ error: toError(error), url }, 'the old service is away; it is not asked for 15 s');
    }
    return unavailable(error);
  };
  return async ({ method, target, authorization, signal }) => {
    if (Date.now() < openUntil) throw unavailable();
    let answer: HttpResponse;
    try {
      answer = await http.request({
        method: method === 'POST' ? 'POST' : 'GET',
        url: url + target,
        headers: {
          accept: 'application/json',
          [ASKED_HEADER]: '1',
          ...(authorization === null ? {} : { authorization }),
        },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal,
        retry: 'never',
        trustedOrigins: [new URL(url).origin],
      });
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      throw error.code === 'ABORTED' ? unavailable(error) : failed(error);
    }
    const body = parseObject(answer.body);
    if (answer.status >= 500 || body === null) throw failed(new Error(`it answered ${answer.status}`));
    failures = 0;
    return { status: answer.status, body };
  };
}

function parseObject(body: Buffer): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as JsonObject)
      : null;
  } catch {
    return null;
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the service that may know this id does not answer now; try again', {
    retryAfter: 15,
    ...(cause === undefined ? {} : { cause }),
  });
}
