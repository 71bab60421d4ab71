import {
  rangeProblems,
  notEmpty,
  choiceProblems,
  lengthProblems,
  blankProblems,
  type Limits,
} from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { USUAL_SECONDS, type AtGenerator, type ResultKind, type RulesOf } from './kind.ts';

/** Spoken texts, and voices learned from samples. */

/** A text to be spoken. */
export interface SpeechWork extends AtGenerator {
  readonly kind: 'SPEECH';
  readonly text: string;
  readonly voiceId: string;
  /** 1 is normal. */
  readonly speed?: number;
  /** Semitones, 0 is normal. */
  readonly pitch?: number;
  /** 1 is normal. */
  readonly volume?: number;
  readonly emotion?: string;
  /** mp3, wav, ... */
  readonly format?: string;
}

/** A voice to be learned from a sample. */
export interface VoiceCloneWork<File = InputRef> extends AtGenerator {
  readonly kind: 'VOICE_CLONE';
  readonly sample: File;
  /** The id the new voice shall have. */
  readonly voiceId?: string;
  readonly name?: string;
  /** What the demo says, when one is wanted. */
  readonly text?: string;
}

const AUDIO: ResultKind = { name: 'speech', types: ['audio/'], label: 'sound', needsFile: true };

/** What holds for them. */
export const speechKinds = {
  SPEECH: {
    description: 'Speech from a text.',
    mutation: 'synthesizeSpeech',
    category: 'speech',
    files: {},
    result: AUDIO,
    timeoutSeconds: USUAL_SECONDS,
    normalize: (work) => notEmpty(work, 'text', 'voiceId'),
    problems: speechProblems,
  },
  VOICE_CLONE: {
    description: 'A voice cloned from a recording.',
    mutation: 'cloneVoice',
    category: 'speech',
    files: { sample: { kind: 'audio' } },
    // There is a demo only when a text for it was sent.
    result: { ...AUDIO, name: 'demo', needsFile: false },
    timeoutSeconds: USUAL_SECONDS,
    problems: (work, limits) => lengthProblems('text', work.text ?? '', limits?.maxPrompt),
  },
} as const satisfies RulesOf<SpeechWork | VoiceCloneWork>;

function speechProblems(work: SpeechWork, limits: Limits) {
  return [
    ...blankProblems('text', work.text),
    ...lengthProblems('text', work.text, limits?.maxPrompt),
    ...blankProblems('voiceId', work.voiceId),
    ...choiceProblems('format', work.format, limits?.formats),
    ...(['speed', 'pitch', 'volume'] as const).flatMap((field) => rangeProblems(field, work[field], limits)),
  ];
}
