import type { Answer } from '../../http/answer.ts';
import type { ToolCall } from './tools.ts';

/** A finished chat, to be sent whole or as a stream. */
export interface Completion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly text: string;
  /** Calls of the caller's tools, instead of a text. */
  readonly calls: readonly ToolCall[];
  /** How many choices, all of them the same. */
  readonly count: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly completion_tokens_details: { readonly reasoning_tokens: number };
  };
}

/** Streams a chat: server-sent events of one word each, then `[DONE]`; usage in a chunk of its own when requested. */
export function streamChat(completion: Completion, includeUsage: boolean): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: events(completion, includeUsage),
  };
}

async function* events(completion: Completion, includeUsage: boolean): AsyncGenerator<string> {
  const { id, created, model, calls, count, finishReason, usage } = completion;
  const event = (more: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...more })}\n\n`;
  const chunk = (index: number, delta: object, finish_reason: string | null) =>
    event({ choices: [{ index, delta, logprobs: null, finish_reason }] });
  for (let choice = 0; choice < count; choice += 1) {
    yield chunk(choice, { role: 'assistant', content: calls.length > 0 ? null : '' }, null);
    for (const [index, call] of calls.entries())
      yield chunk(choice, { tool_calls: [{ index, ...call }] }, null);
    for (const word of completion.text.split(/(?<=\s)/)) {
      // Yields between chunks, so that they are sent one by one.
      await new Promise((resolve) => setImmediate(resolve));
      if (word !== '') yield chunk(choice, { content: word }, null);
    }
    yield chunk(choice, {}, finishReason);
  }
  if (includeUsage) yield event({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}
