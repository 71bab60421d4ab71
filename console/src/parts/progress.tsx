import type { TaskPartsFragment } from '../api/operations.ts';
import { t, textOr } from '../text/text.ts';

/** How far a running task is. */
export function ProgressBar({ task }: { readonly task: Pick<TaskPartsFragment, 'progress' | 'stage'> }) {
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={t('task.progress')}
      aria-valuenow={task.progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={`${task.progress} %, ${task.stage}`}
    >
      <i style={{ width: `${task.progress}%` }} />
    </div>
  );
}

/** What a task says that waits for its provider. */
const WAITING = /^(provider (?:away|busy)), next try in (\d+) s$/;

/** The stage in the reader's language where it is a known one, and the place in the line. */
export function stageText({
  stage,
  queuePosition,
}: Pick<TaskPartsFragment, 'stage' | 'queuePosition'>): string {
  if (queuePosition !== null) return t('task.inLine', { place: queuePosition });
  const [, why = '', seconds = ''] = WAITING.exec(stage) ?? [];
  return textOr(`stage.${why === '' ? stage : why}`, stage).replace('{seconds}', seconds);
}
