import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { refusal, success } from './answers.ts';
import { runCall, type MinimaxParts } from './parts.ts';
import { findVoice } from './voices.ts';

const EMOTIONS = [
  'happy',
  'sad',
  'angry',
  'fearful',
  'disgusted',
  'surprised',
  'calm',
  'fluent',
  'whisper',
  'neutral',
] as const;

const speechRequest = z.object({
  model: z.string().regex(/^speech-/),
  text: z.string().min(1).max(10_000),
  stream: z.literal(false, 'this stand-in does not stream').nullish(),
  output_format: z.enum(['hex', 'url']).default('hex'),
  voice_setting: z.object({
    voice_id: z.string().min(1),
    speed: z.number().min(0.5).max(2).default(1),
    vol: z.number().positive().max(10).default(1),
    pitch: z.number().int().min(-12).max(12).default(0),
    emotion: z.enum(EMOTIONS).nullish(),
  }),
  audio_setting: z
    .object({
      format: z.enum(['mp3', 'wav', 'flac', 'pcm']).default('mp3'),
      sample_rate: z.number().int().nullish(),
      channel: z.literal([1, 2]).nullish(),
    })
    .default({ format: 'mp3' }),
});

/** POST /v1/t2a_v2. Volume and emotion are validated, but have no effect. */
export async function synthesize(
  parts: MinimaxParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const parsed = speechRequest.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refusal(2013, `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
  }
  const { text, voice_setting: voice, audio_setting: audio, output_format: form } = parsed.data;
  if (findBannedWord(text) !== null) return refusal(1026);
  if (findVoice(parts.runner, voice.voice_id) === null) return refusal(2054);
  const input = {
    text,
    voiceId: voice.voice_id,
    speed: voice.speed,
    pitch: voice.pitch,
    format: audio.format,
  };
  const outcome = await runCall(parts, { operation: 'speech', request, fault, input, samples: [] });
  if ('answer' in outcome) return outcome.answer;
  const { job } = outcome;
  const file = job.result?.files[0];
  const sound = file === undefined ? null : await parts.journal.readImage(file.name);
  if (sound === null) return refusal(1000);
  const url = parts.results.toUrl(job, request.baseUrl);
  return success({
    data: { audio: form === 'url' ? url : sound.toString('hex'), status: 2 },
    extra_info: {
      audio_length: Math.round((file?.duration ?? 0) * 1_000),
      audio_size: sound.length,
      usage_characters: job.result?.facts['characters'] ?? 0,
      word_count: text.split(/\s+/).length,
      audio_format: audio.format,
      audio_channel: 1,
    },
    trace_id: job.id,
  });
}
