import { fileDuration } from '../measure/probe.ts';
import type { MatchedVoice, SpeechRequest, StudioSpeech } from '../media-types.ts';
import { writeMp3 } from '../sound/mp3.ts';
import { shiftFormants } from '../sound/reshape.ts';
import { joined } from '../sound/sound.ts';
import type { Sound } from '../sound/sound.ts';
import { writeWav } from '../sound/wav.ts';
import { speakPassage } from './flite.ts';
import type { FliteManner } from './flite.ts';
import { nothingToSpeak, readScript } from './script.ts';
import { BASE_VOICES } from './voices.ts';

type OnProgress = (percent: number, stage: string) => void;

const PAUSE_SECONDS = 0.12;

/** Speaks a text with Flite. Throws NOTHING_TO_SPEAK when not one phone came of it: silence is never a success. */
export async function makeSpeech(request: SpeechRequest, onProgress: OnProgress): Promise<StudioSpeech> {
  const { passages, omitted } = readScript(request.text);
  const sound = await speak(passages, mannerOf(request), onProgress);
  const bytes = request.format === 'mp3' ? await writeMp3(sound) : writeWav(sound);
  return {
    bytes,
    contentType: request.format === 'mp3' ? 'audio/mpeg' : 'audio/wav',
    duration: await fileDuration(bytes),
    characters: Array.from(request.text).length,
    omitted: omitted === '' ? null : omitted,
  };
}

/** How Flite speaks, and by how much its sound is moved up afterwards. */
interface Manner extends FliteManner {
  readonly shift: number;
}

function mannerOf(request: SpeechRequest): Manner {
  const factor = 2 ** ((request.pitch ?? 0) / 12);
  const tempo = 1 / (request.speed ?? 1);
  const { voice = 'slt' } = request;
  if (typeof voice !== 'string') return matchedManner(voice, factor, tempo);
  const base = BASE_VOICES[voice];
  if (factor === 1 || !base.followsPitch) {
    return { voice, pitch: null, pitchSpread: null, tempo, shift: factor };
  }
  return { voice, pitch: base.pitch * factor, pitchSpread: null, tempo, shift: 1 };
}

/** Moving the resonances moves the pitch along, so Flite has to speak that much lower or higher. */
function matchedManner(voice: MatchedVoice, factor: number, tempo: number): Manner {
  return {
    voice: voice.baseVoice,
    pitch: (voice.pitch * factor) / voice.formant,
    pitchSpread: (voice.pitchSpread * factor) / voice.formant,
    tempo: voice.tempo * tempo,
    shift: voice.formant,
  };
}

async function speak(passages: readonly string[], manner: Manner, onProgress: OnProgress): Promise<Sound> {
  const pieces: Float32Array[] = [];
  let phones = 0;
  let sampleRate = 16_000;
  for (const [index, passage] of passages.entries()) {
    const spoken = await speakPassage(passage, manner);
    ({ sampleRate } = spoken.sound);
    phones += spoken.phones.length;
    pieces.push(shiftFormants(spoken.sound, manner.shift).samples);
    pieces.push(new Float32Array(Math.round(sampleRate * PAUSE_SECONDS)));
    onProgress(Math.round((90 * (index + 1)) / passages.length), 'speaking');
  }
  if (phones === 0) throw nothingToSpeak();
  return { samples: joined(pieces), sampleRate };
}
