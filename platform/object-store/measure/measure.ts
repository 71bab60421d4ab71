import { measureImage } from './image.ts';
import { type Measurable, type Measures, readRange } from './measurable.ts';
import { measureRecording } from './recording.ts';

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
  const text = findTextType({ ...file, head, contentType });
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

const BY_ENDING: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  json: 'application/json',
  csv: 'text/csv',
  md: 'text/markdown',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
  svg: 'image/svg+xml',
  html: 'text/html',
  xml: 'application/xml',
};
const KNOWN = new Set(Object.values(BY_ENDING));

/** The type of a text: the declared one when it is known and the bytes are text, else by the file's extension. */
function findTextType({
  head,
  bytes,
  declaredType,
  name,
  contentType,
}: {
  /** The first bytes. */
  readonly head: Buffer;
  readonly bytes: number;
  readonly declaredType: string | null;
  readonly name: string;
  /** The type of the first bytes, if known. */
  readonly contentType: string | undefined;
}): string | null {
  // XML is the only text format with a signature; which kind of XML it is, only its sender knows.
  if (contentType !== undefined && contentType !== 'application/xml') return null;
  if (!isText(head, bytes)) return null;
  const type = declaredAs(declaredType) ?? BY_ENDING[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
  if (type === 'application/json' && !looksLikeJson(head, bytes)) return 'text/plain';
  return type;
}

function declaredAs(declaredType: string | null): string | null {
  const type = declaredType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return KNOWN.has(type) ? type : null;
}

/** Whether it is UTF-8 without control characters; a character may be cut at the end of the first bytes. */
function isText(head: Buffer, bytes: number): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: bytes > head.length });
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text);
  } catch {
    return false;
  }
}

function looksLikeJson(head: Buffer, bytes: number): boolean {
  const text = head.toString();
  if (bytes > head.length) return /^\s*[[{"]/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
