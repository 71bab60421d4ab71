import { fileDuration } from '../measure/probe.ts';
import { writeFlac, writePcm, writeMp3 } from '../sound/encode.ts';
import { shiftFormants } from '../sound/reshape.ts';
import { measureDuration, joined, type Sound, writeWav } from '../sound/sound.ts';
import type { MatchedVoice, SpeechRequest, StudioSpeech } from '../types/media-types.ts';
import { speakPassage, type FliteSettings, type Phone } from './flite.ts';
import { nothingToSpeak, readScript } from './script.ts';
import { BASE_VOICES } from './voices.ts';

type OnProgress = (percent: number, stage: string) => void;

const PAUSE_SECONDS = 0.12;

/** Speaks a text with Flite and encodes it. Throws NOTHING_TO_SPEAK. */
export async function makeSpeech(request: SpeechRequest, onProgress: OnProgress): Promise<StudioSpeech> {
  const { sound, omitted } = await speakText(request, onProgress);
  const file =
    request.format === 'mp3'
      ? ({ bytes: await writeMp3(sound), contentType: 'audio/mpeg' } as const)
      : plainSpeech(sound, request.format);
  return {
    ...file,
    duration: request.format === 'mp3' ? await fileDuration(file.bytes) : measureDuration(sound),
    characters: Array.from(request.text).length,
    omitted,
  };
}

/** A sound in a format without loss. */
export function plainSpeech(
  sound: Sound,
  format: Exclude<SpeechRequest['format'], 'mp3'>,
): Pick<StudioSpeech, 'bytes' | 'contentType'> {
  if (format === 'flac') return { bytes: writeFlac(sound), contentType: 'audio/flac' };
  if (format === 'pcm') return { bytes: writePcm(sound), contentType: 'audio/pcm' };
  return { bytes: writeWav(sound), contentType: 'audio/wav' };
}

/** A spoken text. */
export interface Spoken {
  readonly sound: Sound;
  /** The phones with their times, without pauses. */
  readonly phones: readonly Phone[];
  /** Letters of the text that could not be spoken; null when there are none. */
  readonly omitted: string | null;
}

/** Speaks a text with Flite. Throws NOTHING_TO_SPEAK when there was no phone: silence is never a success. */
export async function speakText(
  request: Omit<SpeechRequest, 'format'>,
  onProgress: OnProgress,
): Promise<Spoken> {
  const { passages, omitted } = readScript(request.text);
  const { sound, phones } = await speak(passages, toVoiceSettings(request), onProgress);
  return { sound, phones, omitted: omitted === '' ? null : omitted };
}

/** Flite's settings, and the factor of the formant shift afterwards. */
interface VoiceSettings extends FliteSettings {
  readonly shift: number;
}

function toVoiceSettings(request: Omit<SpeechRequest, 'format'>): VoiceSettings {
  const factor = 2 ** ((request.pitch ?? 0) / 12);
  const tempo = 1 / (request.speed ?? 1);
  const { voice = 'slt' } = request;
  if (typeof voice !== 'string') return matchedSettings(voice, factor, tempo);
  const base = BASE_VOICES[voice];
  if (factor === 1 || !base.followsPitch) {
    return { voice, pitch: null, pitchSpread: null, tempo, shift: factor };
  }
  return { voice, pitch: base.pitch * factor, pitchSpread: null, tempo, shift: 1 };
}

/** Shifting formants also shifts the pitch, so Flite speaks at the inverse pitch. */
function matchedSettings(voice: MatchedVoice, factor: number, tempo: number): VoiceSettings {
  return {
    voice: voice.baseVoice,
    pitch: (voice.pitch * factor) / voice.formant,
    pitchSpread: (voice.pitchSpread * factor) / voice.formant,
    tempo: voice.tempo * tempo,
    shift: voice.formant,
  };
}

async function speak(
  passages: readonly string[],
  manner: VoiceSettings,
  onProgress: OnProgress,
): Promise<Omit<Spoken, 'omitted'>> {
  const pieces: Float32Array[] = [];
  const phones: Phone[] = [];
  let sampleRate = 16_000;
  let seconds = 0;
  for (const [index, passage] of passages.entries()) {
    const spoken = await speakPassage(passage, manner);
    ({ sampleRate } = spoken.sound);
    const passed = seconds;
    phones.push(
      ...spoken.phones.map(({ name, start, end }) => ({ name, start: start + passed, end: end + passed })),
    );
    const { samples } = shiftFormants(spoken.sound, manner.shift);
    pieces.push(samples, new Float32Array(Math.round(sampleRate * PAUSE_SECONDS)));
    seconds += measureDuration({ samples, sampleRate }) + PAUSE_SECONDS;
    onProgress(Math.round((90 * (index + 1)) / passages.length), 'speaking');
  }
  if (phones.length === 0) throw nothingToSpeak();
  return { sound: { samples: joined(pieces), sampleRate }, phones };
}
