import { decodeSound } from '../sound/decode.ts';
import { resample } from '../sound/reshape.ts';
import { measureDuration } from '../sound/sound.ts';
import type { Sound } from '../sound/sound.ts';
import type { Phone } from '../speech/flite.ts';
import { speakText } from '../speech/speech.ts';
import { StudioError } from '../types/media-types.ts';
import type { PresenterRequest } from '../types/media-types.ts';

/** The voice of a talking video. */
export interface Voice {
  /** At most 60 seconds, at a rate that AAC has. */
  readonly sound: Sound;
  /** The phones with their times; null when only the sound is known. */
  readonly phones: readonly Phone[] | null;
  /** Letters of the text that could not be spoken; null when there are none. */
  readonly omitted: string | null;
}

type OnProgress = (percent: number, stage: string) => void;

const MOST_SECONDS = 60;
/** Tolerance for the padding of encoders. */
const PADDING_SECONDS = 0.2;
/** Sample rates of AAC. */
const AAC_RATES: ReadonlySet<number> = new Set([
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
]);
const [LOW_RATE, HIGH_RATE] = [16_000, 48_000] as const;

/** The input sound, or the spoken text. Throws OUT_OF_RANGE when it is too long, UNREADABLE_MEDIA and NOTHING_TO_SPEAK. */
export async function openVoice(request: PresenterRequest, onProgress: OnProgress): Promise<Voice> {
  const { audio, text = '', voice } = request;
  const said: Voice =
    audio === undefined
      ? await speakText({ text, ...(voice === undefined ? {} : { voice }) }, onProgress)
      : { sound: await decodeSound(audio, MOST_SECONDS + 1), phones: null, omitted: null };
  if (measureDuration(said.sound) > MOST_SECONDS + PADDING_SECONDS) {
    const what = audio === undefined ? 'text: it takes' : 'audio: it lasts';
    throw new StudioError('OUT_OF_RANGE', `${what} longer than ${MOST_SECONDS} seconds`);
  }
  return { ...said, sound: cut(forAac(said.sound)) };
}

function forAac(sound: Sound): Sound {
  if (AAC_RATES.has(sound.sampleRate)) return sound;
  return resample(sound, sound.sampleRate < LOW_RATE ? LOW_RATE : HIGH_RATE);
}

function cut({ samples, sampleRate }: Sound): Sound {
  return { samples: samples.subarray(0, MOST_SECONDS * sampleRate), sampleRate };
}
