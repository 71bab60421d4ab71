import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { MediaDatabase } from '../database/database.ts';
import { findRules } from '../domain/work/work.ts';
import type { FileService } from '../files/files.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import type { RemoteFile } from '../providers/contract/provider.ts';
import { storeResultFile } from '../result-files/store-result-file.ts';

/** What storing the images of a reply needs. */
export interface ReplyImageDependencies {
  readonly database: MediaDatabase;
  readonly http: HttpClient;
  readonly files: FileService;
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
  const kind = findRules({ kind: 'IMAGE' }).result;
  try {
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
