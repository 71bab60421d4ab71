import type { MediaPartsFragment } from '../../../api/operations.ts';
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

/** Everything that this browser has made, newest first. */
export function Canvas({ onIdea, ...actions }: CanvasProps) {
  const batches = useBatches();
  return (
    <div className="canvas">
      {batches.length === 0 &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
      {batches.slice(0, SHOWN).map((batch) => (
        <BatchView key={batch.id} batch={batch} {...actions} />
      ))}
    </div>
  );
}
