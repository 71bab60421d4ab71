/** Whether a file is what its sender says it is, by its first bytes. Pure. */

/** Types whose files always begin with bytes that tell them; of others nothing is concluded where none are known. */
const TOLD_BY_HEAD: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'video/mp4',
  'video/webm',
  'video/quicktime',
  'audio/wav',
  'audio/flac',
  'audio/ogg',
]);

/**
 * What is wrong with a file that is declared as `declared` and begins as `seen` does (undefined: as no known type); null
 * when nothing is. Containers hold sound and pictures alike, so that these two are not told apart.
 */
export function declaredTypeProblem(declared: string | null, seen: string | undefined): string | null {
  const type = declared?.split(';')[0]?.trim().toLowerCase() ?? '';
  const family = familyOf(type);
  if (family === null) return null;
  if (seen === undefined) return TOLD_BY_HEAD.has(type) ? `is declared as ${type}, and is none` : null;
  return familyOf(seen) === family ? null : `is declared as ${type}, and is ${seen}`;
}

function familyOf(type: string): 'picture' | 'recording' | null {
  if (type.startsWith('image/')) return 'picture';
  return type.startsWith('video/') || type.startsWith('audio/') ? 'recording' : null;
}
