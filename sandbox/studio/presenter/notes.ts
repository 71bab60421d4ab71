/** Notes for callers about what a talking video does not show. */

/** The note of a picture without a known face. */
export const NO_FACE =
  'The file of the picture declares no face region, and faces are not recognised here: the picture moves with the voice, no mouth is drawn.';

/** The note of a video. */
export const NOT_RECOGNISED =
  'Faces are not recognised here: the video moves with the voice, no mouth is drawn.';

const CODECS: Readonly<Record<string, string>> = { avc: 'H.264', hevc: 'H.265' };

/** The note of a video with copied frames. */
export function copyNote(codec: string): string {
  const kind = CODECS[codec] ?? codec.toUpperCase();
  return `The pictures of the video (${kind}) cannot be decoded here: they were copied under the new sound, repeated or cut to its length, and no mouth moves.`;
}

/** The note, and what of the text was not spoken; null when there is neither. */
export function inOneNote(note: string | null, omitted: string | null): string | null {
  if (omitted === null) return note;
  const unspoken = `Not spoken, as the voices have no sound for it: ${omitted}`;
  return note === null ? unspoken : `${note} ${unspoken}`;
}
