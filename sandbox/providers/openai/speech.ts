import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { bytes } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { StudioVoiceId } from '../../studio/types/media-types.ts';
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

/** POST /v1/audio/speech: the sound itself. MP3 and WAV only; `instructions` are accepted and change nothing. */
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
  if (format !== 'mp3' && format !== 'wav' && format !== 'flac') {
    const message = `Invalid value: '${format}'. Supported values are: 'mp3', 'wav' and 'flac'.`;
    return invalid(message, 'response_format');
  }
  if (parsed.data.stream_format === 'sse') {
    return invalid(
      "Unsupported value: 'stream_format' does not support 'sse' with this model.",
      'stream_format',
    );
  }
  const outcome = await startAndWait(context, {
    operation: 'speech',
    request,
    fault,
    pictures: [],
    input: { prompt: input, voice: VOICES[voice] ?? 'slt', speed, format },
  });
  if ('answer' in outcome) return outcome.answer;
  const [file] = outcome.job.result?.files ?? [];
  const sound = file === undefined ? null : await context.journal.readImage(file.name);
  if (file === undefined || sound === null) {
    return openaiError(500, { message: 'The result is gone.', type: 'server_error' });
  }
  return bytes(sound, file.contentType);
}
