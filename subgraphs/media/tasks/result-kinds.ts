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

const RESULT_KINDS: Readonly<Record<StepInput['kind'], ResultKind>> = {
  IMAGE: { name: 'result', types: ['image/'], words: 'an image', needsFile: true },
  DESCRIPTION: { name: 'result', types: ['image/'], words: 'an image', needsFile: false },
  VIDEO: { name: 'video', types: ['video/'], words: 'a video', needsFile: true },
  SPEECH: { name: 'speech', types: ['audio/'], words: 'sound', needsFile: true },
  // The demo is said only when a text for it was given.
  VOICE_CLONE: { name: 'demo', types: ['audio/'], words: 'sound', needsFile: false },
  COMFY_WORKFLOW: {
    name: 'output',
    types: ['image/', 'video/', 'audio/', 'model/'],
    words: 'media',
    needsFile: true,
  },
  ANALYSIS: { name: 'result', types: ['text/'], words: 'a text', needsFile: false },
};

/** The files that work of this kind makes. */
export function resultKindOf({ kind }: Pick<StepInput, 'kind'>): ResultKind {
  return RESULT_KINDS[kind];
}
