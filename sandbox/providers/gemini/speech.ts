import type { StudioVoiceId } from '../../studio/types/media-types.ts';
import type { GenerateRequest } from './request.ts';

/** The wire's voices, each spoken by the nearest of the studio's. */
const VOICES: Readonly<Record<string, StudioVoiceId>> = {
  Zephyr: 'slt',
  Puck: 'awb',
  Charon: 'rms',
  Kore: 'slt',
  Fenrir: 'kal16',
  Leda: 'slt',
  Orus: 'rms',
  Aoede: 'slt',
  Callirrhoe: 'slt',
  Autonoe: 'slt',
  Enceladus: 'awb',
  Iapetus: 'kal16',
  Umbriel: 'rms',
  Algieba: 'awb',
  Despina: 'slt',
  Erinome: 'slt',
  Algenib: 'kal16',
  Rasalgethi: 'rms',
  Laomedeia: 'slt',
  Achernar: 'slt',
  Alnilam: 'awb',
  Schedar: 'kal16',
  Gacrux: 'slt',
  Pulcherrima: 'slt',
  Achird: 'rms',
  Zubenelgenubi: 'awb',
  Vindemiatrix: 'slt',
  Sadachbia: 'kal16',
  Sadaltager: 'rms',
  Sulafat: 'slt',
};

/** The studio's voice for a request; null when it asks for no speech. */
export function findVoice(request: GenerateRequest): StudioVoiceId | null {
  return isSpeech(request) ? (VOICES[readVoiceName(request)] ?? null) : null;
}

/** What is wrong with a request for speech, or for something else of a model that speaks; null: nothing. */
export function speechProblem(model: string, request: GenerateRequest): string | null {
  if (isSpeech(request) !== model.includes('tts')) {
    return 'The requested combination of response modalities is not supported.';
  }
  if (!isSpeech(request) || Object.hasOwn(VOICES, readVoiceName(request))) return null;
  const known = Object.keys(VOICES).join(', ');
  return `Voice name ${readVoiceName(request)} is not supported. Allowed voice names are: ${known}`;
}

function isSpeech({ generationConfig }: GenerateRequest): boolean {
  return generationConfig?.responseModalities?.includes('AUDIO') ?? false;
}

function readVoiceName({ generationConfig }: GenerateRequest): string {
  return generationConfig?.speechConfig?.voiceConfig?.prebuiltVoiceConfig.voiceName ?? 'Kore';
}

/** The samples of a WAV file, bare, as Google sends them. */
export function wavSamples(wav: Buffer): { readonly bytes: Buffer; readonly rate: number } {
  const at = wav.indexOf('data', 12, 'latin1');
  return { bytes: wav.subarray(at + 8), rate: wav.readUInt32LE(24) };
}
