import type { Journal } from '../../../jobs/journal.ts';
import { pictureOfDataUrl } from './data-url.ts';

/** Address of a file at this sandbox. */
const OWN_PLACE =
  /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\/(?:fal-rest|replicate\/v1|higgsfield)\/files\/[\w-]+$/;

/**
 * The bytes of a picture that a caller names: inside a data: URL, or a file that was handed to this stand-in's own storage.
 * Null for everything else: a stand-in fetches nothing from anywhere.
 */
export async function givenPicture(journal: Journal, address: unknown): Promise<Buffer | null> {
  const inline = pictureOfDataUrl(address);
  if (inline !== null) return inline.bytes;
  if (typeof address !== 'string' || !OWN_PLACE.test(address)) return null;
  const id = address.split('/').at(-1) ?? '';
  return journal.readPicture(`${id}-input-0`);
}
