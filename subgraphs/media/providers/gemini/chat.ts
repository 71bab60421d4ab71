import { randomUUID } from 'node:crypto';

import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, ChatOutcome, ChatPiece, ChatRequest, RemoteFile } from '../contract/provider.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { Exchange } from '../shared/exchange.ts';
import { buildBody, makesImages } from './chat-request.ts';
import {
  parseGenerated,
  throwBlocked,
  throwRefusal,
  throwStartRefusal,
  unreadable,
  type Generated,
} from './wire.ts';

/** Chat: generateContent, or streamGenerateContent, whose last event has the finish reason. */

const DEFAULT_MODEL = 'gemini-3.5-flash-lite';
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 8 << 20;
/** Most bytes of one reply that is streamed or has images, envelopes included. */
const MAX_LARGE = 64 << 20;

/** Completes a chat. Throws UpstreamError. */
export async function chat(
  exchange: Exchange,
  request: ChatRequest,
  context: CallContext,
): Promise<ChatOutcome> {
  return generateText(exchange, context, { body: buildBody(request, readModel(context)), field: 'messages' });
}

/** Calls a language model. `field` is named when the content is refused. Throws UpstreamError. */
export async function generateText(
  exchange: Exchange,
  context: CallContext,
  { body, field }: { readonly body: object; readonly field: string },
): Promise<ChatOutcome> {
  const model = readModel(context);
  const answer = await exchange(context, {
    method: 'POST',
    path: `/models/${model}:generateContent`,
    json: body,
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: makesImages(model) ? MAX_LARGE : MAX_BYTES,
  });
  throwStartRefusal(answer);
  const found = parseGenerated(answer.json, field);
  if (found.finishReason === null) throw unreadable(new Error('no candidate'));
  if (isEmpty(found)) throwEmpty(found.finishReason, field);
  return toOutcome(found, found, model);
}

/** Streams a reply. A stream that ends without a finish reason broke off: UNAVAILABLE. */
export async function* chatStream(
  events: EventStream,
  request: ChatRequest,
  context: CallContext,
): AsyncGenerator<ChatPiece> {
  const model = readModel(context);
  const stream = events(context, {
    method: 'POST',
    path: `/models/${model}:streamGenerateContent?alt=sse`,
    json: buildBody(request, model),
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_LARGE,
    onRefusal: throwStartRefusal,
  });
  const text: string[] = [];
  const calls: Generated['calls'][number][] = [];
  const files: RemoteFile[] = [];
  let end: Ending = { finishReason: null, model: null, usage: null };
  for await (const data of stream) {
    const piece = readPiece(data);
    if (piece.text !== '') {
      text.push(piece.text);
      yield { delta: piece.text };
    }
    calls.push(...piece.calls);
    files.push(...piece.files);
    end = {
      finishReason: piece.finishReason ?? end.finishReason,
      model: piece.model ?? end.model,
      usage: piece.usage ?? end.usage,
    };
  }
  if (end.finishReason === null) {
    throw new UpstreamError('UNAVAILABLE', 'gemini: the reply broke off', { startUnknown: true });
  }
  const whole = { text: text.join(''), calls, files };
  if (isEmpty(whole)) throwEmpty(end.finishReason, 'messages');
  yield { outcome: toOutcome(whole, end, model) };
}

function readModel({ connection }: CallContext): string {
  return connection.model ?? DEFAULT_MODEL;
}

type Content = Pick<Generated, 'text' | 'calls' | 'files'>;

function isEmpty({ text, calls, files }: Content): boolean {
  return text === '' && calls.length === 0 && files.length === 0;
}

/** Throws when an answer is empty for a reason: it was withheld, or the model wrote no valid call. */
function throwEmpty(finishReason: string, field: string): void {
  throwBlocked(finishReason, field);
  if (finishReason === 'MALFORMED_FUNCTION_CALL') {
    throw new UpstreamError('UNAVAILABLE', 'gemini: the model wrote a tool call that can not be read');
  }
}

type Ending = Pick<Generated, 'finishReason' | 'model' | 'usage'>;

function readPiece(data: string): Generated {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch (cause) {
    throw unreadable(cause);
  }
  // An error during the stream is an event of its own.
  if (typeof json === 'object' && json !== null && 'error' in json) {
    throwRefusal({ status: readStatus(json.error), headers: {}, json });
  }
  return parseGenerated(json, 'messages');
}

function readStatus(error: unknown): number {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

/** The outcome of an answer. Calls without an id get one that is unique in the conversation. */
function toOutcome(
  { text, calls, files }: Content,
  { model, usage }: Omit<Ending, 'finishReason'>,
  requested: string,
): ChatOutcome {
  const toolCalls = calls.map(({ id, ...call }) => ({ id: id ?? `call_${randomUUID()}`, ...call }));
  return {
    text,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(files.length > 0 && { files }),
    model: model ?? requested,
    usage: usage ?? { inputTokens: 0, outputTokens: 0 },
  };
}
