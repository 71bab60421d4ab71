import type { Answer } from '../../http/answer.ts';

/** A finished chat, to be sent whole or as a stream. */
export interface Completion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
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
  const { id, created, model, finishReason, usage } = completion;
  const event = (more: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...more })}\n\n`;
  const chunk = (delta: object, finish_reason: string | null) =>
    event({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  yield chunk({ role: 'assistant', content: '' }, null);
  for (const word of completion.text.split(/(?<=\s)/)) {
    // Yields between chunks, so that they are sent one by one.
    await new Promise((resolve) => setImmediate(resolve));
    yield chunk({ content: word }, null);
  }
  yield chunk({}, finishReason);
  if (includeUsage) yield event({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}
