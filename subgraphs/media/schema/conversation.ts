import type { Conversation as Kept, KeptMessage } from '../chat/history/history.ts';
import { builder } from './builder.ts';
import { loadFiles, Media } from './media.ts';

const MessageRole = builder.enumType('ConversationRole', {
  description: 'Who wrote a message of a kept conversation.',
  values: {
    USER: { description: 'Who asks.' },
    ASSISTANT: { description: 'The model.' },
  },
});

const Conversation = builder.objectRef<Kept>('Conversation').implement({
  description:
    'A conversation that somebody keeps, with what is sent with each of its questions. Nothing is sent by keeping it: `chatStream` does that.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that its maker has chosen.' }),
    owner: t.exposeString('owner', { description: 'Whose it is: `usr_...`, `key_...` or `anon`.' }),
    title: t.exposeString('title', { description: 'Its name, 1 to 200 characters.' }),
    generator: t.exposeString('generator', { description: 'Who answers, such as llm.' }),
    model: t.exposeString('model', {
      nullable: true,
      description: "Which of the generator's models; null means its default.",
    }),
    system: t.string({
      nullable: true,
      description: 'What the model is told in front of the messages.',
      resolve: ({ settings }) => settings.system ?? null,
    }),
    temperature: t.float({
      nullable: true,
      description: 'From 0 (sober) to 2.',
      resolve: ({ settings }) => settings.temperature ?? null,
    }),
    maxTokens: t.int({
      nullable: true,
      description: 'Most tokens of an answer.',
      resolve: ({ settings }) => settings.maxTokens ?? null,
    }),
    options: t.field({
      type: 'JSON',
      nullable: true,
      description: "Options in the vendor's names.",
      resolve: ({ settings }) => settings.options ?? null,
    }),
    currentId: t.exposeID('currentId', {
      nullable: true,
      description: 'The last message of the branch that is shown; null while there is none.',
    }),
    revision: t.exposeID('revision', {
      description: 'Grows with every change; what `after` of `conversations` takes.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last saved.' }),
  }),
});

const ConversationMessage = builder.objectRef<KeptMessage>('ConversationMessage').implement({
  description: 'A message of a kept conversation. Messages with the same parent are branches.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that its writer has chosen.' }),
    parentId: t.exposeID('parentId', {
      nullable: true,
      description: 'The message before it; null for a first one.',
    }),
    role: t.field({ type: MessageRole, description: 'Who wrote it.', resolve: ({ role }) => role }),
    text: t.exposeString('text', { description: 'What it says, at most 200,000 characters.' }),
    files: t.field({
      type: [Media],
      description: 'Its files, in order; those that were deleted meanwhile are left out.',
      resolve: ({ mediaIds }, _, { loaders }) => loadFiles(loaders, mediaIds),
    }),
    model: t.exposeString('model', { nullable: true, description: 'The model that wrote it, for answers.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
  }),
});

const ConversationMessageInput = builder.inputType('ConversationMessageInput', {
  description: 'A message to keep; one with a known id is replaced.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'A UUID of your own.' }),
    parentId: t.id({ description: 'The message before it; absent for a first one.' }),
    role: t.field({ type: MessageRole, required: true, description: 'Who wrote it.' }),
    text: t.string({ required: true, description: 'What it says, at most 200,000 characters.' }),
    mediaIds: t.idList({ description: 'The ids of its files, at most 20, which the caller may use.' }),
    model: t.string({ description: 'The model that wrote it.' }),
  }),
});

const ConversationInput = builder.inputType('ConversationInput', {
  description: 'A conversation to keep: all but its messages is written as given, messages are added.',
  fields: (t) => ({
    title: t.string({ required: true, description: 'Its name, 1 to 200 characters.' }),
    generator: t.string({ required: true, description: 'Who answers.' }),
    model: t.string({ description: "Which of the generator's models." }),
    system: t.string({ description: 'What the model is told in front of the messages.' }),
    temperature: t.float({ description: 'From 0 (sober) to 2.' }),
    maxTokens: t.int({ description: 'Most tokens of an answer.' }),
    options: t.field({ type: 'JSON', description: "Options in the vendor's names, an object." }),
    currentId: t.id({ description: 'The last message of the branch that is shown.' }),
    messages: t.field({
      type: [ConversationMessageInput],
      description: 'Messages to add or to replace, at most 100; a conversation has at most 1,000.',
    }),
  }),
});

builder.queryField('conversation', (t) =>
  t.field({
    type: Conversation,
    description:
      'A kept conversation. NOT_FOUND for those of others; one of nobody is read by whoever knows its id.',
    rule: 'owner',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, { caller, services }) => services.chatHistory.read(caller, id),
  }),
);

builder.queryField('conversationMessages', (t) =>
  t.field({
    type: [ConversationMessage],
    description:
      'All messages of a kept conversation, of all branches, in the order in which they were added. NOT_FOUND for those of others.',
    rule: 'owner',
    args: { id: t.arg.id({ required: true, description: 'The id of the conversation.' }) },
    resolve: async (_, { id }, { caller, services }) => [
      ...(await services.chatHistory.messages(caller, id)),
    ],
  }),
);

builder.queryField('conversations', (t) =>
  t.field({
    type: [Conversation],
    description:
      "The caller's own kept conversations, the last changed first. Without a caller those of nobody with the given ids, none without ids.",
    rule: 'owner',
    args: {
      search: t.arg.string({
        description: 'Only those with this text in their name or in a message, in any case.',
      }),
      ids: t.arg.idList({ description: 'Only these, at most 100.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'How many, 1 to 100.' }),
      after: t.arg.id({ description: 'The revision of the last one that was seen.' }),
    },
    resolve: async (_, { search, ids, first, after }, { caller, services }) => [
      ...(await services.chatHistory.list(caller, { text: search, ids, first, after })),
    ],
  }),
);

builder.mutationField('saveConversation', (t) =>
  t.field({
    type: Conversation,
    description:
      'Keeps a conversation, or changes it. It is kept until it is deleted, for PROMPT_RETENTION_DAYS, or 30 days after its last change where nobody owns it. BAD_USER_INPUT names the field, also where there are too many; NOT_FOUND for the id of somebody else.',
    rule: 'owner',
    args: {
      id: t.arg.id({ required: true, description: 'A UUID of your own; the same one again changes it.' }),
      input: t.arg({ type: ConversationInput, required: true, description: 'What is kept.' }),
    },
    resolve: (_, { id, input }, { caller, services }) => services.chatHistory.save(caller, id, input),
  }),
);

builder.mutationField('deleteConversation', (t) =>
  t.field({
    type: Conversation,
    description:
      'Deletes a kept conversation with all of its messages, and answers what it was; files stay. NOT_FOUND for those of others.',
    rule: 'owner',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, { caller, services }) => services.chatHistory.remove(caller, id),
  }),
);
