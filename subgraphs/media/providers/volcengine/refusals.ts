import { modelGone, UpstreamError } from '../../domain/failure.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import { errorOfStatus, readRetryAfter, type ExchangeAnswer } from '../shared/exchange.ts';

/** The errors of Volcengine's codes. A code of the visual service is more precise than its HTTP status. */

/** The code of a success. */
export const SUCCESS = 10_000;

/** Codes of refused content, before or after the work. */
const CONTENT: ReadonlySet<number> = new Set([
  50_411, 50_412, 50_413, 50_511, 50_512, 50_514, 50_516, 50_517, 50_518, 50_519,
]);
const TOO_MANY: ReadonlySet<number> = new Set([50_429, 50_430]);
const INTERNAL: ReadonlySet<number> = new Set([50_500, 50_501]);
/** Not opened for this account, or there is no such service: "Access Denied" for both. */
const NOT_OPENED = 50_400;
/** Invalid parameters; the name of the service is one of them. */
const BAD_REQUEST = 50_200;
/** An input URL could not be fetched: our URL, so not the caller's fault. */
const NOT_FETCHED = 50_220;
const VIDEO: ReadonlySet<number> = new Set([50_209, 50_210, 50_211, 50_214]);
const NO_FACE = 60_102;
/** "Input invalid for this service": mostly audio that is too long. */
const UNFIT = 50_215;

type Kind = WorkRequest['kind'];

/** The input field, by kind, that a video, face or invalid-input code is about. */
const FIELDS: Readonly<Partial<Record<Kind, { readonly face: string; readonly unfit: string }>>> = {
  PERSON_DETECTION: { face: 'image', unfit: 'image' },
  HUMAN_VIDEO: { face: 'image', unfit: 'audio' },
  AVATAR: { face: 'videoId', unfit: 'videoId' },
  AVATAR_VIDEO: { face: 'digitalId', unfit: 'audio' },
};

interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly answer: ExchangeAnswer;
  readonly kind: Kind;
}

/** The error of a code of the visual service. */
export function errorOfCode({ code, message: reason, answer, kind }: Refusal): UpstreamError {
  const message = `volcengine: ${reason || 'no reason given'} (${code})`.slice(0, 400);
  if (CONTENT.has(code)) return new UpstreamError('MODERATION_REFUSED', message);
  if (TOO_MANY.has(code)) {
    return new UpstreamError('RATE_LIMITED', message, { retryAfter: readRetryAfter(answer) });
  }
  if (INTERNAL.has(code) || answer.status >= 500) {
    return new UpstreamError('UNAVAILABLE', message, { startUnknown: true });
  }
  if (code === NOT_OPENED || (code === BAD_REQUEST && reason.includes('req_key'))) return modelGone(message);
  if (code === NOT_FETCHED) return new UpstreamError('UNAVAILABLE', message);
  if (isInputCode(code)) {
    const field = findField(code, kind);
    return new UpstreamError('INVALID_INPUT', message, { ...(field !== undefined && { field }) });
  }
  return new UpstreamError('UNAVAILABLE', message);
}

function isInputCode(code: number): boolean {
  return (code >= 50_200 && code < 50_300) || code === NO_FACE;
}

function findField(code: number, kind: Kind): string | undefined {
  const fields = FIELDS[kind];
  if (VIDEO.has(code) || code === NO_FACE) return fields?.face;
  return code === UNFIT ? fields?.unfit : undefined;
}

/** Whether the request was refused, not the work: it may be sent again. */
export function isRequestError(error: UpstreamError, { status }: ExchangeAnswer): boolean {
  return error.code === 'RATE_LIMITED' || status === 401 || status === 403 || status >= 500;
}

/** The error of an answer without a code of the service: of the API gateway before it. */
export function errorOfGateway(answer: ExchangeAnswer, reason: string): UpstreamError | undefined {
  const error = errorOfStatus(answer, `volcengine: ${reason || `HTTP ${answer.status}`}`.slice(0, 400));
  // A missing action is not lost work.
  if (error?.code !== 'LOST') return error;
  return new UpstreamError('UNAVAILABLE', error.message);
}
