import { AppError, badInput, type AppErrorCode } from '../../../../platform/errors.ts';
import { HttpFailure, type HttpClient, type HttpRequest } from '../../../../platform/http/http-client.ts';
import type { PlatformName } from '../../domain/sign-in.ts';

/** The request that all platforms share, and the mapping of their errors. No message contains an address or a secret. */

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;
/** Longest accepted subject; the platforms' own have 16 to 64 characters. */
const MAX_SUBJECT = 255;

/** The kinds of platform errors. */
export type PlatformErrorKind = 'code' | 'person' | 'rate' | 'app' | 'outage';

/** A platform's answer, raw and parsed. The content type is ignored: WeChat sends JSON as text/plain. */
export interface PlatformAnswer {
  readonly text: string;
  readonly json: unknown;
}

/** Sends one request. Throws UNAVAILABLE when the answer is not JSON. */
export async function requestPlatform(
  http: HttpClient,
  name: PlatformName,
  request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
): Promise<PlatformAnswer> {
  try {
    const { status, body } = await http.request({
      ...request,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      // Codes are single-use: a retry would be refused.
      retry: 'never',
      trustedOrigins: [new URL(request.url).origin],
    });
    if (status === 429) throw platformError(name, 'rate', 'HTTP 429');
    if (status >= 500) throw platformError(name, 'outage', `HTTP ${status}`);
    const text = body.toString('utf8');
    return { text, json: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof HttpFailure) throw platformError(name, 'outage', error.code, error);
    // The parser's message may quote the body, so it is not passed on.
    if (error instanceof SyntaxError) throw platformError(name, 'outage', 'no JSON');
    throw error;
  }
}

/** Maps a platform's error; `code` is the platform's own. */
export function platformError(
  name: PlatformName,
  kind: PlatformErrorKind,
  code: string,
  cause?: unknown,
): AppError {
  const { is, says, retryAfter } = REFUSALS[kind];
  const see = kind === 'app' ? `: see ${name.toUpperCase()}_APPS` : '';
  return new AppError(is, `${name} ${says} (${code.slice(0, 60)})${see}`, {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(cause === undefined ? {} : { cause }),
  });
}

const REFUSALS: Readonly<
  Record<
    PlatformErrorKind,
    { readonly is: AppErrorCode; readonly says: string; readonly retryAfter?: number }
  >
> = {
  code: { is: 'UNAUTHENTICATED', says: 'did not take the code; get a new one' },
  person: { is: 'UNAUTHENTICATED', says: 'does not let this person sign in' },
  rate: { is: 'RATE_LIMITED', says: 'has been asked too often; try again later', retryAfter: 60 },
  app: { is: 'NOT_CONFIGURED', says: "does not accept this app's credentials" },
  outage: {
    is: 'UNAVAILABLE',
    says: 'gives no usable answer; try again with a new code',
    retryAfter: 5,
  },
};

/** The code of a request. BAD_USER_INPUT when it is missing. */
export function requiredCode(code: string | null): string {
  if (code === null || code === '') throw badInput('code', 'code is needed');
  return code;
}

/** The subject of an answer; without one the answer is invalid. */
export function subjectIn(name: PlatformName, ...candidates: readonly (string | undefined)[]): string {
  const subject = candidates.find((candidate) => candidate !== undefined && candidate !== '');
  if (subject === undefined || subject.length > MAX_SUBJECT)
    throw platformError(name, 'outage', 'no subject');
  return subject;
}

/** The secrets of an answer, without empty ones. */
export function withoutEmpty(
  values: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> | null {
  const present = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return present.length === 0 ? null : Object.fromEntries(present);
}

/** A mini-program's platform whose apps have a secret. */
export interface SecretPlatformOptions {
  readonly http: HttpClient;
  readonly apps: readonly { readonly appId: string; readonly secret: string }[];
  /** Without a trailing slash. */
  readonly baseUrl: string;
}
