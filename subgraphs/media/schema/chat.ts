import type { ChatChunk as ChatChunkShape, ChatReply as ChatReplyShape } from '../chat/chat.ts';
import type { ChatToolCall as ChatToolCallShape } from '../domain/chat-options.ts';
import { Failure } from './attempt.ts';
import { builder } from './builder.ts';
import { ChatInput } from './chat-input.ts';
import { loadFiles, Media } from './media.ts';
import { TokenUsage } from './token-usage.ts';

const ChatToolCall = builder.objectRef<ChatToolCallShape>('ChatToolCall').implement({
  description:
    'A tool that the model wants to be called. Its result is sent back as a message of the role TOOL.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'What the message with the result names as `toolCallId`.' }),
    name: t.exposeString('name', { description: 'The name of the tool.' }),
    arguments: t.field({
      type: 'JSON',
      description: 'The arguments that the model wrote; a text when it wrote no JSON.',
      resolve: (call) => call.arguments,
    }),
  }),
});

const ChatReply = builder.objectRef<ChatReplyShape>('ChatReply').implement({
  description: "A language model's answer.",
  fields: (t) => ({
    text: t.exposeString('text', {
      description: 'What it says; JSON where that was requested, empty when it only calls tools.',
    }),
    toolCalls: t.field({
      type: [ChatToolCall],
      description: 'Tools to be called before the model can go on, in its order; empty when there are none.',
      resolve: ({ toolCalls }) => [...toolCalls],
    }),
    media: t.field({
      type: [Media],
      description:
        'Images that the model made, in its order, as files of the caller; those that were deleted meanwhile are left out. Empty when it made none.',
      resolve: ({ mediaIds }, _, { loaders }) => loadFiles(loaders, mediaIds),
    }),
    model: t.exposeString('model', { description: 'The model that answered.' }),
    provider: t.exposeString('provider', { description: 'The provider that answered.' }),
    usage: t.expose('usage', { type: TokenUsage, description: 'The tokens it used.' }),
  }),
});

const ChatChunk = builder.objectRef<ChatChunkShape>('ChatChunk').implement({
  description: 'A piece of an answer.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: 'Number of the piece from 1, to come back with as `afterSeq`.' }),
    index: t.exposeInt('index', { description: 'Number of the piece, from 0 without gaps.' }),
    delta: t.exposeString('delta', { description: 'What follows the pieces before; empty in the last one.' }),
    reply: t.expose('reply', {
      type: ChatReply,
      nullable: true,
      description:
        'The whole answer, whose text is all deltas in order, with its tool calls and images; in the last piece only.',
    }),
    error: t.expose('error', {
      type: Failure,
      nullable: true,
      description: 'Why there is no whole answer; in the last piece only.',
    }),
  }),
});

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatReply,
    description: 'Has a language model go on with a conversation, and waits for all of it.',
    rule: 'spend',
    args: {
      input: t.arg({ type: ChatInput, required: true, description: 'The conversation.' }),
      idempotencyKey: t.arg.string({
        description: 'The same key and input again answer the same reply for a day, without paying again.',
      }),
      joinSeconds: t.arg.int({
        description:
          'Narrows `idempotencyKey` to a repeated request while the reply is being made: one that has ended, or was begun longer ago, is not answered, and the key stands for a new one. A running reply whose callers have all gone away is answered for a minute all the same. Absent: any reply under the key.',
      }),
    },
    resolve: (_, { input, idempotencyKey = null, joinSeconds }, { caller, services, signal }) =>
      services.chat.chat(caller, input, { idempotencyKey, joinSeconds, signal }),
  }),
);

builder.subscriptionField('chatStream', (t) =>
  t.field({
    type: ChatChunk,
    description:
      'Has a language model go on with a conversation, in pieces as they come. Subscribing again with the same key and input replays the pieces from the first one and goes on live; it never pays again.',
    rule: 'spend',
    args: {
      input: t.arg({ type: ChatInput, required: true, description: 'The conversation.' }),
      idempotencyKey: t.arg.string({
        required: true,
        description: 'A key of your own, new for each question.',
      }),
      joinSeconds: t.arg.int({
        description:
          'Narrows `idempotencyKey` to a repeated request while the reply is being made: one that has ended, or was begun longer ago, is not answered, and the key stands for a new one. A running reply whose callers have all gone away is answered for a minute all the same. Absent: any reply under the key.',
      }),
      afterSeq: t.arg.int({ description: 'Seq of the last piece already seen; absent means all of them.' }),
    },
    subscribe: (_, { input, idempotencyKey, joinSeconds, afterSeq }, { caller, services, signal }) =>
      services.chat.stream(caller, input, { idempotencyKey, joinSeconds, afterSeq: afterSeq ?? 0, signal }),
    resolve: (chunk) => chunk,
  }),
);
