import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { bytes } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { StudioVoiceId } from '../../studio/types/media-types.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { invalid, openaiError } from './errors.ts';
import { modelRefusal } from './models.ts';
import { startAndWait } from './start.ts';
import type { OpenaiContext } from './start.ts';

/** The wire's voices, each spoken by the nearest of the studio's. */
const VOICES: Readonly<Record<string, StudioVoiceId>> = {
  alloy: 'slt',
  ash: 'rms',
  ballad: 'awb',
  cedar: 'rms',
  coral: 'slt',
  echo: 'rms',
  fable: 'awb',
  marin: 'slt',
  nova: 'slt',
  onyx: 'kal16',
  sage: 'slt',
  shimmer: 'slt',
  verse: 'kal16',
};

const speechRequest = z.object({
  model: z.string().min(1),
  input: z.string().min(1).max(4_096),
  voice: z.string().min(1),
  response_format: z.string().default('mp3'),
  speed: z.number().min(0.25).max(4).default(1),
  stream_format: z.enum(['audio', 'sse']).optional(),
  instructions: z.string().max(4_096).optional(),
});

const FORMATS = ['mp3', 'wav', 'flac', 'pcm'];

/** POST /v1/audio/speech: the sound itself, or events with it. `instructions` are accepted and change nothing. */
export async function speak(
  context: OpenaiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const parsed = speechRequest.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(issue?.message ?? 'invalid body', issue?.path.join('.') ?? 'body');
  }
  const { input, voice, speed, response_format: format } = parsed.data;
  const refusal = modelRefusal(parsed.data.model, 'speech');
  if (refusal !== null) return refusal;
  if (!Object.hasOwn(VOICES, voice)) {
    return invalid(
      `Invalid value: '${voice}'. Supported values are: ${Object.keys(VOICES).join(', ')}.`,
      'voice',
    );
  }
  if (!FORMATS.includes(format)) {
    const known = FORMATS.map((name) => `'${name}'`).join(', ');
    return invalid(`Invalid value: '${format}'. Supported values are: ${known}.`, 'response_format');
  }
  const isStreamed = parsed.data.stream_format === 'sse';
  if (isStreamed && parsed.data.model.startsWith('tts-1')) {
    return invalid(
      "Unsupported value: 'stream_format' does not support 'sse' with this model.",
      'stream_format',
    );
  }
  const outcome = await startAndWait(context, {
    operation: 'speech',
    request,
    fault,
    images: [],
    input: { prompt: input, voice: VOICES[voice] ?? 'slt', speed, format },
  });
  if ('answer' in outcome) return outcome.answer;
  const [file] = outcome.job.result?.files ?? [];
  const sound = file === undefined ? null : await context.journal.readImage(file.name);
  if (file === undefined || sound === null) {
    return openaiError(500, { message: 'The result is gone.', type: 'server_error' });
  }
  return isStreamed ? speechEvents(sound, countTokens(input)) : bytes(sound, file.contentType);
}

const PIECE_BYTES = 32 << 10;

/** The sound in pieces, as server-sent events. */
function speechEvents(sound: Uint8Array, inputTokens: number): Answer {
  const pieces = Array.from({ length: Math.ceil(sound.length / PIECE_BYTES) }, (_, index) => ({
    type: 'speech.audio.delta',
    audio: Buffer.from(sound.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES)).toString('base64'),
  }));
  const usage = {
    input_tokens: inputTokens,
    output_tokens: pieces.length,
    total_tokens: inputTokens + pieces.length,
  };
  const events = [...pieces, { type: 'speech.audio.done', usage }];
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  };
}
