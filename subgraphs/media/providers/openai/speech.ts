import { invalidInput } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import type { ByteExchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { throwStartRefusal, unreadable } from './wire.ts';

/** Speech (/audio/speech): one call whose answer is the audio itself. */

type SpeechRequest = RequestOf<'SPEECH'>;

const DEFAULT_MODEL = 'gpt-4o-mini-tts';
const TIMEOUT_MS = 180_000;
const MAX_BYTES = 96 << 20;
const MAX_TEXT = 4_096;

/** The wire's format names and their MIME types. */
const FORMATS: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/**
 * Generates speech. Throws UpstreamError; inputs that the wire has no field for (pitch, volume) are refused before
 * anything is sent.
 */
export async function speak(
  exchange: ByteExchange,
  request: SpeechRequest,
  context: StartContext,
): Promise<Outcome> {
  const format = request.format ?? 'mp3';
  checkRequest(request, format);
  const model = context.connection.model ?? DEFAULT_MODEL;
  const answer = await exchange(context, {
    method: 'POST',
    path: '/audio/speech',
    headers: { 'idempotency-key': context.reference },
    json: withVendorOptions(request, {
      model,
      input: request.text,
      voice: request.voiceId,
      response_format: format,
      speed: request.speed,
      // The older models refuse the field `instructions`.
      ...(request.emotion !== undefined &&
        !model.startsWith('tts-1') && { instructions: `Speak in a ${request.emotion} tone.` }),
    }),
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwStartRefusal(answer);
  const contentType = answer.headers['content-type']?.split(';')[0] ?? '';
  if (answer.status >= 300 || answer.body.length === 0 || /^text\/|json/.test(contentType)) {
    throw unreadable(new Error(`HTTP ${answer.status} with ${contentType || 'no content type'} is no audio`));
  }
  const audioType = contentType.startsWith('audio/') ? contentType : (FORMATS[format] ?? contentType);
  return { files: [{ content: answer.body, contentType: audioType }], texts: [] };
}

function checkRequest({ text, pitch, volume }: SpeechRequest, format: string): void {
  const refuse = (field: string, why: string) => {
    throw invalidInput(field, why);
  };
  if (text.length > MAX_TEXT) refuse('text', `this model speaks at most ${MAX_TEXT} characters`);
  if ((pitch ?? 0) !== 0) refuse('pitch', 'this model has no pitch');
  if ((volume ?? 1) !== 1) refuse('volume', 'this model has no volume');
  if (!Object.hasOwn(FORMATS, format)) refuse('format', `one of ${Object.keys(FORMATS).join(', ')}`);
}
