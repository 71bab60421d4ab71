import type { StepInput } from './task.ts';

/** What the files of a result are, by the kind of work. */
export interface ResultKind {
  /** Beginning of their names, before the number. */
  readonly name: string;
  /** Beginnings of the measured types that they may have; anything else (an error page) is refused. */
  readonly types: readonly string[];
  /** In words, for the refusal. */
  readonly words: string;
  /** Whether a result without a file is none. */
  readonly needsFile: boolean;
}

const VIDEO: ResultKind = { name: 'video', types: ['video/'], words: 'a video', needsFile: true };

const RESULT_KINDS: Readonly<Record<StepInput['kind'], ResultKind>> = {
  IMAGE: { name: 'result', types: ['image/'], words: 'an image', needsFile: true },
  DESCRIPTION: { name: 'result', types: ['image/'], words: 'an image', needsFile: false },
  VIDEO,
  SPEECH: { name: 'speech', types: ['audio/'], words: 'sound', needsFile: true },
  // The demo is said only when a text for it was given.
  VOICE_CLONE: { name: 'demo', types: ['audio/'], words: 'sound', needsFile: false },
  COMFY_WORKFLOW: {
    name: 'output',
    types: ['image/', 'video/', 'audio/', 'model/'],
    words: 'media',
    needsFile: true,
  },
  FRAME_VIDEO: VIDEO,
  LIP_SYNC: VIDEO,
  HUMAN_VIDEO: VIDEO,
  AVATAR_VIDEO: VIDEO,
  CHARACTER: { name: 'portrait', types: ['image/'], words: 'an image', needsFile: false },
  CHARACTER_IMAGE: { name: 'result', types: ['image/'], words: 'an image', needsFile: true },
  PERSON_DETECTION: { name: 'mask', types: ['image/'], words: 'an image', needsFile: false },
  AVATAR_SOURCE: { name: 'source', types: ['video/'], words: 'a video', needsFile: false },
  AVATAR: { name: 'avatar', types: ['image/', 'video/'], words: 'media', needsFile: false },
  ANALYSIS: { name: 'result', types: ['text/'], words: 'a text', needsFile: false },
};

/** The files that work of this kind makes. */
export function resultKindOf({ kind }: Pick<StepInput, 'kind'>): ResultKind {
  return RESULT_KINDS[kind];
}
