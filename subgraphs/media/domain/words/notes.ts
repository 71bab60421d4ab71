import { createReader, type Filled, type Reading } from './forms.ts';

/**
 * What is missing in a result or met only approximately, in the words that are stored and shown, and the codes that
 * clients know them by. Stored words are read back for years: a form may be added, none may change. Pure.
 */
export const noteForms = {
  SHAPE_OF_PICTURE: ['aspect ratio {aspectRatio} was not used: the video has the shape of its picture'],
  SHAPE_OF_SIZE: ['aspect ratio {aspectRatio} was not used: the size {size} decides'],
  NEAREST_SHAPE: [
    'aspect ratio {aspectRatio} was met by {usedAspectRatio}, the nearest that this model makes',
  ],
  VIDEO_MISSING: ['the video is missing: no generator for videos is configured here'],
} as const;

/** The code of a note. */
export type NoteCode = keyof typeof noteForms | 'OTHER';

/** A note as it is written. */
export type Note = Filled<(typeof noteForms)[keyof typeof noteForms][number]>;

/** A note as a code with its values. */
export interface NoteInfo {
  readonly code: NoteCode;
  readonly text: string;
  readonly aspectRatio: string | null;
  readonly size: string | null;
  readonly usedAspectRatio: string | null;
}

const UNKNOWN: Reading<'OTHER'> = { code: 'OTHER', values: {} };
const readForms = createReader(noteForms);

/** A stored note as a code; OTHER for words that this version does not write. */
export function readNote(text: string): NoteInfo {
  const { code, values } = readForms(text) ?? UNKNOWN;
  const { aspectRatio = null, size = null, usedAspectRatio = null } = values;
  return { code, text, aspectRatio, size, usedAspectRatio };
}
