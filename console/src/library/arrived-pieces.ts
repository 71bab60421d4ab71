import type { MediaFilter } from '../api/documents/operations.ts';
import type { FedTask } from '../api/use-task-feed.ts';
import { type Dated, merged } from './arrivals.ts';
import type { Piece } from './pieces.ts';

/** Files of the gallery that tasks have made since its pages were read. Pure. */

/** A file that a task has just made. */
export interface ArrivedPiece extends Dated {
  readonly piece: Piece;
  readonly owner: string | null;
}

/** What a task has made; nothing before it has succeeded. */
export function piecesOf(task: FedTask): readonly ArrivedPiece[] {
  if (task.state !== 'SUCCEEDED') return [];
  return task.outputs.map((media) => ({
    id: media.id,
    createdAt: media.createdAt,
    piece: { media, task },
    owner: task.owner,
  }));
}

/** The pages with what has arrived and fits the filter, each in its place; and how many were added. */
export function withArrived(
  loaded: { readonly pieces: readonly Piece[]; readonly hasMore: boolean },
  arrived: Iterable<ArrivedPiece>,
  filter: MediaFilter,
): { readonly pieces: readonly Piece[]; readonly added: number } {
  const fitting = [...arrived].filter((one) => matches(one, filter));
  if (fitting.length === 0) return { pieces: loaded.pieces, added: 0 };
  const listed = loaded.pieces.map((piece) => ({
    id: piece.media.id,
    createdAt: piece.media.createdAt,
    piece,
    owner: null,
  }));
  const { items, added } = merged<ArrivedPiece>(listed, fitting, loaded.hasMore);
  return added === 0 ? { pieces: loaded.pieces, added } : { pieces: items.map(({ piece }) => piece), added };
}

function matches({ piece: { media, task }, owner, createdAt }: ArrivedPiece, filter: MediaFilter): boolean {
  const { kinds, text, generator, model, createdAfter, createdBefore } = filter;
  // What has just been made is on no board yet, and has no star.
  if (filter.board || filter.starred) return false;
  if (kinds && !kinds.some((kind) => media.contentType.startsWith(`${kind.toLowerCase()}/`))) return false;
  if (filter.owner && filter.owner !== 'anon' && owner !== filter.owner) return false;
  if (generator && task?.generator !== generator) return false;
  if (model && task?.model !== model) return false;
  if (createdAfter && createdAt <= createdAfter) return false;
  if (createdBefore && createdAt >= createdBefore) return false;
  return !text || (task?.input?.prompt ?? '').toLowerCase().includes(text.toLowerCase());
}
