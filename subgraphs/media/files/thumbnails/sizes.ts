/** Which thumbnails there are, and where: pure rules. */

/** Every width in pixels; a request takes the next one that is at least as wide, or the last. */
const widths = [160, 320, 640, 1280] as const;

/** What a thumbnail shows: the image made smaller, the waveform of a recording, or the first image of a video. */
export type ThumbnailKind = 'image' | 'waveform' | 'video';

/** Images that can be decoded. SVG is left out: it can name other files. */
const IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/tiff',
]);
/** Recordings that can be decoded: PCM, MP3, Vorbis and Opus. */
const RECORDINGS: ReadonlySet<string> = new Set([
  'audio/wav',
  'audio/x-wav',
  'audio/wave',
  'audio/vnd.wave',
  'audio/mpeg',
  'audio/ogg',
  'audio/opus',
]);

/** What a thumbnail of files of this type shows; null when there is none. */
export function findThumbnailKind(contentType: string): ThumbnailKind | null {
  const [type = ''] = contentType.split(';');
  if (IMAGES.has(type)) return 'image';
  if (RECORDINGS.has(type)) return 'waveform';
  return type.startsWith('video/') ? 'video' : null;
}

/** Name of the thumbnail for a width, in place of the file's own in its address. */
export function thumbnailName(width: number): string {
  return `thumbnail-${widths.find((one) => one >= width) ?? widths.at(-1)}.webp`;
}

function readWidth(name: string): number | null {
  return widths.find((width) => thumbnailName(width) === name) ?? null;
}

/** Name of the sprite sheet of a video, in place of the file's own in its address. */
export const SHEET_NAME = 'spritesheet.webp';

/** The width of a thumbnail in pixels, or a sheet of images of a video. */
export type ThumbnailVariant = number | 'spritesheet';

/** What such a name in the address of a file asks for; null for any other. */
export function readVariant(name: string): ThumbnailVariant | null {
  return name === SHEET_NAME ? 'spritesheet' : readWidth(name);
}

/** Key of a thumbnail in the object store. */
export function thumbnailKey(id: string, variant: ThumbnailVariant): string {
  return `thumbnails/${id}/${variant === 'spritesheet' ? SHEET_NAME : thumbnailName(variant)}`;
}

/** The keys of all thumbnails that a file may have. */
export function thumbnailKeys(id: string): readonly string[] {
  return [...widths, 'spritesheet' as const].map((variant) => thumbnailKey(id, variant));
}
