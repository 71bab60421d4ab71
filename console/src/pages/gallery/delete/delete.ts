import { client } from '../../../api/client.ts';
import { DeleteMediaDocument } from '../../../api/operations.ts';
import type { Piece } from '../../../library/use-pieces.ts';

/** Which files are deleted, and why another one is not. */
interface Deletion {
  readonly deleted: ReadonlySet<string>;
  readonly failed: unknown;
}

/** Deletes files one after the other, and stops at the first that is refused. */
export async function deletePieces(pieces: readonly Piece[]): Promise<Deletion> {
  const deleted = new Set<string>();
  for (const { media } of pieces) {
    try {
      await client.mutate({ mutation: DeleteMediaDocument, variables: { id: media.id } });
    } catch (failed) {
      return { deleted, failed };
    }
    deleted.add(media.id);
  }
  return { deleted, failed: null };
}
