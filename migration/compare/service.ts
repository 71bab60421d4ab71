import { HttpFailure, type HttpClient } from '../../platform/http/http-client.ts';
import { decodeBytes, type Exchange, type Headers } from '../traffic/exchange.ts';
import { createThrottle } from '../traffic/throttle.ts';
import type { ComparedAnswer } from './differences.ts';

/** Sends recorded requests to one service. */
export interface ReplayedService {
  /** Null when the service does not answer. */
  send(request: Exchange['request'], target?: string): Promise<ComparedAnswer | null>;
}

export interface ReplayedServiceOptions {
  readonly http: HttpClient;
  /** Without a trailing slash. */
  readonly url: string;
  /** Sent as Authorization instead of what was recorded, which has been removed. */
  readonly authorization: string | null;
  readonly perSecond: number;
}

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Headers that belong to the recorded connection, or whose values were removed. */
const NOT_SENT =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|expect|te|upgrade|authorization|cookie|proxy-.*|sec-.*|if-none-match|if-modified-since|x-forwarded-.*)$/;

/** A service that is asked not faster than allowed. */
export function createReplayedService(options: ReplayedServiceOptions): ReplayedService {
  const { http, url, authorization, perSecond } = options;
  const throttle = createThrottle(perSecond);
  return {
    async send({ method, target: recorded, headers, body }, target = recorded) {
      await throttle();
      const bytes = decodeBytes(body);
      try {
        const {
          status,
          headers: answered,
          body: answer,
        } = await http.request({
          method: method as 'GET',
          url: url + target,
          headers: { ...sentHeaders(headers), ...(authorization === null ? {} : { authorization }) },
          ...(bytes === null || bytes.length === 0 ? {} : { body: bytes }),
          timeoutMs: TIMEOUT_MS,
          maxBytes: MAX_BYTES,
          retry: 'never',
          trustedOrigins: [new URL(url).origin],
        });
        return { status, headers: answered, json: parsed(answer) };
      } catch (error) {
        if (error instanceof HttpFailure) return null;
        throw error;
      }
    },
  };
}

function sentHeaders(headers: Headers): Headers {
  const entries = Object.entries(headers).filter(
    ([name, value]) => !NOT_SENT.test(name) && !value.includes('[redacted]'),
  );
  return Object.fromEntries(entries);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
