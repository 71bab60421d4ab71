import type { ReasoningEffort as Effort } from '../domain/chat-options.ts';
import { builder } from './builder.ts';
import { vendorOptions } from './start-mutation.ts';

const ChatRole = builder.enumType('ChatRole', {
  description: 'Who says a message.',
  values: {
    SYSTEM: { description: 'How the model is to behave.' },
    USER: { description: 'Who asks.' },
    ASSISTANT: { description: 'An earlier answer of the model.' },
    TOOL: { description: 'What a tool gave; names its call by `toolCallId`.' },
  },
});

const ChatPart = builder.inputType('ChatPart', {
  description: 'A piece of a message; exactly one member must be set.',
  fields: (t) => ({
    text: t.string({ description: 'Words.' }),
    url: t.string({
      description:
        'An image, a sound or a video: a public http or https address, the url of a Media, or a data: address with base64.',
    }),
    fileId: t.id({ description: 'The id of a Media of the caller.' }),
  }),
});

const ChatToolCallInput = builder.inputType('ChatToolCallInput', {
  description: 'A tool call of an earlier answer, as it came in `toolCalls`.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'Its id.' }),
    name: t.string({ required: true, description: 'The name of the tool.' }),
    arguments: t.field({ type: 'JSON', required: true, description: 'The arguments that the model wrote.' }),
  }),
});

const ChatMessage = builder.inputType('ChatMessage', {
  description: 'One message of a conversation: one of text and parts.',
  fields: (t) => ({
    role: t.field({ type: ChatRole, required: true, description: 'Who says it.' }),
    text: t.string({ description: 'What is said, when it is words alone.' }),
    parts: t.field({
      type: [ChatPart],
      description: 'Words and files, in order; at most 100 in all messages.',
    }),
    toolCalls: t.field({
      type: [ChatToolCallInput],
      description: 'For ASSISTANT: the tools that this answer called; text and parts may then be absent.',
    }),
    toolCallId: t.string({ description: 'For TOOL: the id of the call that this is the result of.' }),
  }),
});

const ChatTool = builder.inputType('ChatTool', {
  description:
    'A tool of your own. The model answers with a call of it; you call it and send back what it gave.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: '1 to 64 letters, digits, _ and -; not auto, none or required.',
    }),
    description: t.string({ description: 'What it does, for the model.' }),
    parameters: t.field({ type: 'JSON', description: 'JSON Schema of its arguments; absent means none.' }),
    strict: t.boolean({
      description: 'Whether arguments must fit the schema exactly, where the model has that.',
    }),
  }),
});

const ChatFormatType = builder.enumType('ChatFormatType', {
  description: 'What the text of an answer is.',
  values: {
    TEXT: { description: 'Words.' },
    JSON_OBJECT: { description: 'Any JSON object; say in a message that you want JSON.' },
    JSON_SCHEMA: { description: 'JSON that fits `schema`.' },
  },
});

const ChatFormat = builder.inputType('ChatFormat', {
  description: 'The form of an answer.',
  fields: (t) => ({
    type: t.field({ type: ChatFormatType, required: true, description: 'Words, or JSON.' }),
    name: t.string({
      description: 'For JSON_SCHEMA: its name, 1 to 64 letters, digits, _ and -; answer when absent.',
    }),
    schema: t.field({ type: 'JSON', description: 'For JSON_SCHEMA: the JSON Schema.' }),
    strict: t.boolean({ description: 'Whether the schema is followed exactly, where the model has that.' }),
  }),
});

const ReasoningEffort = builder.enumType('ReasoningEffort', {
  description:
    'How much a model thinks before it answers, from the least on. Not every model takes every value.',
  values: {
    NONE: { description: 'Not at all.' },
    MINIMAL: { description: 'As little as the model can.' },
    LOW: { description: 'A little.' },
    MEDIUM: { description: 'Some.' },
    HIGH: { description: 'Much.' },
    XHIGH: { description: 'More than HIGH, which few models have.' },
  } satisfies Record<Effort, object>,
});

/** What `chat` and `chatStream` take. */
export const ChatInput = builder.inputType('ChatInput', {
  description: 'A conversation so far, and the model that continues it.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who answers, such as llm or llm/altllm.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    conversation: t.field({
      type: [ChatMessage],
      description: 'The messages so far, at least one and at most 500; one of this and messages.',
    }),
    messages: t.field({
      type: 'JSON',
      deprecationReason: 'Use conversation, whose messages are typed.',
      description:
        'The messages in OpenAI\'s format, a list of { role, content }: role system, user, assistant or tool; content a text, or parts { type: text, image_url, input_audio, video_url or media }. A media part is { type: "media", media: { url or fileId } } of any kind of file. tool_calls and tool_call_id are read as well.',
    }),
    system: t.string({ description: 'How to behave, in front of the messages.' }),
    temperature: t.float({ description: 'From 0 (sober) to 2.' }),
    maxTokens: t.int({ description: 'Most tokens of the answer, those of its thoughts included.' }),
    tools: t.field({
      type: [ChatTool],
      description:
        'Tools that the model may call, at most 128; models whose `inputs` lack tools refuse them.',
    }),
    toolChoice: t.string({
      description: 'auto (default), none, required, or the name of the one tool that must be called.',
    }),
    responseFormat: t.field({
      type: ChatFormat,
      description: 'The form of the answer; models whose `inputs` lack responseFormat refuse JSON.',
    }),
    reasoningEffort: t.field({
      type: ReasoningEffort,
      description: 'How much to think; models whose `inputs` lack reasoningEffort refuse it.',
    }),
    ...vendorOptions(t),
  }),
});
