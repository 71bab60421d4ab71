import { z } from 'zod';

import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { buildPath, read, throwRefusal, unreadable } from './wire.ts';

/** Speech: one call that returns the audio as hexadecimal digits. */

type SpeechRequest = RequestOf<'SPEECH'>;

/** The model unless the binding names another. */
export const DEFAULT_SPEECH_MODEL = 'speech-2.8-hd';
/** 10,000 characters can take minutes. */
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
    path: buildPath(context.connection, '/v1/t2a_v2'),
    json: withVendorOptions(request, {
      model: context.connection.model ?? DEFAULT_SPEECH_MODEL,
      text: request.text,
      stream: false,
      output_format: 'hex',
      voice_setting: buildVoice(request),
      audio_setting: { format },
    }),
    timeoutMs: context.connection.callTimeoutMs ?? SPEECH_TIMEOUT_MS,
    maxBytes: SPEECH_MAX_BYTES,
  });
  throwRefusal(answer, { content: 'text', invalid: 'INVALID_INPUT' });
  const { data, extra_info: extra } = read(spoken, answer);
  const contentType = CONTENT_TYPES[extra?.audio_format ?? format] ?? 'application/octet-stream';
  return { files: [{ content: decodeSound(data.audio), contentType }], texts: [] };
}

function buildVoice({ voiceId, speed, volume, pitch, emotion }: SpeechRequest): object {
  return {
    voice_id: voiceId,
    speed,
    vol: volume,
    // Integer semitones only.
    pitch: pitch && Math.round(pitch),
    emotion,
  };
}

/** Decodes the audio. Buffer.from stops silently at an invalid digit, so the length is checked. */
function decodeSound(hex: string): Buffer {
  const audio = Buffer.from(hex, 'hex');
  if (audio.length * 2 !== hex.length) throw unreadable(new Error('the audio is not hexadecimal'));
  return audio;
}
