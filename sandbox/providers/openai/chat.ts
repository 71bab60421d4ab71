import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { parseImageDataUrl, readText } from '../shared/inputs.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { streamChat, type Completion } from './chat-stream.ts';
import { invalid } from './errors.ts';
import { modelRefusal } from './models.ts';
import { startAndWait, type OpenaiContext } from './start.ts';
import { formatted, responseFormat, tool, toolCalls, toolChoice, toolRefusal } from './tools.ts';

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string().min(1), format: z.enum(['wav', 'mp3']) }),
  }),
  // Documents are taken, and not read.
  z.object({ type: z.literal('file'), file: z.object({ file_data: z.string().startsWith('data:') }) }),
]);
const chatRequest = z.object({
  model: z.string().min(1),
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
        content: z.union([z.string(), z.array(part), z.null()]).optional(),
        tool_calls: z.array(z.object({ id: z.string() })).optional(),
        tool_call_id: z.string().optional(),
      }),
    )
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  n: z.number().int().min(1).max(8).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.number().int().nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast']).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  logprobs: z.literal(false, 'this model is not allowed to sample logprobs').nullish(),
  modalities: z.array(z.literal('text', 'this model makes text only')).nullish(),
});
type ChatRequest = z.output<typeof chatRequest>;
type Message = ChatRequest['messages'][number];

/** POST /v1/chat/completions. */
export async function chat(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const parsed = chatRequest.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(issue?.message ?? 'invalid body', issue?.path.join('.') ?? 'body');
  }
  const requested = parsed.data;
  const refusal = modelRefusal(requested.model, 'chat') ?? toolRefusal(requested);
  if (refusal !== null) return refusal;
  const urls = requested.messages.flatMap(imageUrls);
  const images = urls.map((url) => parseImageDataUrl(url)?.bytes);
  if (images.includes(undefined)) {
    return invalid(
      'Images are read from data: URLs only; this stand-in reaches no other address.',
      'messages',
    );
  }
  const sounds = requested.messages.flatMap(listSounds);
  const media = [...images.filter((image) => image !== undefined), ...sounds];
  const outcome = await startAndWait(context, {
    operation: 'chat',
    request,
    fault,
    images: media,
    input: {
      // Images take precedence over sounds.
      isSound: images.length === 0 && sounds.length > 0,
      prompt: textOfMessage(requested.messages.findLast(({ role }) => role === 'user')),
      system: requested.messages
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(textOfMessage)
        .join('\n'),
      promptTokens: requested.messages.reduce((sum, message) => sum + countTokens(textOfMessage(message)), 0),
    },
  });
  if ('answer' in outcome) return outcome.answer;
  const completion = toCompletion(outcome.job, requested);
  if (requested.stream !== true) return json(completionJson(completion));
  return streamChat(completion, requested.stream_options?.include_usage === true);
}

function toCompletion(job: Job, requested: ChatRequest): Completion {
  const answered = readText(job.result?.texts[0]) ?? '';
  const last = requested.messages.at(-1);
  const question = {
    text: textOfMessage(requested.messages.findLast(({ role }) => role === 'user')),
    answered,
  };
  const calls = last?.role === 'tool' ? [] : toolCalls(requested, question.text);
  const toolText = last?.role === 'tool' ? textOfMessage(last) : null;
  const whole = stopped(toolText ?? formatted(requested.response_format, question), requested.stop);
  const limit = requested.max_completion_tokens ?? requested.max_tokens ?? Number.POSITIVE_INFINITY;
  const isCut = countTokens(whole) > limit;
  const text = isCut ? whole.slice(0, limit * 4) : whole;
  const promptTokens = Number(job.input['promptTokens'] ?? 0);
  const tokens = countTokens(text);
  return {
    id: `chatcmpl-${job.id}`,
    created: Math.floor(job.submittedAt / 1_000),
    model: requested.model,
    text: calls.length > 0 ? '' : text,
    calls,
    count: requested.n ?? 1,
    finishReason: calls.length > 0 ? 'tool_calls' : isCut ? 'length' : 'stop',
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: tokens,
      total_tokens: promptTokens + tokens,
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function completionJson(completion: Completion): object {
  const { id, created, model, text, calls, count, finishReason, usage } = completion;
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = Array.from({ length: count }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finishReason,
  }));
  return { id, object: 'chat.completion', created, model, choices, usage };
}

function stopped(text: string, stop: string | readonly string[] | null | undefined): string {
  const ends = [stop ?? []]
    .flat()
    .map((word) => text.indexOf(word))
    .filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

function textOfMessage(message: Message | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content
    .map((piece) => (piece.type === 'text' ? piece.text : ''))
    .join('\n')
    .trim();
}

function listSounds({ content }: Message): Buffer[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((piece) =>
    piece.type === 'input_audio' ? [Buffer.from(piece.input_audio.data, 'base64')] : [],
  );
}

function imageUrls({ content }: Message): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((piece) => (piece.type === 'image_url' ? [piece.image_url.url] : []));
}
