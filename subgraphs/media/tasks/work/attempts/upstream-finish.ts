import type { AttemptRow } from '../../../database/database.ts';
import type { AttemptState } from '../../../domain/attempt.ts';
import type { Outcome } from '../../../providers/contract/provider.ts';

/** What an upstream has finished, and the attempt it belongs to. */
export interface UpstreamFinish {
  readonly attempt: AttemptRow;
  readonly from: AttemptState;
  /** Only when the attempt is still under this claim. */
  readonly claim?: string;
  readonly outcome: Outcome;
}
