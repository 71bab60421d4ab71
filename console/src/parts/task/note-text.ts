import type { TaskPartsFragment } from '../../api/operations.ts';
import type { Texts } from '../../text/en.ts';
import { textOr } from '../../text/text.ts';

/** A note on a result in the reader's language; the server's own words where its code has no text here. */
export function noteText({
  code,
  text,
  aspectRatio,
  size,
  usedAspectRatio,
}: TaskPartsFragment['noteInfos'][number]): string {
  if (code === 'OTHER') return text;
  const key = `note.${code}` as const satisfies keyof Texts;
  return textOr(key, text, { wanted: aspectRatio ?? '', size: size ?? '', made: usedAspectRatio ?? '' });
}
