import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { printDocument } from '../../../rest-compat/documents/graphql.ts';
import { requireData, runDocument } from '../../../rest-compat/replies/results.ts';
import { lostReplies, ReplyLost } from '../answers/failures.ts';
import { reserveStream } from '../answers/send.ts';
import {
  type ChatInput,
  type ChatPiece,
  type ChatReply,
  FaceChat,
  FaceChatStream,
} from '../documents/chat.ts';
import { FaceModelByName, FaceModels } from '../documents/models.ts';
import { readJson, booleanIn, objectIn, textIn } from '../request/fields.ts';
import { identifyCall } from '../request/media.ts';
import type { FaceAnswer, FaceCall, FaceRoute, FaceEvent } from '../table/route.ts';
import { nameIgnored } from '../tasks/follow.ts';
import { type Joining, readJoining } from '../tasks/joining.ts';
import { asSent, readChat } from './input.ts';

/** Chats with language models. */
export const chatRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/chat/completions',
    summary: 'Has a language model go on with a conversation.',
    rateClass: 'start',
    documents: [FaceModels, FaceModelByName, FaceChat, FaceChatStream],
    async run(call) {
      const body = await readJson(call);
      return answerChat(call, body).catch((thrown: unknown) => {
        throw asSent(thrown, body);
      });
    },
  },
];

async function answerChat(call: FaceCall, body: JsonObject): Promise<FaceAnswer> {
  const name = textIn(body, 'model');
  const model = await call.models.find('CHAT', name, call.context);
  const { input, ignored } = readChat(body, model);
  nameIgnored(call, ignored);
  const content = identifyCall('chat', body, { model: `${model.generator}:${model.model}` });
  const joining = readJoining(call, content, { isChat: true });
  const completion: Completion = {
    id: `chatcmpl-${call.context.caller.traceId}`,
    created: Math.floor(Date.now() / 1_000),
    model: name ?? model.model,
  };
  if (booleanIn(body, 'stream') !== true) {
    return { body: toCompletion(completion, await chatWhole(call, input, joining)) };
  }
  const wantsUsage = objectIn(body, 'stream_options')?.['include_usage'] === true;
  const permit = reserveStream(call.context);
  const pieces = await begin(call, input, joining);
  return { permit, events: toChunks({ ...completion, wantsUsage }, pieces) };
}

/**
 * A whole answer. A counted retry begins anew where its provider has failed: there is nothing of that to be had. What Kiln itself
 * was stopped in may have been paid for, and is not asked for again without a word.
 */
async function chatWhole(call: FaceCall, input: ChatInput, joining: Joining): Promise<ChatReply> {
  const isRetry = Number(call.request.headers['x-stainless-retry-count']) > 0;
  if (!isRetry) return (await runDocument(call, FaceChat, { input, ...joining })).chat;
  for await (const { reply, error } of await begin(call, input, joining)) {
    if (reply !== null) return reply;
    if (error !== null && !['UNAVAILABLE', 'RATE_LIMITED'].includes(error.code)) throw toFailure(error);
    if (error !== null) break;
  }
  return (await runDocument(call, FaceChat, { input, ...joining, joinSeconds: 0 })).chat;
}

/** Begins a streamed chat: a refusal is thrown before anything is answered. */
async function begin(
  { executor, context }: FaceCall,
  input: ChatInput,
  { idempotencyKey, joinSeconds }: Joining,
): Promise<AsyncIterable<ChatPiece>> {
  const variables = { input, idempotencyKey: idempotencyKey ?? context.caller.traceId, joinSeconds };
  const stream = await executor.subscribe({ query: printDocument(FaceChatStream), variables, context });
  if (!(Symbol.asyncIterator in stream)) {
    requireData(stream);
    throw new AppError('INTERNAL', 'a refused subscription without errors');
  }
  return (async function* () {
    for await (const result of stream)
      yield (requireData(result) as { readonly chatStream: ChatPiece }).chatStream;
  })();
}

/** Answers of language models in OpenAI's form. */

/** What every answer and every chunk of it has. */
interface Completion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** A whole answer. Pure. */
function toCompletion(completion: Completion, reply: ChatReply): object {
  const calls = toToolCalls(reply);
  return {
    ...completion,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text === '' && calls.length > 0 ? null : reply.text,
          refusal: null,
          ...(calls.length > 0 && { tool_calls: calls }),
          ...toImages(reply),
        },
        logprobs: null,
        finish_reason: toFinishReason(reply),
      },
    ],
    usage: toUsage(reply),
  };
}

/** The chunks of a streamed answer. Throws what the answer failed with. */
async function* toChunks(
  { wantsUsage, ...completion }: Completion & { readonly wantsUsage: boolean },
  pieces: AsyncIterable<ChatPiece>,
): AsyncGenerator<FaceEvent> {
  const chunk = (delta: object, finish: string | null = null): FaceEvent => ({
    data: {
      ...completion,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage && { usage: null }),
    },
  });
  yield chunk({ role: 'assistant', content: '', refusal: null });
  for await (const { delta, reply, error } of pieces) {
    if (delta !== '') yield chunk({ content: delta });
    if (error !== null) throw toFailure(error);
    if (reply === null) continue;
    const calls = toToolCalls(reply).map((call, index) => ({ index, ...call }));
    if (calls.length > 0) yield chunk({ tool_calls: calls });
    if (reply.media.length > 0) yield chunk(toImages(reply));
    yield chunk({}, toFinishReason(reply));
    if (wantsUsage) {
      const object = 'chat.completion.chunk';
      yield { data: { ...completion, object, choices: [], usage: toUsage(reply) } };
    }
  }
  yield { data: '[DONE]' };
}

function toToolCalls({ toolCalls }: ChatReply) {
  return toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
}

/** Images beside the text, in the form of OpenRouter and LiteLLM: OpenAI has none for them. */
function toImages({ media }: ChatReply): object {
  if (media.length === 0) return {};
  const images = media.map(({ url }, index) => ({ index, type: 'image_url', image_url: { url } }));
  return { images };
}

function toFinishReason({ toolCalls }: ChatReply): string {
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function toUsage({ usage: { inputTokens, outputTokens } }: ChatReply): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** Failures of the provider in the words that a whole answer is refused with. */
function toFailure({ code, message, field }: NonNullable<ChatPiece['error']>): AppError {
  const lost = lostReplies.find((one) => one === code);
  if (lost !== undefined) return new ReplyLost(lost, message);
  const codes: Readonly<Partial<Record<typeof code, AppErrorCode>>> = {
    MODERATION_REFUSED: 'BAD_USER_INPUT',
    INVALID_INPUT: 'BAD_USER_INPUT',
    RATE_LIMITED: 'RATE_LIMITED',
    MODEL_GONE: 'MODEL_RETIRED',
  };
  return new AppError(codes[code] ?? 'UNAVAILABLE', message, field === null ? {} : { field });
}
