import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, ChatOutcome, ChatPiece, ChatRequest } from '../contract/provider.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { Exchange } from '../shared/exchange.ts';
import {
  chatChunk,
  chatOutcome,
  throwRefusal,
  unreadable,
  usageOf,
  withheld,
  type ChatChunk,
} from './wire.ts';

/**
 * Chat completions. Messages are sent unchanged: their parts (text, image_url, input_audio, file) are this wire's own.
 */

const DEFAULT_MODEL = 'gpt-4o-mini';
const TIMEOUT_MS = 120_000;
/** Most bytes of one streamed reply, envelopes included. */
const MAX_STREAM = 64 << 20;

/** Completes a chat. */
export async function chat(
  exchange: Exchange,
  request: ChatRequest,
  context: CallContext,
): Promise<ChatOutcome> {
  const answer = await exchange(context, {
    method: 'POST',
    path: '/chat/completions',
    json: bodyOf(request, context),
    timeoutMs: TIMEOUT_MS,
    maxBytes: 8 << 20,
  });
  throwRefusal(answer);
  return chatOutcome(answer);
}

/** Streams a reply. A stream that ends without a finish reason broke off: UNAVAILABLE. */
export async function* chatStream(
  events: EventStream,
  request: ChatRequest,
  context: CallContext,
): AsyncGenerator<ChatPiece> {
  const text: string[] = [];
  let end: Ending = { isOver: false, isWithheld: false, model: null, usage: null };
  const stream = events(context, {
    method: 'POST',
    path: '/chat/completions',
    json: { ...bodyOf(request, context), stream: true, stream_options: { include_usage: true } },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_STREAM,
    onRefusal: throwRefusal,
  });
  for await (const data of stream) {
    if (data.trim() === '[DONE]') {
      end = { ...end, isOver: true };
      break;
    }
    const chunk = chatChunk(data);
    const delta = chunk.choices[0]?.delta?.content ?? chunk.choices[0]?.delta?.refusal ?? '';
    if (delta !== '') {
      text.push(delta);
      yield { delta };
    }
    end = withChunk(end, chunk);
  }
  if (!end.isOver) {
    throw new UpstreamError('UNAVAILABLE', 'openai: the reply broke off', { startUnknown: true });
  }
  if (text.length === 0 && end.isWithheld) throw withheld();
  const usage = end.usage ?? { inputTokens: 0, outputTokens: 0 };
  yield { outcome: { text: text.join(''), model: end.model ?? 'unknown', usage } };
}

/** The state of a stream besides its text. */
interface Ending {
  readonly isOver: boolean;
  readonly isWithheld: boolean;
  readonly model: string | null;
  readonly usage: ChatOutcome['usage'] | null;
}

function withChunk(end: Ending, { choices, model, usage }: ChatChunk): Ending {
  const reason = choices[0]?.finish_reason ?? null;
  return {
    isOver: end.isOver || reason !== null,
    isWithheld: end.isWithheld || reason === 'content_filter',
    model: model ?? end.model,
    usage: usage ? usageOf(usage) : end.usage,
  };
}

function bodyOf(request: ChatRequest, { connection }: CallContext): object {
  if (!Array.isArray(request.messages)) throw unreadable(new Error('messages are no list'));
  const { messages, system, temperature, maxTokens } = request;
  return {
    model: connection.model ?? DEFAULT_MODEL,
    messages: system === null ? messages : [{ role: 'system', content: system }, ...messages],
    ...(temperature !== null && { temperature }),
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
  };
}
