import type { MediaPartsFragment } from '../../../api/documents/operations.ts';
import type { Batch } from '../../../work/batches.ts';

/** What can be done with what was made. */
export interface ResultActions {
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onVary: (batch: Batch, media: MediaPartsFragment) => void;
}
