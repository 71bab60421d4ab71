import { invalidInput } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext, VoiceList } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { parseGenerated, throwBlocked, throwStartRefusal, unreadable } from './wire.ts';

/** Speech: generateContent of a model that answers with sound. */

type SpeechRequest = RequestOf<'SPEECH'>;

const DEFAULT_MODEL = 'gemini-3.8-flash-tts';
const TIMEOUT_MS = 300_000;
const MAX_BYTES = 192 << 20;
/** Samples a second where the answer does not say. */
const USUAL_RATE = 24_000;

/** Speaks the text with one of Google's voices, as WAV: the wire has no field for another format. */
export async function speak(
  exchange: Exchange,
  request: SpeechRequest,
  context: StartContext,
): Promise<Outcome> {
  const { text, voiceId, format = 'wav' } = request;
  if (format !== 'wav') throw invalidInput('format', 'gemini answers with wav');
  const answer = await exchange(context, {
    method: 'POST',
    path: `/models/${context.connection.model ?? DEFAULT_MODEL}:generateContent`,
    json: withVendorOptions(request, {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceId } } },
      },
    }),
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwStartRefusal(answer);
  const { files, finishReason, usage } = parseGenerated(answer.json, 'text');
  const [sound] = files;
  if (sound === undefined || !('content' in sound)) {
    throwBlocked(finishReason, 'text');
    throw unreadable(new Error(`no sound (${finishReason ?? 'no candidate'})`));
  }
  const content = asWav(Buffer.from(sound.content), sound.contentType ?? '');
  const units = usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
  return { files: [{ content, contentType: 'audio/wav' }], texts: [], ...(units && { units }) };
}

/** Bare samples (`audio/L16;codec=pcm;rate=24000`: 16 bits, one channel) with the header of a WAV file; a whole file as it is. */
function asWav(sound: Buffer, contentType: string): Buffer {
  if (sound.subarray(0, 4).toString('latin1') === 'RIFF') return sound;
  if (!/^audio\/(l16|pcm)/i.test(contentType)) {
    throw unreadable(new Error(`${contentType || 'no type'} is neither wav nor samples`));
  }
  const rate = Number(/rate=(\d{4,6})/.exec(contentType)?.[1] ?? USUAL_RATE);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + sound.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(sound.length, 40);
  return Buffer.concat([header, sound]);
}

/** Google's prebuilt voices: the wire has no list of them, its documentation does. Each speaks every language. */
const NAMES = [
  'Zephyr',
  'Puck',
  'Charon',
  'Kore',
  'Fenrir',
  'Leda',
  'Orus',
  'Aoede',
  'Callirrhoe',
  'Autonoe',
  'Enceladus',
  'Iapetus',
  'Umbriel',
  'Algieba',
  'Despina',
  'Erinome',
  'Algenib',
  'Rasalgethi',
  'Laomedeia',
  'Achernar',
  'Alnilam',
  'Schedar',
  'Gacrux',
  'Pulcherrima',
  'Achird',
  'Zubenelgenubi',
  'Vindemiatrix',
  'Sadachbia',
  'Sadaltager',
  'Sulafat',
] as const;

/** The voices that `voiceId` takes. */
export const VOICES: VoiceList = {
  voices: NAMES.map((name) => ({ id: name, name, language: null, cloned: false })),
  answer: { voices: [...NAMES] },
};
