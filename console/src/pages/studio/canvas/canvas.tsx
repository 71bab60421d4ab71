import type { MediaPartsFragment } from '../../../api/operations.ts';
import { useCaller } from '../../../api/use-caller.ts';
import { Empty } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { type Batch, useBatches } from '../../../work/batches.ts';
import type { Values } from '../../../work/work.ts';
import { BatchView } from './batch.tsx';
import { Welcome } from './welcome.tsx';

interface CanvasProps {
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onVary: (batch: Batch, media: MediaPartsFragment) => void;
  readonly onInput: (media: MediaPartsFragment) => void;
  /** Fills the form with an idea; absent where there are none. */
  readonly onIdea: ((values: Values) => void) | undefined;
}

const SHOWN = 20;

/** Everything that the caller has made in this browser, newest first; the welcome waits until it is known who they are. */
export function Canvas({ onIdea, ...actions }: CanvasProps) {
  const batches = useBatches();
  const isEmpty = useCaller() !== undefined && batches.length === 0;
  return (
    <div className="canvas">
      {isEmpty &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
      {batches.slice(0, SHOWN).map((batch) => (
        <BatchView key={batch.id} batch={batch} {...actions} />
      ))}
    </div>
  );
}
