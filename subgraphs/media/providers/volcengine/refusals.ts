import { UpstreamError } from '../../domain/failure.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import { errorOfStatus, retryAfterOf, type ExchangeAnswer } from '../shared/exchange.ts';

/** What Volcengine's codes mean. A code of the visual service comes with a telling HTTP status, but says more. */

/** The code of an answer without a failure. */
export const SUCCESS = 10_000;

/** What was refused: by its content, before or after the work. */
const CONTENT: ReadonlySet<number> = new Set([
  50_411, 50_412, 50_413, 50_511, 50_512, 50_514, 50_516, 50_517, 50_518, 50_519,
]);
const TOO_MANY: ReadonlySet<number> = new Set([50_429, 50_430]);
const INTERNAL: ReadonlySet<number> = new Set([50_500, 50_501]);
const NOT_OPENED = 50_400;
/** An address that was given could not be fetched: ours, so nothing that the caller could mend. */
const NOT_FETCHED = 50_220;
const VIDEO: ReadonlySet<number> = new Set([50_209, 50_210, 50_211, 50_214]);
const NO_FACE = 60_102;
/** "Input invalid for this service": most of all a sound that is too long. */
const UNFIT = 50_215;

type Kind = WorkRequest['kind'];

/** The field of each kind that a video, a face or an unfit input came in. */
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
export function errorOfCode({ code, message: said, answer, kind }: Refusal): UpstreamError {
  const message = `volcengine: ${said || 'no reason given'} (${code})`.slice(0, 400);
  if (CONTENT.has(code)) return new UpstreamError('MODERATION_REFUSED', message);
  if (TOO_MANY.has(code)) {
    return new UpstreamError('RATE_LIMITED', message, { retryAfter: retryAfterOf(answer) });
  }
  if (INTERNAL.has(code) || answer.status >= 500) {
    return new UpstreamError('UNAVAILABLE', message, { startUnknown: true });
  }
  if (code === NOT_OPENED || code === NOT_FETCHED) {
    return new UpstreamError('UNAVAILABLE', message);
  }
  if (isInputCode(code)) {
    const field = fieldOf(code, kind);
    return new UpstreamError('INVALID_INPUT', message, { ...(field !== undefined && { field }) });
  }
  return new UpstreamError('UNAVAILABLE', message);
}

function isInputCode(code: number): boolean {
  return (code >= 50_200 && code < 50_300) || code === NO_FACE;
}

function fieldOf(code: number, kind: Kind): string | undefined {
  const fields = FIELDS[kind];
  if (VIDEO.has(code) || code === NO_FACE) return fields?.face;
  return code === UNFIT ? fields?.unfit : undefined;
}

/** Whether a question was refused, and not the work that it asked about: it may be asked again. */
export function isOfQuestion(error: UpstreamError, { status }: ExchangeAnswer): boolean {
  return error.code === 'RATE_LIMITED' || status === 401 || status === 403 || status >= 500;
}

/** The error of an answer that carries no code of the service: of the door before it. */
export function errorOfDoor(answer: ExchangeAnswer, said: string): UpstreamError | undefined {
  const error = errorOfStatus(answer, `volcengine: ${said || `HTTP ${answer.status}`}`.slice(0, 400));
  // An action that is not there is no lost work.
  if (error?.code !== 'LOST') return error;
  return new UpstreamError('UNAVAILABLE', error.message);
}
