import { createKiln, KilnError, type Media } from '@kiln/client';

import { serverUrl } from './addresses.ts';
import { Refusal } from './refusal.ts';
import { freshAuthorization } from './session.ts';

/** A stored file that can be an input: an upload, or an output of earlier work. */
export type StoredFile = Pick<Media, 'id' | 'url' | 'contentType' | 'bytes'>;

/** Kiln's own client, for what Apollo Client has no part in. */
const kiln = createKiln({
  url: serverUrl,
  key: async () => (await freshAuthorization())?.replace(/^Bearer /, ''),
});

/** Options of an upload. */
interface UploadOptions {
  /** Hears of the share that is sent, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Whether the gallery shows it; true unless said otherwise. */
  readonly listed?: boolean;
  /** Ends the upload; it then fails with the reason. */
  readonly signal?: AbortSignal;
}

/**
 * Uploads a file. Fails with the server's message, which is empty where an answer has none; as fetch does, with a
 * TypeError where there is no answer.
 */
export async function uploadFile(file: File, options: UploadOptions): Promise<StoredFile> {
  try {
    return await kiln.upload(file, options);
  } catch (error) {
    if (!(error instanceof KilnError)) throw error;
    if (error.code === 'UNREACHABLE') throw new TypeError('unreachable', { cause: error });
    throw new Refusal(error.code === 'BAD_ANSWER' ? '' : error.message, error.code);
  }
}
