import type { MediaPartsFragment, ProducerPartsFragment } from '../api/documents/operations.ts';

/** One file of the gallery, with the task that has made it; null for an upload. */
export interface Piece {
  readonly media: MediaPartsFragment;
  readonly task: Producer | null;
  /** Whether the caller has starred it; absent where that was not asked for. */
  readonly starred?: boolean;
}

/** What is shown of the task of a piece; visitors know what they asked for from this browser. */
type Producer = Pick<ProducerPartsFragment, 'id' | 'kind' | 'generator'> & Partial<ProducerPartsFragment>;

/** What the gallery shows. */
export interface Pieces {
  readonly pieces: readonly Piece[];
  /** How many there are, loaded or not; null when that is not known. */
  readonly total: number | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads the next page, once however often it is called; nothing when there is none. */
  readonly loadMore: () => void;
  /** Takes deleted files out. */
  readonly drop: (ids: ReadonlySet<string>) => void;
}
