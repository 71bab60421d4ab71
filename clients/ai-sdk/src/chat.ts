import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type ChatChunk, type ChatReply, KilnError } from '@kiln/client';

import { toInput, findWarnings } from './conversation.ts';
import { download, findKey, type ModelOptions } from './shared.ts';

/** Language models. */
export function chatModel({ kiln, modelId }: ModelOptions): LanguageModelV4 {
  const pieces = (options: LanguageModelV4CallOptions) =>
    kiln.chat(toInput(modelId, options), {
      ...findKey(options.headers),
      ...(options.abortSignal ? { signal: options.abortSignal } : {}),
    });
  return {
    specificationVersion: 'v4',
    provider: 'kiln',
    modelId,
    // Kiln fetches public addresses itself, and knows those of its own files.
    supportedUrls: { 'image/*': [/^https?:/], 'audio/*': [/^https?:/], 'video/*': [/^https?:/] },
    async doGenerate(options) {
      const reply = await readWhole(pieces(options));
      return {
        content: await readContent(reply, options.abortSignal),
        finishReason: toFinishReason(reply),
        usage: toUsage(reply),
        warnings: findWarnings(options),
        response: { modelId: reply.model, timestamp: new Date() },
        providerMetadata: { kiln: { provider: reply.provider } },
      };
    },
    async doStream(options) {
      const answer = pieces(options);
      const begun = await begin(answer);
      const parts = withErrorPart(streamParts(begun, options), options.abortSignal);
      const reading = {
        next: () => parts.next(),
        return: async () => {
          // Parts of which none was read would not pass it on.
          await answer.return();
          return parts.return();
        },
      };
      return {
        stream: ReadableStream.from<LanguageModelV4StreamPart>({ [Symbol.asyncIterator]: () => reading }),
      };
    },
  };
}

async function readWhole(pieces: AsyncIterable<ChatChunk>): Promise<ChatReply> {
  for await (const piece of pieces) {
    const reply = readReply(piece);
    if (reply !== null) return reply;
  }
  throw new KilnError('BAD_ANSWER', 'an answer without an end');
}

/** The whole answer, in the last piece. Throws why there is none. */
function readReply({ reply, error }: ChatChunk): ChatReply | null {
  if (error !== null) throw new KilnError(error.code, error.message, { field: error.field ?? undefined });
  return reply;
}

const TEXT_ID = 'text';

async function* streamParts(
  pieces: AsyncIterable<ChatChunk>,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  const { abortSignal: signal } = options;
  yield { type: 'stream-start', warnings: findWarnings(options) };
  let isOpen = false;
  for await (const piece of pieces) {
    if (piece.delta !== '') {
      if (!isOpen) yield { type: 'text-start', id: TEXT_ID };
      isOpen = true;
      yield { type: 'text-delta', id: TEXT_ID, delta: piece.delta };
    }
    const reply = readReply(piece);
    if (reply === null) continue;
    if (isOpen) yield { type: 'text-end', id: TEXT_ID };
    yield* await downloadFiles(reply, signal);
    yield* toToolCalls(reply);
    yield { type: 'response-metadata', modelId: reply.model, timestamp: new Date() };
    yield { type: 'finish', finishReason: toFinishReason(reply), usage: toUsage(reply) };
  }
}

/** Waits for the first piece: a refusal is thrown before there is a stream. */
async function begin(pieces: AsyncGenerator<ChatChunk>): Promise<AsyncIterable<ChatChunk>> {
  const first = await pieces.next();
  if (first.done) return pieces;
  try {
    readReply(first.value);
  } catch (error) {
    // The subscription is open by now.
    await pieces.return(undefined);
    throw error;
  }
  return (async function* () {
    yield first.value;
    yield* pieces;
  })();
}

/** An error as a part of its own, which the SDK tells to `onError`; what the caller has aborted is thrown. */
async function* withErrorPart(
  parts: AsyncIterable<LanguageModelV4StreamPart>,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  try {
    yield* parts;
  } catch (error) {
    signal?.throwIfAborted();
    yield { type: 'error', error };
  }
}

async function readContent(
  reply: ChatReply,
  signal: AbortSignal | undefined,
): Promise<LanguageModelV4Content[]> {
  const text = reply.text === '' ? [] : [{ type: 'text' as const, text: reply.text }];
  return [...text, ...(await downloadFiles(reply, signal)), ...toToolCalls(reply)];
}

/** Images that the model made, as bytes: the SDK itself fetches nothing from private addresses, where many a Kiln is. */
function downloadFiles(
  { media }: ChatReply,
  signal: AbortSignal | undefined,
): Promise<LanguageModelV4File[]> {
  return Promise.all(
    media.map(async (one) => ({
      type: 'file' as const,
      mediaType: one.contentType,
      data: { type: 'data' as const, data: await download(one, signal) },
    })),
  );
}

function toToolCalls({ toolCalls }: ChatReply) {
  return toolCalls.map(({ id, name, arguments: given }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    // A text is what the model wrote in place of JSON; the SDK lets the program repair it.
    input: typeof given === 'string' ? given : JSON.stringify(given),
  }));
}

function toFinishReason({ toolCalls }: ChatReply) {
  return { unified: toolCalls.length > 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined };
}

function toUsage({ usage: { inputTokens, outputTokens } }: ChatReply): LanguageModelV4Usage {
  return {
    inputTokens: { total: inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
  };
}
