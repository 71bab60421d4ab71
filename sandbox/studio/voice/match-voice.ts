import { decodeSound } from '../sound/decode.ts';
import { StudioError } from '../types/media-types.ts';
import type { MatchedVoice, StudioVoiceId, VoiceMeasures } from '../types/media-types.ts';
import { measureVoice } from './measure-voice.ts';

const MEASURED_SECONDS = 30;
/** Minimum share of voiced sound; below it is music, noise or silence. */
const LEAST_VOICED = 0.08;

/** The base voices that support a pitch, with their second and third formant in Hz and syllables per second. */
const BASES = {
  slt: { formants: [1_990, 2_990], syllableRate: 4.2 },
  awb: { formants: [1_770, 2_590], syllableRate: 4.6 },
} as const satisfies Partial<Record<StudioVoiceId, object>>;
/** Pitch from which the female voice is chosen. */
const BETWEEN_HZ = 150;

/**
 * Adapts the nearest base voice to the voice of a sample, by pitch, formants and tempo; no voice cloning. Throws
 * UNREADABLE_MEDIA, and NO_VOICE when the sample has no voice.
 */
export async function matchVoice(sample: Uint8Array): Promise<MatchedVoice> {
  const measured = measureVoice(await decodeSound(sample, MEASURED_SECONDS));
  if (measured.voicedShare < LEAST_VOICED || measured.pitch === 0) {
    throw new StudioError('NO_VOICE', 'no clear voice was found in the sample');
  }
  const baseVoice = measured.pitch > BETWEEN_HZ ? 'slt' : 'awb';
  const base = BASES[baseVoice];
  return {
    baseVoice,
    pitch: rounded(measured.pitch),
    pitchSpread: rounded(measured.pitch * Math.min(0.35, measured.pitchSpread)),
    formant: rounded(within(resonance(measured, base.formants), 0.85, 1.18)),
    tempo: rounded(within(base.syllableRate / (measured.syllableRate || base.syllableRate), 0.7, 1.5)),
    measured: {
      ...measured,
      pitch: rounded(measured.pitch),
      pitchSpread: rounded(measured.pitchSpread),
      syllableRate: rounded(measured.syllableRate),
      voicedShare: rounded(measured.voicedShare),
    },
  };
}

/** The factor of the second and third formants; 1 when they were not found. */
function resonance({ formants }: VoiceMeasures, base: readonly [number, number]): number {
  const [, second = 0, third = 0] = formants;
  if (second === 0 || third === 0) return 1;
  return (second / base[0] + third / base[1]) / 2;
}

function within(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
