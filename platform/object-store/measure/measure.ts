import { measureImage } from './image.ts';
import { type Measurable, type Measures, readRange } from './measurable.ts';
import { measureRecording } from './recording.ts';
import { textTypeOf } from './text.ts';

const HEAD_BYTES = 64 * 1024;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Measures a file by its bytes, reading only as much as needed. */
export async function measureMedia(file: Measurable): Promise<Measures> {
  const nothing = { width: null, height: null, duration: null };
  if (file.bytes === 0) return { contentType: UNKNOWN_TYPE, ...nothing };
  if (isSamples(file)) return { contentType: SAMPLES, ...nothing };
  const head = await readRange(file, { start: 0, end: Math.min(file.bytes, HEAD_BYTES) - 1 });
  const contentType = await typeOfHead(head);
  if (contentType?.startsWith('image/')) return measureImage(file, contentType);
  if (contentType !== undefined && isRecording(contentType)) return measureRecording(file, contentType);
  const text = textTypeOf({ ...file, head, contentType });
  return { contentType: text ?? contentType ?? UNKNOWN_TYPE, ...nothing };
}

const SAMPLES = 'audio/pcm';

/** Samples have no header: they may begin as any file does, so only their sender knows what they are. */
function isSamples({ declaredType }: Measurable): boolean {
  return declaredType?.split(';')[0]?.trim().toLowerCase() === SAMPLES;
}

/** Number of first bytes that identify a type in practice. */
export const TYPE_BYTES = 4_100;

/** The type of a file by its first bytes; undefined when they do not identify one, as with plain text. */
export async function typeOfHead(head: Uint8Array): Promise<string | undefined> {
  // Loaded only when needed.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head);
  return found === undefined ? undefined : commonName(found.mime);
}

const COMMON_NAMES: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'video/x-m4v': 'video/mp4',
  'application/ogg': 'audio/ogg',
  'video/matroska': 'video/x-matroska',
};

/** The common name of a type. */
function commonName(type: string): string {
  const plain = type.split(';')[0] ?? type;
  return COMMON_NAMES[plain] ?? plain;
}

function isRecording(contentType: string): boolean {
  return contentType.startsWith('video/') || contentType.startsWith('audio/');
}
