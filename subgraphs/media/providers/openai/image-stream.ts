import { z } from 'zod';

import { parseJson } from '../../../../platform/json.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallStartContext } from '../contract/provider.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { Exchange, ExchangeAnswer, ExchangeRequest } from '../shared/exchange.ts';
import { id, number, text } from '../shared/reader.ts';
import { readDetail } from './wire.ts';

/**
 * Images as server-sent events: the answer begins at once, so that a broken connection is known at once, and whatever comes keeps
 * the call alive. The last event is answered as the whole answer would be.
 */

const MAX_EVENT = 96 << 20;
/** What is shown of an image that is sent in parts: the wire does not say how many come. */
const PART_PROGRESS = 25;

const event = z.looseObject({
  type: z.string().catch(''),
  b64_json: text,
  partial_image_index: number,
  error: z.looseObject({ type: text, code: id }).nullish().catch(null),
});
type ImageEvent = z.output<typeof event>;

interface StreamParts {
  readonly exchange: Exchange;
  readonly events: EventStream;
  readonly report: CallStartContext['report'];
}

/** The exchange of a call for one image, streamed; whole at an upstream that does not stream, or refuses to. */
export function streamedExchange({ exchange, events, report }: StreamParts): Exchange {
  return async (context, request) => {
    const stopped: { answer?: ExchangeAnswer } = {};
    const stop = (answer: ExchangeAnswer): void => void (stopped.answer = answer);
    const stream = events(context, {
      ...streaming(request),
      maxEvent: MAX_EVENT,
      onWhole: stop,
      onRefusal(answer) {
        if (answer.status < 400) return;
        stop(answer);
        throw new UpstreamError('UNAVAILABLE', 'refused');
      },
    });
    try {
      for await (const data of stream) {
        const found = parseEvent(data);
        if (found === null) continue;
        const answer = toAnswer(found);
        if (answer !== null) return answer;
        const part = (found.partial_image_index ?? 0) + 1;
        const image = found.b64_json ? { image: Buffer.from(found.b64_json, 'base64') } : {};
        await report?.({ progress: Math.min(90, part * PART_PROGRESS), stage: 'rendering', ...image });
      }
    } catch (thrown) {
      if (stopped.answer === undefined) throw thrown;
    }
    const { answer } = stopped;
    if (answer === undefined) {
      throw new UpstreamError('UNAVAILABLE', 'openai: the image broke off', { startUnknown: true });
    }
    // Nothing was made: streaming is refused to accounts that are not verified.
    return refusesStreams(answer) ? wholeExchange(exchange)(context, request) : answer;
  };
}

/** The same request, to be answered as a stream. */
function streaming(request: ExchangeRequest): ExchangeRequest {
  if (request.json !== undefined) return { ...request, json: { ...(request.json as object), stream: true } };
  const boundary = /boundary=(\S+)/.exec(request.headers?.['content-type'] ?? '')?.[1] ?? '';
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n`;
  return { ...request, bytes: Buffer.concat([Buffer.from(field), request.bytes ?? Buffer.alloc(0)]) };
}

/** The exchange of a call for several images, or at an upstream that does not stream: no parts are asked for. */
export function wholeExchange(exchange: Exchange): Exchange {
  return (context, request) => exchange(context, withoutParts(request));
}

/** Parts come in streams alone. A form keeps the field, which does nothing there. */
function withoutParts(request: ExchangeRequest): ExchangeRequest {
  if (request.json === undefined) return request;
  const { partial_images: _, ...json } = request.json as Readonly<Record<string, unknown>>;
  return { ...request, json };
}

/** Null for one that can not be read, as an image that was cut. */
function parseEvent(data: string): ImageEvent | null {
  return event.safeParse(parseJson(data)).data ?? null;
}

/** The whole answer of the last event, or of an error; null for a part. */
function toAnswer({ type, b64_json, error, ...facts }: ImageEvent): ExchangeAnswer | null {
  if (error)
    return { status: readStatus(`${error.type ?? ''} ${error.code ?? ''}`), headers: {}, json: { error } };
  if (!type.endsWith('.completed')) return null;
  return { status: 200, headers: {}, json: { ...facts, data: [{ b64_json }] } };
}

function readStatus(words: string): number {
  if (/rate_limit/.test(words)) return 429;
  return /user_error|invalid_request|moderation|policy/.test(words) ? 400 : 500;
}

function refusesStreams({ status, json }: ExchangeAnswer): boolean {
  const { param, message } = readDetail(json);
  return status === 400 && (param === 'stream' || /\bstream(ing)?\b/i.test(message ?? ''));
}
