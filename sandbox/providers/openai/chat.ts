import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { pictureOfDataUrl } from '../shared/inputs/data-url.ts';
import { textOf } from '../shared/inputs/text-of.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { streamChat, type Completion } from './chat-stream.ts';
import { invalid } from './errors.ts';
import { startAndWait } from './start.ts';
import type { OpenaiContext } from './start.ts';

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string().min(1), format: z.enum(['wav', 'mp3']) }),
  }),
]);
const chatRequest = z.object({
  model: z.string().min(1),
  messages: z
    .array(z.object({ role: z.string(), content: z.union([z.string(), z.array(part), z.null()]).optional() }))
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
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
  const urls = requested.messages.flatMap(pictureUrls);
  const pictures = urls.map((url) => pictureOfDataUrl(url)?.bytes);
  if (pictures.includes(undefined)) {
    return invalid(
      'Pictures are read from data: URLs only; this stand-in reaches no other address.',
      'messages',
    );
  }
  const sounds = requested.messages.flatMap(soundsOf);
  const media = [...pictures.filter((picture) => picture !== undefined), ...sounds];
  const outcome = await startAndWait(context, {
    operation: 'chat',
    request,
    fault,
    pictures: media,
    input: {
      // Pictures take precedence over sounds.
      isSound: pictures.length === 0 && sounds.length > 0,
      prompt: textOfMessage(requested.messages.findLast(({ role }) => role === 'user')),
      system: requested.messages
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(textOfMessage)
        .join('\n'),
      promptTokens: requested.messages.reduce((sum, message) => sum + countTokens(textOfMessage(message)), 0),
    },
  });
  if ('answer' in outcome) return outcome.answer;
  const completion = completionOf(outcome.job, requested);
  if (requested.stream !== true) return json(completionJson(completion));
  return streamChat(completion, requested.stream_options?.include_usage === true);
}

function completionOf(job: Job, requested: ChatRequest): Completion {
  const whole = textOf(job.result?.texts[0]) ?? '';
  const limit = requested.max_completion_tokens ?? requested.max_tokens ?? Number.POSITIVE_INFINITY;
  const isCut = countTokens(whole) > limit;
  const text = isCut ? whole.slice(0, limit * 4) : whole;
  const promptTokens = Number(job.input['promptTokens'] ?? 0);
  const tokens = countTokens(text);
  return {
    id: `chatcmpl-${job.id}`,
    created: Math.floor(job.submittedAt / 1_000),
    model: requested.model,
    text,
    finishReason: isCut ? 'length' : 'stop',
    usage: { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens },
  };
}

function completionJson({ id, created, model, text, finishReason, usage }: Completion): object {
  const message = { role: 'assistant', content: text, refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return { id, object: 'chat.completion', created, model, choices, usage };
}

function textOfMessage(message: Message | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content
    .map((piece) => (piece.type === 'text' ? piece.text : ''))
    .join('\n')
    .trim();
}

function soundsOf({ content }: Message): Buffer[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((piece) =>
    piece.type === 'input_audio' ? [Buffer.from(piece.input_audio.data, 'base64')] : [],
  );
}

function pictureUrls({ content }: Message): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((piece) => (piece.type === 'image_url' ? [piece.image_url.url] : []));
}
