import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import { ReplyLost } from '../answers/failures.ts';
import type { ChatPiece, ChatReply } from '../documents/chat.ts';
import type { FaceEvent } from '../table/route.ts';

/** Answers of language models in OpenAI's form. */

/** What every answer and every chunk of it has. */
export interface Completion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** A whole answer. Pure. */
export function completionOf(completion: Completion, reply: ChatReply): object {
  const calls = callsOf(reply);
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
        },
        logprobs: null,
        finish_reason: finishOf(reply),
      },
    ],
    usage: usageOf(reply),
  };
}

/** The chunks of a streamed answer. Throws what the answer failed with. */
export async function* chunksOf(
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
    if (error !== null) throw failureOf(error);
    if (reply === null) continue;
    const calls = callsOf(reply).map((call, index) => ({ index, ...call }));
    if (calls.length > 0) yield chunk({ tool_calls: calls });
    yield chunk({}, finishOf(reply));
    if (wantsUsage) {
      const object = 'chat.completion.chunk';
      yield { data: { ...completion, object, choices: [], usage: usageOf(reply) } };
    }
  }
  yield { data: '[DONE]' };
}

function callsOf({ toolCalls }: ChatReply) {
  return toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
}

function finishOf({ toolCalls }: ChatReply): string {
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ usage: { inputTokens, outputTokens } }: ChatReply): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** Failures of the provider in the words that a whole answer is refused with. */
export function failureOf({ code, message, field }: NonNullable<ChatPiece['error']>): AppError {
  if (code === 'START_UNKNOWN' || code === 'TIMED_OUT') return new ReplyLost(code, message);
  const codes: Readonly<Partial<Record<typeof code, AppErrorCode>>> = {
    MODERATION_REFUSED: 'BAD_USER_INPUT',
    INVALID_INPUT: 'BAD_USER_INPUT',
    RATE_LIMITED: 'RATE_LIMITED',
    MODEL_GONE: 'MODEL_RETIRED',
  };
  return new AppError(codes[code] ?? 'UNAVAILABLE', message, field === null ? {} : { field });
}
