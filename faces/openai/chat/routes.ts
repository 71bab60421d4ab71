import { AppError } from '../../../platform/errors.ts';
import { textOf } from '../../../rest-compat/documents/graphql.ts';
import { dataOf, runDocument } from '../../../rest-compat/replies/results.ts';
import { reserveStream } from '../answers/send.ts';
import {
  type ChatInput,
  type ChatPiece,
  type ChatReply,
  FaceChat,
  FaceChatStream,
} from '../documents/chat.ts';
import { FaceModelByName, FaceModels } from '../documents/models.ts';
import { readJson } from '../request/body.ts';
import { booleanIn, objectIn, textIn } from '../request/fields.ts';
import { contentOf } from '../request/media.ts';
import type { FaceCall, FaceRoute } from '../table/route.ts';
import { nameIgnored } from '../tasks/follow.ts';
import { type Joining, joiningOf } from '../tasks/joining.ts';
import { readChat } from './input.ts';
import { chunksOf, completionOf, type Completion, failureOf } from './reply.ts';

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
      const name = textIn(body, 'model');
      const model = await call.models.find('CHAT', name, call.context);
      const { input, ignored } = readChat(body, model);
      nameIgnored(call, ignored);
      const content = contentOf('chat', body, { model: `${model.generator}:${model.model}` });
      const joining = joiningOf(call, content, { isChat: true });
      const completion: Completion = {
        id: `chatcmpl-${call.context.caller.traceId}`,
        created: Math.floor(Date.now() / 1_000),
        model: name ?? model.model,
      };
      if (booleanIn(body, 'stream') !== true) {
        return { body: completionOf(completion, await chatWhole(call, input, joining)) };
      }
      const wantsUsage = objectIn(body, 'stream_options')?.['include_usage'] === true;
      const permit = reserveStream(call.context);
      const pieces = await begin(call, input, joining);
      return { permit, events: chunksOf({ ...completion, wantsUsage }, pieces) };
    },
  },
];

/**
 * A whole answer. A counted retry begins anew where its provider has failed: there is nothing of that to be had. What Kiln itself
 * was stopped in may have been paid for, and is not asked for again without a word.
 */
async function chatWhole(call: FaceCall, input: ChatInput, joining: Joining): Promise<ChatReply> {
  const isRetry = Number(call.request.headers['x-stainless-retry-count']) > 0;
  if (!isRetry) return (await runDocument(call, FaceChat, { input, ...joining })).chat;
  for await (const { reply, error } of await begin(call, input, joining)) {
    if (reply !== null) return reply;
    if (error !== null && !['UNAVAILABLE', 'RATE_LIMITED'].includes(error.code)) throw failureOf(error);
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
  const stream = await executor.subscribe({ query: textOf(FaceChatStream), variables, context });
  if (!(Symbol.asyncIterator in stream)) {
    dataOf(stream);
    throw new AppError('INTERNAL', 'a refused subscription without errors');
  }
  return (async function* () {
    for await (const result of stream)
      yield (dataOf(result) as { readonly chatStream: ChatPiece }).chatStream;
  })();
}
