import type { Texts } from '../../text/en.ts';
import { t } from '../../text/text.ts';

/** What the server notes of a result, by its form: such notes are sentences without a code. */
const NOTES: readonly (readonly [RegExp, keyof Texts])[] = [
  [/^aspect ratio (?<wanted>\S+) was not used: the video has the shape of its picture$/, 'note.ofPicture'],
  [/^aspect ratio (?<wanted>\S+) was not used: the size (?<size>\S+) decides$/, 'note.ofSize'],
  [
    /^aspect ratio (?<wanted>\S+) was met by (?<made>\S+), the nearest that this model makes$/,
    'note.nearest',
  ],
  [/^the video is missing: no generator for videos is configured here$/, 'note.noVideo'],
];

/** A note in the reader's language; one of a newer server stays as it is. */
export function noteText(note: string): string {
  for (const [form, key] of NOTES) {
    const found = form.exec(note);
    if (found !== null) return t(key, found.groups);
  }
  return note;
}
