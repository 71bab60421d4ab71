import type { ChatFormat } from '../../domain/chat-options.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, ChatOutcome, ChatPiece, ChatRequest, RemoteFile } from '../contract/provider.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import {
  chatChunk,
  chatOutcome,
  throwChatRefusal,
  readImages,
  readToolCalls,
  readUsage,
  withheld,
  type ChatChunk,
  type WrittenCall,
} from './chat-wire.ts';
import { unreadable } from './wire.ts';

/**
 * Chat completions. Messages are sent unchanged: their parts (text, image_url, input_audio, file), tool calls and results
 * are this wire's own.
 */

const TIMEOUT_MS = 120_000;
/** Most tool calls in one reply. */
const MAX_CALLS = 256;
/** Most bytes of one reply, envelopes and images included. */
const MAX_WHOLE = 64 << 20;

/** Completes a chat. */
export async function chat(
  exchange: Exchange,
  request: ChatRequest,
  context: CallContext,
): Promise<ChatOutcome> {
  const answer = await exchange(context, {
    method: 'POST',
    path: '/chat/completions',
    json: buildBody(request, context),
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_WHOLE,
  });
  throwChatRefusal(answer);
  return chatOutcome(answer);
}

/** Streams a reply. A stream that ends without a finish reason broke off: UNAVAILABLE. */
export async function* chatStream(
  events: EventStream,
  request: ChatRequest,
  context: CallContext,
): AsyncGenerator<ChatPiece> {
  const text: string[] = [];
  const calls: WrittenCall[] = [];
  const files: RemoteFile[] = [];
  let end: Ending = { isOver: false, isWithheld: false, model: null, usage: null };
  const stream = events(context, {
    method: 'POST',
    path: '/chat/completions',
    json: { ...buildBody(request, context), stream: true, stream_options: { include_usage: true } },
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_WHOLE,
    onRefusal: throwChatRefusal,
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
    addCalls(calls, chunk);
    files.push(...readImages(chunk.choices[0]?.delta?.images));
    end = withChunk(end, chunk);
  }
  if (!end.isOver) {
    throw new UpstreamError('UNAVAILABLE', 'openai: the reply broke off', { startUnknown: true });
  }
  if (text.length === 0 && end.isWithheld) throw withheld();
  const usage = end.usage ?? { inputTokens: 0, outputTokens: 0 };
  yield {
    outcome: {
      text: text.join(''),
      ...readToolCalls(calls.filter(() => true)),
      ...(files.length > 0 && { files }),
      model: end.model ?? 'unknown',
      usage,
    },
  };
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
    usage: usage ? readUsage(usage) : end.usage,
  };
}

/** Adds the pieces of tool calls to those before: the first piece of a call has its id and name, each some arguments. */
function addCalls(calls: WrittenCall[], { choices }: ChatChunk): void {
  for (const { index, id, function: piece } of choices[0]?.delta?.tool_calls ?? []) {
    // Servers that do not number calls send each as a whole.
    const at = index ?? calls.length;
    if (at > MAX_CALLS) throw unreadable(new Error('too many tool calls'));
    const known = calls[at];
    calls[at] = {
      id: known?.id ?? id,
      function: {
        name: known?.function?.name ?? piece?.name,
        arguments: `${known?.function?.arguments ?? ''}${piece?.arguments ?? ''}`,
      },
    };
  }
}

const DEFAULT_MODEL = 'gpt-4o-mini';

function buildBody(request: ChatRequest, { connection }: CallContext): Record<string, unknown> {
  if (!Array.isArray(request.messages)) throw unreadable(new Error('messages are no list'));
  const { messages, system, temperature, maxTokens, reasoningEffort } = request;
  return withVendorOptions(
    { options: request.vendorOptions ?? {} },
    {
      model: connection.model ?? DEFAULT_MODEL,
      messages: system === null ? messages : [{ role: 'system', content: system }, ...messages],
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
      ...toTools(request),
      ...(request.responseFormat && { response_format: toFormat(request.responseFormat) }),
      ...(reasoningEffort && { reasoning_effort: reasoningEffort.toLowerCase() }),
    },
  );
}

function toTools({ tools = [], toolChoice: choice }: ChatRequest): object {
  if (tools.length === 0) return {};
  const isMode = choice === 'auto' || choice === 'none' || choice === 'required';
  return {
    tools: tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: {
        name,
        ...(description !== null && { description }),
        ...(parameters !== null && { parameters }),
        ...(strict !== null && { strict }),
      },
    })),
    ...(choice && { tool_choice: isMode ? choice : { type: 'function', function: { name: choice } } }),
  };
}

function toFormat(format: ChatFormat): object {
  if (format.type === 'JSON_OBJECT') return { type: 'json_object' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, ...(strict !== null && { strict }) } };
}
