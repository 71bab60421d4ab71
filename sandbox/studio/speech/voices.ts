import type { StudioVoice, StudioVoiceId } from '../types/media-types.ts';

/** A voice with its measurements. */
interface BaseVoice extends StudioVoice {
  /** Mean pitch in Hz. */
  readonly pitch: number;
  /** Whether it supports a pitch setting; otherwise the sound is shifted. */
  readonly followsPitch: boolean;
}

/** The voices of the engine. */
export const BASE_VOICES: Readonly<Record<StudioVoiceId, BaseVoice>> = {
  slt: {
    id: 'slt',
    name: 'SLT',
    language: 'en-US',
    gender: 'female',
    description: 'A woman, American English',
    pitch: 167,
    followsPitch: true,
  },
  rms: {
    id: 'rms',
    name: 'RMS',
    language: 'en-US',
    gender: 'male',
    description: 'A man, American English',
    pitch: 102,
    followsPitch: false,
  },
  awb: {
    id: 'awb',
    name: 'AWB',
    language: 'en-GB',
    gender: 'male',
    description: 'A man, Scottish English',
    pitch: 128,
    followsPitch: true,
  },
  kal16: {
    id: 'kal16',
    name: 'KAL 16 kHz',
    language: 'en-US',
    gender: 'male',
    description: 'A man, American English; audibly synthetic',
    pitch: 105,
    followsPitch: true,
  },
  kal: {
    id: 'kal',
    name: 'KAL 8 kHz',
    language: 'en-US',
    gender: 'male',
    description: 'The same over a telephone (8 kHz)',
    pitch: 105,
    followsPitch: true,
  },
};

/** The voices as callers see them. */
export const VOICES: readonly StudioVoice[] = Object.values(BASE_VOICES).map(
  ({ id, name, language, gender, description }) => ({ id, name, language, gender, description }),
);
