import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  type ChatInput,
  type ChatMessage,
  type ChatPart,
  KilnError,
  type ReasoningEffort,
} from '@kiln/client';

import { readExtras, named, unsupported } from './shared.ts';

/** The SDK's conversation as Kiln's. */

/** What a call asks of `chatStream`. */
export function toInput(modelId: string, options: LanguageModelV4CallOptions): ChatInput {
  const { prompt, temperature, maxOutputTokens, tools = [], toolChoice } = options;
  const own = tools.filter((tool) => tool.type === 'function');
  return {
    ...named(modelId),
    conversation: prompt.flatMap(toMessages),
    temperature,
    maxTokens: maxOutputTokens,
    ...(own.length === 0
      ? {}
      : {
          tools: own.map(({ name, description, inputSchema, strict }) => ({
            name,
            description,
            parameters: inputSchema,
            strict,
          })),
          toolChoice: toolChoice?.type === 'tool' ? toolChoice.toolName : toolChoice?.type,
        }),
    responseFormat: toResponseFormat(options),
    reasoningEffort: toReasoningEffort(options),
    ...readExtras(options.providerOptions),
  };
}

/** What of a call Kiln has nothing for. */
export function findWarnings(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  const { topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed, tools = [] } = options;
  const foreign = tools.filter((tool) => tool.type !== 'function');
  return [
    ...unsupported({ topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed }),
    ...foreign.map((tool): SharedV4Warning => ({ type: 'unsupported', feature: `tool ${tool.name}` })),
  ];
}

function toResponseFormat({ responseFormat }: LanguageModelV4CallOptions): ChatInput['responseFormat'] {
  if (responseFormat?.type !== 'json') return undefined;
  const { schema, name } = responseFormat;
  return schema === undefined ? { type: 'JSON_OBJECT' } : { type: 'JSON_SCHEMA', name, schema };
}

function toReasoningEffort({ reasoning }: LanguageModelV4CallOptions): ReasoningEffort | undefined {
  if (reasoning === undefined || reasoning === 'provider-default') return undefined;
  return reasoning === 'max' ? 'XHIGH' : (reasoning.toUpperCase() as ReasoningEffort);
}

function toMessages(message: LanguageModelV4Message): readonly ChatMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'SYSTEM', text: message.content }];
    case 'user':
      return [
        {
          role: 'USER',
          parts: message.content.map((part) => (part.type === 'text' ? { text: part.text } : filePart(part))),
        },
      ];
    case 'assistant':
      return toAnswer(message.content);
    default:
      return message.content.flatMap((part) => (part.type === 'tool-result' ? [toolMessage(part)] : []));
  }
}

/** None for an answer that said nothing, as one that was stopped at once: models take no empty message. */
function toAnswer(
  content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content'],
): readonly ChatMessage[] {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const toolCalls = content.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, arguments: part.input }] : [],
  );
  const files = content.flatMap((part) => (part.type === 'file' ? [filePart(part)] : []));
  const words = text === '' ? [] : [{ text }];
  if (words.length + files.length + toolCalls.length === 0) return [];
  return [
    {
      role: 'ASSISTANT',
      ...(files.length > 0 ? { parts: [...words, ...files] } : text === '' ? {} : { text }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    },
  ];
}

function filePart({ data, mediaType }: LanguageModelV4FilePart): ChatPart {
  if (data.type === 'url') return { url: data.url.href };
  if (data.type === 'text') return { text: data.text };
  if (data.type === 'reference')
    throw new KilnError('BAD_USER_INPUT', "files of other providers are not Kiln's");
  const base64 = typeof data.data === 'string' ? data.data : toBase64(data.data);
  return { url: `data:${mediaType};base64,${base64}` };
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCodePoint(byte);
  return btoa(text);
}

function toolMessage({ toolCallId, output }: LanguageModelV4ToolResultPart): ChatMessage {
  if (output.type === 'execution-denied') {
    return { role: 'TOOL', toolCallId, text: output.reason ?? 'the call was refused' };
  }
  const text = typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  return { role: 'TOOL', toolCallId, text };
}
