import type { Json } from '../../platform/json.ts';
import type { DataOf } from '../documents/graphql.ts';
import { Chat } from '../documents/media/questions.ts';
import { AnalyzeMedia } from '../documents/media/start.ts';
import { success } from '../replies/envelopes.ts';
import { languageExtra, taskReply } from '../replies/task.ts';
import { localRoute, route } from '../route/define-route.ts';
import type { Values } from '../route/param.ts';
import { file, form } from '../route/params.ts';
import type { Route, Section } from '../route/route.ts';
import { chatOptions } from './chat-options.ts';
import { extension, multipart, optional, urlencoded, vendorOptions } from './shared/inputs.ts';
import { modelsRoute } from './shared/questions.ts';
import { submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

const main = 'llm';
const alternative = 'llm/altllm';

const params = {
  prompt: form.text(),
  media_url: form.text(),
  model: form.text(optional),
  system: form.text(optional),
  ...vendorOptions,
};

/** What both ways to start an analysis have. */
const analysis = {
  params,
  body: urlencoded,
  variables: ({ media_url, ...fields }: Values<typeof params>) => ({
    input: { generator: alternative, ...fields, media: { url: media_url } },
  }),
};

/** Language models. */
export const llm: Section = {
  service: 'media',
  title: 'Language models',
  routes: [
    modelsRoute({
      path: '/api/llm/model/list',
      category: 'language',
      within: main,
      // Images and sounds are parts of messages.
      fieldNames: {
        messages: ['prompt', 'messages'],
        image: ['messages'],
        audio: ['messages'],
        video: ['messages'],
      },
    }),
    chatRoute('/api/llm/chat', main),
    chatRoute('/api/llm/altllm/chat', alternative),
    synchronous(AnalyzeMedia, { responseSchema: 'AnalysisText', reply: taskReply })({
      ...analysis,
      path: '/api/llm/altllm/sync/media/analysis',
    }),
    submission(AnalyzeMedia)({ ...analysis, path: '/api/llm/altllm/async/media/analysis' }),
    localRoute({
      method: 'POST',
      path: '/api/llm/altllm/cloudstore/upload',
      params: {
        local_file: file({
          destination: { to: 'provider', generator: alternative },
          accepts: ['audio/*', 'video/*', 'image/*'],
        }),
      },
      body: multipart,
      rule: 'spend',
      responseSchema: 'CloudFile',
      reply: (_, { input: { local_file } }) => {
        const { url, resource } = local_file;
        return { ...success(resource?.uri ?? url, 'file stored'), extra: resource?.extra ?? null };
      },
    }),
    statusRoute({
      path: '/api/llm/task/status',
      group: { generators: [main, alternative], kinds: ['ANALYSIS'] },
    }),
  ],
};

/** One question and its whole answer. */
function chatRoute(path: string, generator: string): Route {
  return route(Chat)({
    method: 'POST',
    path,
    params: {
      prompt: form.text(optional),
      messages: form.jsonText(optional),
      model: form.text(optional),
      system: form.text(optional),
      temperature: form.number(optional),
      max_tokens: form.integer(optional),
      tools: form.jsonText(extension),
      tool_choice: form.text(extension),
      response_format: form.jsonText(extension),
      reasoning_effort: form.text(extension),
      ...vendorOptions,
    },
    body: { ...urlencoded, oneOf: [['prompt', 'messages']] },
    variables: ({ prompt, messages, model, system, temperature, max_tokens, options, ...others }) => ({
      input: {
        generator,
        model,
        system,
        temperature,
        maxTokens: max_tokens,
        messages: buildMessages(prompt, messages),
        ...chatOptions(others),
        options,
      },
    }),
    responseSchema: 'Text',
    reply: ({ chat }) => ({
      ...success(chat.text),
      extra: { ...languageExtra(chat), ...callsExtra(chat), ...imagesExtra(chat) },
    }),
  });
}

/** Messages come in OpenAI's format: the schema's `messages` reads it, deprecated there for clients that can type them. */
function buildMessages(prompt: string | undefined, messages: Json | undefined): Json {
  return messages ?? [{ role: 'user', content: prompt ?? '' }];
}

/** Addresses of the images that the model made; not there when there are none. */
function imagesExtra({ media }: DataOf<typeof Chat>['chat']): object {
  return media.length === 0 ? {} : { images: media.map(({ url }) => url) };
}

/** Tool calls in OpenAI's format; not there when there are none. */
function callsExtra({ toolCalls }: DataOf<typeof Chat>['chat']): object {
  if (toolCalls.length === 0) return {};
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
  return { tool_calls: calls };
}
