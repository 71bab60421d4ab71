import { z } from 'zod';

import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { pathOf } from './path.ts';
import { read, throwRefusal, unreadable } from './wire.ts';

/** Speech: one call that answers with the sound itself, as hexadecimal digits. */

type SpeechRequest = RequestOf<'SPEECH'>;

/** What speaks unless the binding says otherwise. */
export const DEFAULT_SPEECH_MODEL = 'speech-2.8-hd';
/** 10,000 characters take the vendor a while. */
const SPEECH_TIMEOUT_MS = 180_000;
const SPEECH_MAX_BYTES = 192 << 20;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

const spoken = z.object({
  data: z.object({ audio: z.string().min(2) }),
  extra_info: z.object({ audio_format: z.string().nullish() }).nullish().catch(null),
});

/** POST /v1/t2a_v2. */
export async function synthesize(
  exchange: Exchange,
  request: SpeechRequest,
  context: StartContext,
): Promise<Outcome> {
  const format = request.format ?? 'mp3';
  const answer = await exchange(context, {
    method: 'POST',
    path: pathOf(context.connection, '/v1/t2a_v2'),
    json: {
      model: context.connection.model ?? DEFAULT_SPEECH_MODEL,
      text: request.text,
      stream: false,
      output_format: 'hex',
      voice_setting: voiceOf(request),
      audio_setting: { format },
    },
    timeoutMs: SPEECH_TIMEOUT_MS,
    maxBytes: SPEECH_MAX_BYTES,
  });
  throwRefusal(answer, { content: 'text', invalid: 'INVALID_INPUT' });
  const { data, extra_info: extra } = read(spoken, answer);
  const contentType = CONTENT_TYPES[extra?.audio_format ?? format] ?? 'application/octet-stream';
  return { files: [{ content: soundOf(data.audio), contentType }], texts: [] };
}

function voiceOf({ voiceId, speed, volume, pitch, emotion }: SpeechRequest): object {
  return {
    voice_id: voiceId,
    speed,
    vol: volume,
    // Whole semitones only.
    pitch: pitch && Math.round(pitch),
    emotion,
  };
}

/** Buffer.from stops silently at the first character that is no digit; half a sound must not pass for a whole one. */
function soundOf(hex: string): Buffer {
  const sound = Buffer.from(hex, 'hex');
  if (sound.length * 2 !== hex.length) throw unreadable(new Error('the audio is not hexadecimal'));
  return sound;
}
