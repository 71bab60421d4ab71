import type { MediaDatabase } from '../database/database.ts';
import { workKinds } from '../domain/work/work.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import type { RemoteFile } from '../providers/contract/provider.ts';
import { PermanentResultError, storeResultFile } from '../result-files/store-result-file.ts';
import type { MediaPartDependencies } from './conversation/media-parts.ts';

/** What storing the images of a reply needs. */
export interface ReplyImageDependencies extends MediaPartDependencies {
  readonly database: MediaDatabase;
}

/** The images of one reply, and who made them for whom. */
interface ReplyImages {
  readonly images: readonly RemoteFile[];
  readonly binding: Binding;
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** An image that could not be stored; `cause` says why. */
export class UnstoredImage extends Error {
  override readonly name = 'UnstoredImage';
}

/** Most images of one reply: as many as a message that is kept may have files. */
const MOST_IMAGES = 20;
const LIMITS = { maxOutputBytes: 64 << 20, resultTimeoutMs: 120_000, downloadTimeoutMs: 30_000 };

/**
 * Stores them as files of the owner, and answers their ids in order. They stay when the reply itself can not be written: they were paid
 * for. Throws UnstoredImage; then none stays.
 */
export async function storeReplyImages(
  { database, http, files }: ReplyImageDependencies,
  { images, binding, owner, signal }: ReplyImages,
): Promise<readonly string[]> {
  if (images.length === 0) return [];
  const kind = workKinds.IMAGE.result;
  try {
    if (images.length > MOST_IMAGES)
      throw new PermanentResultError(`there are more than ${MOST_IMAGES} images`);
    const ids: string[] = [];
    for (const [position, file] of images.entries()) {
      const result = { file, binding, owner, kind, position, signal };
      ids.push((await storeResultFile({ http, files, limits: LIMITS }, result)).id);
    }
    await database.transaction().execute((transaction) => files.claim(transaction, ids, owner));
    return ids;
  } catch (cause) {
    signal.throwIfAborted();
    throw new UnstoredImage('an image of a reply could not be stored', { cause });
  }
}
