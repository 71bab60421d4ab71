import { z } from 'zod';

import { parsedArguments, type ChatToolCall } from '../../domain/chat-options.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { readDataUrl } from '../../domain/inputs/input-files.ts';
import type { ChatOutcome, RemoteFile } from '../contract/provider.ts';
import type { ExchangeAnswer } from '../shared/exchange.ts';
import { id, number, optionalListOf, text } from '../shared/reader.ts';
import { isFailure, read, throwRefusal, throwStartRefusal, unreadable } from './wire.ts';

/** The bodies of chats, parsed leniently: only the fields that Kiln uses. */

const usage = z
  .object({
    prompt_tokens: number,
    completion_tokens: number,
    prompt_tokens_details: z.object({ cached_tokens: number }).nullish().catch(null),
  })
  .nullish()
  .catch(null);

/** Arguments are JSON in a text; some compatible servers send them as an object. */
const writtenArguments = z
  .union([z.string(), z.json().transform((value) => JSON.stringify(value))])
  .nullish()
  .catch(null);

const toolCall = z.object({
  id,
  function: z.object({ name: text, arguments: writtenArguments }).nullish().catch(null),
});

/** Images beside a text, as OpenRouter, LiteLLM and Vercel's gateway send those of models that make some. */
const madeImages = optionalListOf(z.object({ image_url: z.object({ url: z.string() }) }));

const completion = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: optionalListOf(toolCall),
          images: madeImages,
        }),
        finish_reason: text,
      }),
    )
    .min(1),
  usage,
});

const chunk = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: optionalListOf(toolCall.extend({ index: number })),
            images: madeImages,
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish()
    .transform((choices) => choices ?? []),
  usage,
});

/** A call of a tool as the model wrote it. */
export type WrittenCall = z.output<typeof toolCall>;

/** One event of a streamed chat. */
export type ChatChunk = z.output<typeof chunk>;

/** Parameters of chats by the first part of their name, as the API calls them. */
const CHAT_FIELDS: Readonly<Record<string, string>> = {
  response_format: 'responseFormat',
  reasoning_effort: 'reasoningEffort',
  tool_choice: 'toolChoice',
  max_completion_tokens: 'maxTokens',
};

/** Throws the vendor's error about a chat; returns for a success. */
export function throwChatRefusal(answer: ExchangeAnswer): void {
  throwStartRefusal(answer, (param) => {
    const [first = param] = param.split(/[.[]/);
    return CHAT_FIELDS[first] ?? first;
  });
}

/** The reply of a chat. */
export function chatOutcome(answer: ExchangeAnswer): ChatOutcome {
  const parsed = read(completion, answer);
  const [choice] = parsed.choices;
  const said = choice?.message.content ?? choice?.message.refusal ?? '';
  const files = readImages(choice?.message.images);
  if (said === '' && choice?.finish_reason === 'content_filter') throw withheld();
  return {
    text: said,
    ...readToolCalls(choice?.message.tool_calls ?? []),
    ...(files.length > 0 && { files }),
    model: parsed.model ?? 'unknown',
    usage: readUsage(parsed.usage),
  };
}

/** Images of an answer: most come as data, some by address. */
export function readImages(images: z.output<typeof madeImages>): readonly RemoteFile[] {
  return (images ?? []).map(({ image_url: { url } }) => {
    const inline = readDataUrl(url);
    if (inline === null) return { url };
    return { content: Buffer.from(inline.data, 'base64'), contentType: inline.contentType };
  });
}

/** Calls of tools, as they are added to an outcome: not at all when there are none. */
export function readToolCalls(calls: readonly WrittenCall[]): Pick<ChatOutcome, 'toolCalls'> {
  const toolCalls = calls.map(({ id: named, function: called }, index): ChatToolCall => {
    if (!called?.name) throw unreadable(new Error('a tool call without a name'));
    // Some compatible servers give no ids.
    return {
      id: named || `call_${index}`,
      name: called.name,
      arguments: parsedArguments(called.arguments ?? ''),
    };
  });
  return toolCalls.length === 0 ? {} : { toolCalls };
}

/** The tokens of a chat. */
export function readUsage(counted: z.output<typeof usage>): ChatOutcome['usage'] {
  const cachedTokens = counted?.prompt_tokens_details?.cached_tokens;
  return {
    inputTokens: counted?.prompt_tokens ?? 0,
    outputTokens: counted?.completion_tokens ?? 0,
    ...(cachedTokens && { cachedTokens }),
  };
}

/** One item of a streamed reply. Throws the vendor's error during the stream. */
export function chatChunk(data: string): ChatChunk {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (isFailure(json)) throwRefusal({ status: 500, headers: {}, json });
  return read(chunk, { json });
}

/** The content filter withheld the whole reply. */
export function withheld(): UpstreamError {
  return new UpstreamError('MODERATION_REFUSED', 'openai: the reply was withheld by the content filter', {
    field: 'messages',
  });
}
