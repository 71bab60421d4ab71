import type { Journal } from '../../../jobs/journal.ts';
import { parseImageDataUrl } from './data-url.ts';

/** URL of a file in this sandbox. */
const OWN_PLACE =
  /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\/(?:fal-rest|replicate\/v1|higgsfield)\/files\/[\w-]+$/;

/**
 * The bytes of an input picture: a data: URL, or a file uploaded to this stand-in. Null for everything else, because a
 * stand-in makes no outbound request.
 */
export async function givenImage(journal: Journal, address: unknown): Promise<Buffer | null> {
  const inline = parseImageDataUrl(address);
  if (inline !== null) return inline.bytes;
  if (typeof address !== 'string' || !OWN_PLACE.test(address)) return null;
  const id = address.split('/').at(-1) ?? '';
  return journal.readImage(`${id}-input-0`);
}
