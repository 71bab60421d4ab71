/** Which thumbnails there are, and where: pure rules. */

/** Every width in pixels; a request takes the next one that is at least as wide, or the last. */
const widths = [160, 320, 640, 1280] as const;

/** Types that thumbnails are made of. SVG is left out: it can name other files. */
const TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/tiff',
]);

/** Whether a thumbnail can be made of files of this type. */
export function hasThumbnail(contentType: string): boolean {
  return TYPES.has(contentType);
}

/** Name of the thumbnail for a width, in place of the file's own in its address. */
export function thumbnailName(width: number): string {
  return `thumbnail-${widths.find((one) => one >= width) ?? widths.at(-1)}.webp`;
}

/** The width of such a name; null for any other. */
export function widthOfName(name: string): number | null {
  return widths.find((width) => thumbnailName(width) === name) ?? null;
}

/** Key of a thumbnail in the object store. */
export function thumbnailKey(id: string, width: number): string {
  return `thumbnails/${id}/${thumbnailName(width)}`;
}

/** The keys of all thumbnails that a file may have. */
export function thumbnailKeys(id: string): readonly string[] {
  return widths.map((width) => thumbnailKey(id, width));
}
