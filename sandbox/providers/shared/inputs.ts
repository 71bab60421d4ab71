import type { JsonObject } from '../../../platform/json.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';

const TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;

/**
 * Downloads an input, as upstreams do that take URLs. Null when there is none, when it is larger than `maxBytes`, or when
 * the URL (or a redirect) leads to another machine.
 */
export async function fetched(
  address: unknown,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer | null> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    let url = loopbackUrl(address);
    for (let redirects = 0; url !== null && redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await fetch(url, { redirect: 'manual', signal: within });
      const next = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && next !== null) {
        await response.body?.cancel();
        url = loopbackUrl(URL.parse(next, url.href)?.href);
        continue;
      }
      return await readWhole(response, maxBytes);
    }
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TypeError || within.aborted) return null; // unreachable, broken off, or too slow
    throw error;
  }
}

async function readWhole(response: Response, maxBytes: number): Promise<Buffer | null> {
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    return null;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) return null; // returning cancels the download
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The URL, if it is a loopback address: a stand-in must not call other machines. */
export function loopbackUrl(value: unknown): URL | null {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ? url : null;
}

/** The value if it is a text that is not blank, else null. */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const DATA_URL = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

/** The bytes of `data:image/...;base64,...`; null when the text is something else. */
export function parseImageDataUrl(value: unknown): { bytes: Buffer; contentType: string } | null {
  if (typeof value !== 'string') return null;
  const match = DATA_URL.exec(value);
  if (match === null) return null;
  const bytes = Buffer.from(match[2] ?? '', 'base64');
  return bytes.length === 0 ? null : { bytes, contentType: match[1] ?? '' };
}

/** URL of a file in this sandbox. */
const OWN_PLACE =
  /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\/(?:fal-rest|replicate\/v1|higgsfield)\/files\/[\w-]+$/;

/**
 * The bytes of an input image: a data: URL, or a file uploaded to this stand-in. Null for everything else, because a
 * stand-in makes no outbound request.
 */
export async function givenImage(journal: Journal, address: unknown): Promise<Buffer | null> {
  const inline = parseImageDataUrl(address);
  if (inline !== null) return inline.bytes;
  if (typeof address !== 'string' || !OWN_PLACE.test(address)) return null;
  const id = address.split('/').at(-1) ?? '';
  return journal.readImage(`${id}-input-0`);
}

/** For wires with different fields per model: a job stores them under `requested`, without the images. */
export function readRequested({ input }: Job): Readonly<Record<string, unknown>> {
  const { requested } = input;
  return typeof requested === 'object' && requested !== null && !Array.isArray(requested)
    ? (requested as JsonObject)
    : {};
}

type Requested = Readonly<Record<string, unknown>>;

/** The fields stored under `requested`: all but the images, which become files. */
export function withoutImages(requested: Requested, fields: readonly string[]): JsonObject {
  // It was parsed from JSON.
  return Object.fromEntries(
    Object.entries(requested).filter(([name]) => !fields.includes(name)),
  ) as JsonObject;
}

/** The images of these fields, in order; or the first field with a missing image. */
export async function readImages(
  journal: Journal,
  requested: Requested,
  fields: readonly string[],
): Promise<{ readonly images: readonly Buffer[] } | { readonly missing: string }> {
  const images: Buffer[] = [];
  for (const field of fields) {
    const value = requested[field] ?? [];
    const addresses: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const address of addresses) {
      const image = await givenImage(journal, address);
      if (image === null) return { missing: field };
      images.push(image);
    }
  }
  return { images };
}
