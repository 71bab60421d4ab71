/** Members of a form that are files, with what each takes. */
export const ACCEPTED: Readonly<Record<string, string>> = {
  images: 'image/*',
  mask: 'image/*',
  image: 'image/*',
  firstFrame: 'image/*',
  lastFrame: 'image/*',
  video: 'video/*',
  source: 'video/*',
  audio: 'audio/*',
  sample: 'audio/*',
  media: 'image/*,audio/*,video/*',
};

/** Whether a field takes files of this type. */
export function accepts(accept: string, contentType: string): boolean {
  return accept
    .split(',')
    .some((one) => (one.endsWith('/*') ? contentType.startsWith(one.slice(0, -1)) : one === contentType));
}

/** What a file is by its first bytes, whatever its name says: looked at before it is sent. Pure but for the reading. */

/** Bytes that are looked at. */
const HEAD = 16;

/** First bytes of types, from an offset; those that browsers send here. */
const SIGNS: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['image/avif', 4, 'ftypavif'],
  ['image/heic', 4, 'ftyphei'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['audio/mp4', 4, 'ftypM4A'],
  ['video/quicktime', 4, 'ftypqt'],
  ['video/mp4', 4, 'ftyp'],
  ['video/webm', 0, '\x1aE\xdf\xa3'],
  ['audio/wav', 8, 'WAVE'],
  ['video/x-msvideo', 8, 'AVI '],
  ['audio/ogg', 0, 'OggS'],
  ['audio/flac', 0, 'fLaC'],
  ['audio/mpeg', 0, 'ID3'],
  ['application/pdf', 0, '%PDF'],
  ['application/zip', 0, 'PK\x03\x04'],
];

/** The type that the first bytes tell; null for those of no known one, as of text or of some MP3 files. */
export function detectType(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head.subarray(0, HEAD));
  return SIGNS.find(([, offset, bytes]) => text.startsWith(bytes, offset))?.[0] ?? null;
}

/** The type that the first bytes of a file tell; null for none. */
export async function toldType(file: File): Promise<string | null> {
  return detectType(new Uint8Array(await file.slice(0, HEAD).arrayBuffer()));
}

/** Types whose files always begin with bytes that tell them. */
const TOLD = new Set(SIGNS.map(([type]) => type).filter((type) => type !== 'audio/mpeg'));

/** Whether a file that is named as this type, and whose bytes tell that one, is none of what it is named. */
export function isDisguised(named: string, told: string | null): boolean {
  if (told === null) return TOLD.has(named);
  const family = (type: string) => (type.startsWith('audio/') ? 'video' : (type.split('/')[0] ?? ''));
  return named !== '' && family(named) !== family(told);
}
