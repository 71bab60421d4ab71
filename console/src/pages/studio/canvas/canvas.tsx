import { useCaller } from '../../../api/use-caller.ts';
import { later } from '../../../parts/page/later.tsx';
import { Empty } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { useBatches } from '../../../work/batches.ts';
import type { Values } from '../../../work/work.ts';
import type { ResultActions } from './result-actions.ts';
import { Welcome } from './welcome.tsx';

// Nobody needs it before the first result.
const Results = later(async () => (await import('./results.tsx')).Results);

interface CanvasProps extends ResultActions {
  /** Fills the form with an idea; absent where there are none. */
  readonly onIdea: ((values: Values) => void) | undefined;
}

/** What was made in this browser: one result large, the others as a strip; the welcome waits until it is known who looks. */
export function Canvas({ onIdea, ...actions }: CanvasProps) {
  const batches = useBatches();
  const isEmpty = useCaller() !== undefined && batches.length === 0;
  if (batches.length > 0) return <Results batches={batches} {...actions} />;
  return (
    <div className="p-6 flex flex-col gap-8 min-w-0 2xl:p-8 max-sm:p-4 max-sm:gap-6">
      {isEmpty &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
    </div>
  );
}
